package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

var errDamaged = errors.New("damaged")

// Messages yields the messages of a transcript, newest first. sidechain says that it is a sub-agent's. An error stands for
// a record that is not shown or, where the file cannot be read, for all older ones.
func Messages(f *fsread.File, sidechain bool) iter.Seq2[discover.Message, error] {
	return func(yield func(discover.Message, error) bool) {
		t := backwardReader{file: f, yield: yield, messageReader: messageReader{sidechain: sidechain}}
		t.readAll()
	}
}

// backwardReader reads one transcript from its end and yields its messages.
type backwardReader struct {
	file  *fsread.File
	yield func(discover.Message, error) bool

	messageReader
	order      messageOrder
	tooLong    bool // the line before was too long to be read whole
	callFailed bool // that line has the mark of a failed call
	damaged    bool // the line before was damaged
	stopped    bool // the caller wants no more
}

// readAll yields all messages until the caller stops.
func (t *backwardReader) readAll() {
	whole, err := t.file.Backward(0, t.line)
	if whole {
		t.skipTooLong(0)
	}
	if err != nil {
		t.warn(err)
	}
	t.emit(t.order.flush())
}

// line takes the next line and reports whether to go on.
func (t *backwardReader) line(l fsread.Line) bool {
	end := l.Offset + int64(len(l.Bytes))
	t.skipTooLong(end + 1)
	if l.Cut {
		t.tooLong, t.callFailed = true, hasErrorMark(l.Bytes)
		return !t.stopped
	}
	messages, ok := t.read(l)
	if !ok && !t.damaged {
		t.warn(fmt.Errorf("a record that ends at byte %d is not shown: %w", end, errDamaged))
	}
	t.damaged = !ok
	for _, w := range t.order.waiting { // a result may come late, see messageOrder
		if w.Tool != nil {
			t.results.complete(w.Tool)
		}
	}
	t.emit(t.order.add(messages, writtenAt(l.Bytes)))
	return !t.stopped && t.file.Context().Err() == nil
}

// writtenAt returns when a record was written; zero for metadata, and for a prompt that was queued during a turn: its time
// is when it was typed, but it was written when the model got it.
func writtenAt(raw []byte) time.Time {
	if metadataType(raw) != nil || isQueued(raw) {
		return time.Time{}
	}
	return TimeOf(raw)
}

func (t *backwardReader) emit(messages []discover.Message) {
	for _, m := range messages {
		t.stopped = t.stopped || !t.yield(m, nil)
	}
}

func (t *backwardReader) warn(err error) {
	t.stopped = t.stopped || !t.yield(discover.Message{}, err)
}

// skipTooLong warns of the line before if it was too long to be shown. start is its offset, now known. Metadata is never
// shown. If the line is a tool's result, its call has ended.
func (t *backwardReader) skipTooLong(start int64) {
	if !t.tooLong {
		return
	}
	t.tooLong = false
	head := make([]byte, longLineHead)
	n, _ := t.file.ReadAt(head, start)
	if head = head[:n]; metadataType(head) != nil || isAttachment(head) {
		return
	}
	const key = `"tool_use_id":`
	if at := bytes.Index(head, []byte(key)); at >= 0 {
		t.results.store(jsonl.Value(head[at+len(key):]).Text(0), toolResult{state: toolState(t.callFailed, "")})
	}
	t.warn(fmt.Errorf("a record at byte %d is not shown: more than %d MiB", start, fsread.MaxLine>>20))
}

// longLineHead is how much of a line's beginning shows what it is, in bytes.
const longLineHead = 4 << 10

// hasErrorMark reports whether a record has the mark of a failed call. In strings, the quotes are escaped.
func hasErrorMark(raw []byte) bool { return bytes.Contains(raw, []byte(`"is_error":true`)) }
