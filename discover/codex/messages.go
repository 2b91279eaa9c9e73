package codex

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"strconv"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// Messages yields the messages of a thread, newest first: from the end of its rollout back, and on into the rollout that it
// continues. It leaves out the turns that the user took back by editing an earlier prompt, as the agent does.
func (Adapter) Messages(ctx context.Context, r discover.Record) iter.Seq2[discover.Message, error] {
	return func(yield func(discover.Message, error) bool) {
		m := newMessageReader(ctx, r, yield)
		seen := map[string]bool{}
		for s := (segment{path: r.Path}); s.path != "" && !seen[s.path]; {
			seen[s.path] = true
			s = m.readSegment(s, len(seen) == 1)
		}
	}
}

// segment is a rollout or its beginning. A fork continues from a place in another thread's rollout; a thread whose user has
// edited an earlier prompt continues from a place in its own older one (SEEN 0.169).
type segment struct {
	path string
	// endByte is the number of its bytes that belong to it, endOrdinal the ordinal of the first record that does not. 0: all do.
	endByte, endOrdinal int64
}

// messageReader reads the rollouts of a thread backwards and yields their messages.
type messageReader struct {
	ctx     context.Context // of the call that the reader lives for
	yield   func(discover.Message, error) bool
	stopped bool // the caller wants no more
	home    string
	session string // the thread; its rollouts may be another's
	builder *messageBuilder

	segment     // that is read now
	file        *fsread.File
	thread      string  // that the file is named after
	idPrefix    string  // of message IDs that are places in the file
	gap         gap     // of the file, where it is compressed
	gapReported bool    // a warning was yielded for it
	base        segment // that the file continues
}

func newMessageReader(ctx context.Context, r discover.Record, yield func(discover.Message, error) bool) *messageReader {
	m := &messageReader{ctx: ctx, yield: yield, session: r.ID, home: r.Home}
	m.builder = newMessageBuilder(r.Model, m.emit, m.recordID)
	return m
}

// readSegment yields the messages of one segment and returns the one that it continues.
func (m *messageReader) readSegment(s segment, newest bool) segment {
	f, g, err := openRollout(m.ctx, s.path)
	if fsread.IsNotExist(err) && newest {
		return segment{} // moved or compressed meanwhile: the next snapshot finds it
	}
	if err != nil {
		m.warn(s.path, err)
		return segment{}
	}
	defer f.Close()
	return m.readFile(f, g, s, newest)
}

// readFile yields the messages of an open segment and returns the one that it continues.
func (m *messageReader) readFile(f *fsread.File, g gap, s segment, newest bool) segment {
	if s.endByte > 0 {
		f = f.Head(g.kept(s.endByte))
	}
	name, _ := parseRolloutName(filepath.Base(s.path))
	m.segment, m.file, m.gap, m.gapReported, m.thread, m.base = s, f, g, false, name.id, segment{}
	if m.idPrefix = cmp.Or(name.segment, name.id) + "@"; m.idPrefix == m.session+"@" {
		m.idPrefix = "" // the thread's first rollout
	}
	m.builder.SetFile(f, newest)
	if _, err := f.Backward(0, m.addLine); err != nil {
		m.warn(s.path, err)
	}
	if m.stopped {
		return segment{}
	}
	return m.base
}

// addLine takes the next older line and reports whether more are wanted.
func (m *messageReader) addLine(l fsread.Line) bool {
	if err := m.ctx.Err(); err != nil {
		m.fail(err)
		return false
	}
	if l.Cut {
		m.warn(m.path, fmt.Errorf("a record of more than %d MB before byte %d is left out", fsread.MaxLine>>20, l.Offset+int64(len(l.Bytes))))
		return !m.stopped
	}
	if l.Offset < m.gap.start && m.gap.size > 0 && !m.gapReported {
		m.gapReported = true
		m.warn(m.path, fmt.Errorf("%d MB in its middle are left out: it is too long to be unpacked as a whole", m.gap.size>>20))
	}
	r, ok := decodeRecord(l.Bytes, m.thread)
	switch {
	case ok && (!mayBeMessage(r.Kind) || m.isBeyondSegment(l)):
	case ok && r.Complete(l.Bytes):
		if r.Kind == kindSessionMeta && l.Offset == 0 {
			m.base = m.baseSegment(&r)
		}
		m.builder.Add(&r, l.Offset)
	case jsonl.Damaged(l.Bytes):
		m.warn(m.path, fmt.Errorf("a damaged record at byte %d is left out", l.Offset))
	}
	return !m.stopped
}

// isBeyondSegment reports whether a record was written after the place from which a newer rollout continues.
func (m *messageReader) isBeyondSegment(l fsread.Line) bool {
	return m.endOrdinal > 0 && jsonl.Object(l.Bytes).Get("ordinal").Int() >= m.endOrdinal
}

func (m *messageReader) emit(msg discover.Message) {
	if !m.stopped {
		m.stopped = !m.yield(msg, nil)
	}
}

func (m *messageReader) warn(path string, err error) { m.fail(warn(path, err)) }

func (m *messageReader) fail(err error) {
	if !m.stopped {
		m.stopped = !m.yield(discover.Message{}, err)
	}
}

// recordID names a record by its offset in the uncompressed file.
func (m *messageReader) recordID(at int64) string {
	return m.idPrefix + strconv.FormatInt(m.gap.original(at), 10)
}
