package codex

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"strconv"

	"agentctl/discover"
	"agentctl/discover/native"
)

// Messages yields what was said in a thread, from the end of its rollout back and on into the one that it was forked
// from. What the person took back by editing an earlier prompt is not given: the agent does not show it any more.
func (Adapter) Messages(ctx context.Context, r discover.Record) iter.Seq2[discover.Message, error] {
	return func(yield func(discover.Message, error) bool) {
		t := messageReader{ctx: ctx, scratch: native.NewBuffers(ctx), yield: yield, session: r.ID, home: r.Home, model: turnModel{newestModel: r.Model, inNewestTurn: true}}
		seen := map[string]bool{}
		for s := (segment{path: r.Path}); s.path != "" && !seen[s.path]; {
			seen[s.path] = true
			s = t.readSegment(s, len(seen) == 1)
		}
	}
}

// segment is a rollout or its beginning: a fork goes on from a place in another thread's rollout, and a thread whose
// person has edited an earlier prompt from a place in its own older one (SEEN 0.169).
type segment struct {
	path string
	// end is how many of its bytes are part of it, next the ordinal of the first record that is not; 0: all are.
	end, next int64
}

// messageReader makes messages of records, which come newest first.
type messageReader struct {
	ctx   context.Context // a transcript lives as long as one call
	yield func(discover.Message, error) bool
	home  string
	// session is whose transcript it is; its rollouts may be another's.
	session string

	segment
	file        *native.File
	thread      string // whose rollout it is
	prefix      string // of ids that are places in the file
	gap         gap
	gapReported bool // that there is a gap was said
	base        segment
	stopped     bool // nobody asks for more

	longLine   bool  // the line after this one is too long to be read
	longEnd    int64 // where that one ends
	rolledBack int   // how many of the person's turns that follow were taken back
	inReview   bool  // inside a review, whose records may be here too without a mark
	lastError  string

	results        toolResults
	commands       map[string]string // that run in the background, by rollout and number
	tokens         answerTokens
	afterModelItem bool // the record after this one is an item of the model's
	model          turnModel
	scratch        *native.Buffers
}

// readSegment gives the messages of one segment and returns what it goes on from.
func (t *messageReader) readSegment(s segment, own bool) segment {
	f, g, err := openRollout(s.path, t.scratch)
	if native.IsNotExist(err) && own {
		return segment{} // moved or compressed meanwhile: the next look finds it
	}
	if err != nil {
		t.warn(s.path, err)
		return segment{}
	}
	defer f.Close()
	f.UseBuffers(t.scratch)
	return t.readFile(f, g, s, own)
}

// readFile gives the messages of an open segment and returns what it goes on from.
func (t *messageReader) readFile(f *native.File, g gap, s segment, own bool) segment {
	if s.end > 0 {
		f = f.Head(g.kept(s.end))
	}
	name, _ := parseRolloutName(filepath.Base(s.path))
	t.segment, t.file, t.gap, t.gapReported, t.thread, t.base = s, f, g, false, name.id, segment{}
	if t.prefix = cmp.Or(name.segment, name.id) + "@"; t.prefix == t.session+"@" {
		t.prefix = "" // the thread's first rollout
	}
	t.model.inNewestTurn = own
	if _, err := f.Backward(0, t.addLine); err != nil {
		t.warn(s.path, err)
	}
	t.finishLongLine(0)
	if t.stopped {
		return segment{}
	}
	return t.base
}

// addLine takes the line before the last one and reports whether more are wanted.
func (t *messageReader) addLine(l native.Line) bool {
	if err := t.ctx.Err(); err != nil {
		t.fail(err)
		return false
	}
	t.finishLongLine(l.Offset + int64(len(l.Bytes)) + 1)
	if l.Cut {
		t.longLine, t.longEnd = true, l.Offset+int64(len(l.Bytes))
		return !t.stopped
	}
	if l.Offset < t.gap.start && t.gap.size > 0 && !t.gapReported {
		t.gapReported = true
		t.warn(t.path, fmt.Errorf("%d MB in its middle are left out: it is too long to be unpacked as a whole", t.gap.size>>20))
	}
	r, ok := Decode(l.Bytes, t.thread)
	switch {
	case ok && (!isMessageKind(r.Kind) || t.isBeyondSegment(l)):
	case ok && r.Complete(l.Bytes):
		t.addRecord(&r, l.Offset)
	case native.Damaged(l.Bytes):
		t.warn(t.path, fmt.Errorf("a damaged record at byte %d is left out", l.Offset))
	}
	return !t.stopped
}

// isBeyondSegment reports whether a record was written after what is read here had been left.
func (t *messageReader) isBeyondSegment(l native.Line) bool {
	return t.next > 0 && native.Object(l.Bytes).Get("ordinal").Int() >= t.next
}

// finishLongLine takes a record that is too long to be held, once its beginning is known. Of a call's result, that there is one
// counts all the same.
func (t *messageReader) finishLongLine(start int64) {
	if !t.longLine || t.stopped {
		return
	}
	t.longLine = false
	t.warn(t.path, fmt.Errorf("a record of %d MB at byte %d is left out", (t.longEnd-start)>>20, start))
	head := make([]byte, 64<<10)
	n, _ := t.file.ReadAt(head, start)
	if r, ok := Decode(head[:n], t.thread); ok && r.Kind == ToolResult {
		t.results.add(&r)
	}
}

// isMessageKind reports whether a record of this kind can be, or change, a message.
func isMessageKind(is Kind) bool { return is != Unknown && is != Reasoning && is != SettingsApplied }

// emit yields a message, unless it was taken back.
func (t *messageReader) emit(m discover.Message) {
	if t.rolledBack == 0 && !t.stopped {
		t.stopped = !t.yield(m, nil)
	}
}

func (t *messageReader) warn(path string, err error) { t.fail(warn(path, err)) }

func (t *messageReader) fail(err error) {
	if !t.stopped {
		t.stopped = !t.yield(discover.Message{}, err)
	}
}

// messageID is the agent's own id of a thing, or else its record's place in the file.
func (t *messageReader) messageID(own string, at int64) string {
	if own != "" {
		return own
	}
	return t.prefix + strconv.FormatInt(t.gap.original(at), 10)
}
