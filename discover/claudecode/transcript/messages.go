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

// firstChunk is the first read from the end of a transcript, in bytes.
const firstChunk = 32 << 10

var errDamaged = errors.New("damaged")

// Messages yields the messages of a transcript, the newest first. sidechain says that it is a sub-agent's. An error stands for
// records that are not shown, or for the rest where the file cannot be read.
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
	tooLong    bool // the line before was too long to be held
	callFailed bool // that one has the mark of a failed call
	damaged    bool // the line before was
	stopped    bool // nobody wants more
}

// readAll tells everything, until nobody wants more.
func (t *backwardReader) readAll() {
	t.file.Expect(firstChunk)
	whole, err := t.file.Backward(0, t.line)
	if whole {
		t.skipTooLong(0)
	}
	if err != nil {
		t.warn(err)
	}
	t.emit(t.order.flush())
}

// line takes the next line up and reports whether more are wanted.
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
	t.emit(t.order.add(messages, writtenAt(l.Bytes)))
	return !t.stopped && t.file.Context().Err() == nil
}

// writtenAt is when a record was; zero of a note, and of what was said while a turn was in progress: that has the time when
// it was typed, and was written when the model got it.
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

// skipTooLong says that the line before was too long to be shown, once its start is known; notes never are shown. A call
// that it is the result of has ended, whatever it said.
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

// longLineHead is how much of a line's beginning tells what it is, in bytes.
const longLineHead = 4 << 10

// hasErrorMark reports whether a record has the mark of a failed call. Inside of strings, its quotes are escaped.
func hasErrorMark(raw []byte) bool { return bytes.Contains(raw, []byte(`"is_error":true`)) }
