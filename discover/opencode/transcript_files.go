package opencode

import (
	"context"
	"iter"
	"slices"

	"agentctl/discover/native/fsread"
)

// transcript yields what the files of a session say, newest first.
func (f files) transcript(ctx context.Context) iter.Seq[said] {
	return func(yield func(said) bool) {
		names, err := jsonNames(ctx, f.messages, "msg_")
		if err != nil && !yield(said{err: err}) {
			return
		}
		var d dialogue
		for _, name := range slices.Backward(names) {
			if ctx.Err() != nil {
				return
			}
			m, err := readMessage(ctx, f, name)
			if err != nil && !fsread.IsNotExist(err) && !yield(said{err: err}) {
				return
			}
			d.begin(m, func() bool { return f.isNote(ctx, m.asked) })
			if !d.isDialogue() {
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
func (d *dialogue) files(ctx context.Context, dir string, yield func(said) bool) bool {
	names, err := jsonNames(ctx, dir, "prt_")
	if err != nil && !yield(said{err: err}) {
		return false
	}
	for _, name := range slices.Backward(names) {
		data, err := readPart(ctx, dir, name)
		if err != nil && !yield(said{err: err}) {
			return false
		}
		if s, ok := d.part(name, data); ok && !yield(s) {
			return false
		}
	}
	return true
}

// isNote reports whether a message of the person stands for a command of theirs. What cannot be read is told in its turn.
func (f files) isNote(ctx context.Context, message string) (yes bool) {
	_ = eachPart(ctx, f.parts(message), func(p part) bool {
		yes = p.isNote()
		return false
	})
	return yes
}
