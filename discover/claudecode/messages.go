package claudecode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
)

// Messages implements [discover.Transcriber]: a transcript read from its end. What of it is a message, and whose, is in
// docs/agents/claude-code.md.
func (Adapter) Messages(ctx context.Context, r discover.Record) iter.Seq2[discover.Message, error] {
	return func(yield func(discover.Message, error) bool) {
		if r.Path == "" {
			return // nothing was asked yet
		}
		f, err := native.Open(ctx, r.Path)
		if err != nil {
			yield(discover.Message{}, warning(r.Path, cause(err)))
			return
		}
		defer f.Close()
		t := telling{ctx: ctx, file: f, path: r.Path, yield: yield, conversation: conversation{side: isSubagent(r.ID)}}
		t.all()
	}
}

// tellChunk is the first read from the end of a transcript, in bytes.
const tellChunk = 32 << 10

var errDamaged = errors.New("damaged")

// telling reads one transcript backwards and hands on what it says.
type telling struct {
	ctx   context.Context // a telling lives as long as one call
	file  *native.File
	path  string
	yield func(discover.Message, error) bool

	conversation
	sorter  sorter
	long    bool // the line before was too long to be held
	failed  bool // that one has the mark of a failed call
	damaged bool // the line before was
	stopped bool // nobody wants more
}

// all tells everything, until nobody wants more.
func (t *telling) all() {
	t.file.Expect(tellChunk)
	whole, err := t.file.Backward(0, t.line)
	if whole {
		t.overlong(0)
	}
	if err != nil {
		t.warn(cause(err))
	}
	t.give(t.sorter.rest())
}

// line takes the next line up and reports whether more are wanted.
func (t *telling) line(l native.Line) bool {
	end := l.Offset + int64(len(l.Bytes))
	t.overlong(end + 1)
	if l.Cut {
		t.long, t.failed = true, hasFailed(l.Bytes)
		return !t.stopped
	}
	messages, ok := t.read(l)
	if !ok && !t.damaged {
		t.warn(fmt.Errorf("a record that ends at byte %d is not shown: %w", end, errDamaged))
	}
	t.damaged = !ok
	t.give(t.sorter.next(messages, written(l.Bytes)))
	return !t.stopped && t.ctx.Err() == nil
}

// written is when a record was; zero of a note, and of what was said while a turn was in progress: that has the time when
// it was typed, and was written when the model got it.
func written(raw []byte) time.Time {
	if noteType(raw) != nil || isQueued(raw) {
		return time.Time{}
	}
	return timeOf(raw)
}

func (t *telling) give(messages []discover.Message) {
	for _, m := range messages {
		t.stopped = t.stopped || !t.yield(m, nil)
	}
}

func (t *telling) warn(err error) {
	t.stopped = t.stopped || !t.yield(discover.Message{}, warning(t.path, err))
}

// overlong says that the line before was too long to be shown, once its start is known; notes never are shown. A call
// that it is the result of has ended, whatever it said.
func (t *telling) overlong(start int64) {
	if !t.long {
		return
	}
	t.long = false
	head := make([]byte, longHead)
	n, _ := t.file.ReadAt(head, start)
	if head = head[:n]; noteType(head) != nil || isAttachment(head) {
		return
	}
	const key = `"tool_use_id":`
	if at := bytes.Index(head, []byte(key)); at >= 0 {
		t.results.put(native.Value(head[at+len(key):]).Text(0), outcome{state: endOf(t.failed, "")})
	}
	t.warn(fmt.Errorf("a record at byte %d is not shown: more than %d MiB", start, native.MaxLine>>20))
}

// longHead is how much of a line's beginning tells what it is, in bytes.
const longHead = 4 << 10

// hasFailed reports whether a record has the mark of a failed call. Inside of strings, its quotes are escaped.
func hasFailed(raw []byte) bool { return bytes.Contains(raw, []byte(`"is_error":true`)) }
