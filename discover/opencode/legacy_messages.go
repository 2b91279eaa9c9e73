package opencode

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
)

// legacyMessages implements [rowReader] for a session in JSON files. Their names are IDs, which sort by time.
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

// Oldest implements [rowReader].
func (l *legacyMessages) Oldest() iter.Seq[storedRow] {
	return l.rows(l.dir, messagePrefix, oldestFirst)
}

// Newest implements [rowReader].
func (l *legacyMessages) Newest(before cursor) iter.Seq[storedRow] {
	return l.rows(l.dir, messagePrefix, newestBefore(before.Message))
}

// Parts implements [rowReader].
func (l *legacyMessages) Parts(message string) iter.Seq[storedRow] {
	return l.rows(l.partDir(message), partPrefix, oldestFirst)
}

// PartsBefore implements [rowReader].
func (l *legacyMessages) PartsBefore(c cursor) iter.Seq[storedRow] {
	return l.rows(l.partDir(c.Message), partPrefix, newestBefore(c.Part))
}

// Failures implements [rowReader].
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
func (l *legacyMessages) rows(dir, prefix string, order func(sorted []string) []string) iter.Seq[storedRow] {
	return func(yield func(storedRow) bool) {
		names, err := listJSONNames(l.ctx, dir, prefix)
		if err != nil && !yield(legacyRow("", nil, l.warn(dir, err))) {
			return
		}
		for _, name := range order(names) {
			path := filepath.Join(dir, name+".json")
			data, err := readLegacyFile(l.ctx, path)
			if l.ctx.Err() != nil || !yield(legacyRow(name, data, l.warn(path, warningUnlessGone(path, err)))) {
				return
			}
		}
	}
}

func legacyRow(id string, data []byte, err error) storedRow {
	return storedRow{ID: id, head: data, Read: func() ([]byte, error) { return data, err }}
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
