package native

import (
	"context"
	"slices"
	"strings"

	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// Kinds collects the kinds of records that a reader does not know.
type Kinds struct {
	// Known are the known kinds, each between two spaces.
	Known string
	// Unknown are the others, in the order in which they came, at most [maxUnknown].
	Unknown []string
}

// maxUnknown is how many unknown kinds are kept: a damaged or hostile file may have any number.
const maxUnknown = 8

// kindLimit is the most characters of a kind that are kept. Real ones have at most 40.
const kindLimit = 64

// newestRecords is how many bytes from the end of a file are examined.
const newestRecords = 1 << 20

// Add adds a kind. A record without one is no record, and is not counted.
func (k *Kinds) Add(kind string) {
	if kind == "" || len(k.Unknown) == maxUnknown || strings.Contains(k.Known, " "+kind+" ") || slices.Contains(k.Unknown, kind) {
		return
	}
	k.Unknown = append(k.Unknown, kind)
}

// AddLines adds the kinds of the newest lines of a file of JSON objects. kindOf returns the kind of an object. A file that has
// vanished has none.
func (k *Kinds) AddLines(ctx context.Context, path string, kindOf func(jsonl.Object) string) error {
	f, err := fsread.Open(ctx, path)
	if fsread.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Backward(newestRecords, func(l fsread.Line) bool {
		if !l.Cut {
			k.Add(kindOf(jsonl.Object(l.Bytes)))
		}
		return true
	})
	return err
}

// Kind returns the kind in a member of a record, "" if there is none.
func Kind(v jsonl.Value) string { return v.Text(kindLimit) }
