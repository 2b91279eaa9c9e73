package opencode

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"agentctl/discover/native/jsonl"
)

// memoryRows is a [rowReader] of messages, oldest first.
type memoryRows []memoryRow

// memoryRow is a [storedRow] with its parts.
type memoryRow struct {
	id    string
	json  []byte
	parts memoryRows
}

// newMemoryMessage makes a message. The parts of msg_1 are prt_1_0, prt_1_1 and so on.
func newMemoryMessage(id, json string, parts ...string) memoryRow {
	r := memoryRow{id: id, json: []byte(json)}
	for i, p := range parts {
		r.parts = append(r.parts, memoryRow{id: fmt.Sprintf("prt_%s_%d", strings.TrimPrefix(id, "msg_"), i), json: []byte(p)})
	}
	return r
}

// row returns the row as the reader sees it. A part whose end is missing has no JSON.
func (r memoryRow) row() storedRow {
	return storedRow{ID: r.id, Head: r.json, Read: func() ([]byte, error) {
		if strings.HasPrefix(r.id, "prt_") && !jsonl.Object(r.json).Complete() {
			return nil, nil
		}
		return r.json, nil
	}}
}

func (s memoryRows) oldest() iter.Seq[storedRow] {
	return func(yield func(storedRow) bool) {
		for _, r := range s {
			if !yield(r.row()) {
				return
			}
		}
	}
}

func (s memoryRows) before(id string) iter.Seq[storedRow] {
	return func(yield func(storedRow) bool) {
		for _, r := range slices.Backward(s) {
			if (id == "" || r.id < id) && !yield(r.row()) {
				return
			}
		}
	}
}

func (s memoryRows) partsOf(message string) memoryRows {
	for _, r := range s {
		if r.id == message {
			return r.parts
		}
	}
	return nil
}

func (s memoryRows) Oldest() iter.Seq[storedRow]              { return s.oldest() }
func (s memoryRows) Newest(before cursor) iter.Seq[storedRow] { return s.before(before.Message) }
func (s memoryRows) Parts(message string) iter.Seq[storedRow] { return s.partsOf(message).oldest() }
func (s memoryRows) PartsBefore(c cursor) iter.Seq[storedRow] {
	return s.partsOf(c.Message).before(c.Part)
}

func (s memoryRows) Failures() int { return 0 }
