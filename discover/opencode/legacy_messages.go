package opencode

import (
	"context"
	"iter"
	"slices"

	"agentctl/discover/native/fsread"
)

// eachMessage yields what the files of a session say, newest first.
func (f legacyPaths) eachMessage(ctx context.Context) iter.Seq[item] {
	return func(yield func(item) bool) {
		names, err := listJSONNames(ctx, f.messages, "msg_")
		if err != nil && !yield(item{err: err}) {
			return
		}
		var d builder
		for _, name := range slices.Backward(names) {
			if ctx.Err() != nil {
				return
			}
			m, err := readLegacyMessage(ctx, f, name)
			if err != nil && !fsread.IsNotExist(err) && !yield(item{err: err}) {
				return
			}
			d.begin(m, func() bool { return f.isShellNote(ctx, m.parentID) })
			if !d.isConversation() {
				continue
			}
			if s, ok := d.failure(); ok && !yield(s) {
				return
			}
			if !d.files(ctx, f.parts(name), yield) {
				return
			}
		}
	}
}

// files gives what the files of the message's parts say, newest first; it is false where yield wants no more.
func (d *builder) files(ctx context.Context, dir string, yield func(item) bool) bool {
	names, err := listJSONNames(ctx, dir, "prt_")
	if err != nil && !yield(item{err: err}) {
		return false
	}
	for _, name := range slices.Backward(names) {
		data, err := readLegacyPart(ctx, dir, name)
		if err != nil && !yield(item{err: err}) {
			return false
		}
		if s, ok := d.part(name, data); ok && !yield(s) {
			return false
		}
	}
	return true
}

// isShellNote reports whether a message of the person stands for a command of theirs. What cannot be read is told in its turn.
func (f legacyPaths) isShellNote(ctx context.Context, message string) (yes bool) {
	_ = eachLegacyPart(ctx, f.parts(message), func(p part) bool {
		yes = p.isShellNote()
		return false
	})
	return yes
}
