package opencode

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover/opencode/transcript"
)

// legacyMessages implements [transcript.Rows] for a session in JSON files. Their names are IDs, which sort by time.
type legacyMessages struct {
	ctx        context.Context // of the call that it lives for
	dir        string          // of the messages
	partFolder string          // has a folder for each message
	failures   int             // reads that have failed; a file may be read more than once
	warned     map[string]bool // the paths that warnings are about
	errs       []error         // the warnings
}

// newLegacyMessages derives the folders of a session's messages and parts from the path of the session's file.
func newLegacyMessages(ctx context.Context, path, id string) *legacyMessages {
	root := filepath.Dir(filepath.Dir(filepath.Dir(path)))
	return &legacyMessages{
		ctx: ctx, dir: filepath.Join(root, "message", id), partFolder: filepath.Join(root, "part"), warned: map[string]bool{},
	}
}

// Oldest implements [transcript.Rows].
func (l *legacyMessages) Oldest() iter.Seq[transcript.Row] {
	return l.rows(l.dir, messagePrefix, oldestFirst)
}

// Newest implements [transcript.Rows].
func (l *legacyMessages) Newest(before transcript.Cursor) iter.Seq[transcript.Row] {
	return l.rows(l.dir, messagePrefix, newestBefore(before.Message))
}

// Parts implements [transcript.Rows].
func (l *legacyMessages) Parts(message string) iter.Seq[transcript.Row] {
	return l.rows(l.partDir(message), partPrefix, oldestFirst)
}

// PartsBefore implements [transcript.Rows].
func (l *legacyMessages) PartsBefore(c transcript.Cursor) iter.Seq[transcript.Row] {
	return l.rows(l.partDir(c.Message), partPrefix, newestBefore(c.Part))
}

// Failures implements [transcript.Rows].
func (l *legacyMessages) Failures() int { return l.failures }

// partDir returns the folder of a message's parts.
func (l *legacyMessages) partDir(message string) string { return filepath.Join(l.partFolder, message) }

// oldestFirst keeps the order of sorted names.
func oldestFirst(sorted []string) []string { return sorted }

// newestBefore returns an order: from the last name before the given one down to the first. For "", it begins with the last name.
func newestBefore(name string) func(sorted []string) []string {
	return func(sorted []string) []string {
		if i, _ := slices.BinarySearch(sorted, name); name != "" {
			sorted = sorted[:i]
		}
		slices.Reverse(sorted)
		return sorted
	}
}

// rows yields the files of a folder in an order. A folder that cannot be listed is one row that cannot be read.
func (l *legacyMessages) rows(dir, prefix string, order func(sorted []string) []string) iter.Seq[transcript.Row] {
	return func(yield func(transcript.Row) bool) {
		names, err := listJSONNames(l.ctx, dir, prefix)
		if err != nil && !yield(&legacyRow{path: dir, loaded: true, err: l.warn(dir, err)}) {
			return
		}
		for _, name := range order(names) {
			if l.ctx.Err() != nil || !yield(l.row(dir, name)) {
				return
			}
		}
	}
}

// row returns the row of a file.
func (l *legacyMessages) row(dir, name string) *legacyRow {
	return &legacyRow{messages: l, path: filepath.Join(dir, name+".json")}
}

// warn counts a failure, and keeps one warning for each path. It returns the warning, which may be nil.
func (l *legacyMessages) warn(path string, err error) error {
	if err == nil {
		return nil
	}
	l.failures++
	if !l.warned[path] {
		l.warned[path], l.errs = true, append(l.errs, err)
	}
	return err
}

// legacyRow implements [transcript.Row] for a file with a message or a part. It reads the file when its content is first needed.
type legacyRow struct {
	messages *legacyMessages
	path     string
	loaded   bool
	data     []byte
	err      error
}

func (r *legacyRow) ID() string         { return strings.TrimSuffix(filepath.Base(r.path), ".json") }
func (r *legacyRow) Created() int64     { return 0 }
func (r *legacyRow) Updated() int64     { return 0 }
func (r *legacyRow) Head() []byte       { return r.JSON() }
func (r *legacyRow) Check([]byte) error { return r.err }

// JSON implements [transcript.Row].
func (r *legacyRow) JSON() []byte {
	if !r.loaded {
		r.loaded = true
		var err error
		if r.data, err = readLegacyFile(r.messages.ctx, r.path); err != nil {
			r.err = r.messages.warn(r.path, warningUnlessGone(r.path, err))
		}
	}
	return r.data
}
