package claudecode

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"

	"agentctl/discover"
	"agentctl/discover/native"
)

// totals adds up a session's tokens. One message of the API is written as several records with the same usage, the
// last of which is complete, so the last one of each message and request counts (seen in all versions). What a fork
// copied does not.
type totals struct {
	side    bool
	brief   bool // only tokens are asked for
	ledger  ledger
	copies  copies
	context usage // of the newest main-chain message
	turns   int
	notes   notes
	quota   *discover.Quota // the newest
	whole   wholeFacts
}

// wholeFacts are what `status` and `resume` want of all records.
type wholeFacts struct {
	project string // the project folder's name; "" if the facts are not wanted
	cwd     string // the newest record's directory
	dir     string // the newest one that the project folder is that of
	mode    string // the permission mode of the newest prompt, or chosen since
}

func (w *wholeFacts) add(l *line) {
	if w.project == "" {
		return
	}
	w.mode = cmp.Or(l.PermissionMode, w.mode)
	if cwd := l.Cwd.Text(0); cwd != "" && cwd != w.cwd {
		if w.cwd = cwd; isSlugOf(w.project, cwd) {
			w.dir = cwd
		}
	}
}

// wholeChunk is the first read of a file that is read whole, in bytes.
const wholeChunk = 128 << 10

// readWhole makes the record of a transcript whose whole content counts.
// Tokens stay unknown where a part cannot be read; path is that part's.
func readWhole(r *discover.Record, e discover.Entry, f *native.File, head *headScan, tail *tailScan, want discover.Want, scratch *native.Scratch, all *besides) (path string, err error) {
	t := totals{side: tail.side, brief: !want.Whole}
	if want.Whole && !t.side {
		t.whole.project = projectOf(e)
	}
	f.Expect(wholeChunk)
	_, err = f.Forward(0, 0, t.line)
	if err == nil {
		tail.notes = t.notes
	}
	beside := fill(r, e, f, head, tail)
	if err != nil {
		return e.Path, err
	}
	if path, err = t.add(r, want, scratch, all); err == nil {
		err = beside
	}
	return path, err
}

var errManyCalls = errors.New("its tokens are not known: it has more calls of the model than are counted")

// add completes a record with what only the whole transcript tells.
func (t *totals) add(r *discover.Record, want discover.Want, scratch *native.Scratch, all *besides) (path string, err error) {
	if t.copies.unnamed {
		withOrigin(r)
		t.ledger.stated = nil
		r.ForkedFrom = cmp.Or(r.ForkedFrom, t.copies.origin)
	}
	if want.Whole {
		if t.quota != nil {
			r.Quotas = []discover.Quota{*t.quota}
		}
		r.SetMeta("turns", t.turns)
		r.SetMeta(modeMeta, t.whole.mode)
		if t.whole.dir != r.Dir {
			r.SetMeta(dirMeta, t.whole.dir)
		}
		t.whole.project = ""
	}
	context := t.context
	if !t.side {
		if path, err = t.subagents(r.Path, r.ID, scratch, all); err != nil {
			return path, err
		}
	}
	if t.ledger.full {
		return r.Path, errManyCalls
	}
	if sum, ok := t.ledger.sum(); ok { // before the first reply nothing is known, which is not 0
		r.Tokens = sum.tokens()
		r.Tokens.Context = context.context()
	}
	return "", nil
}

func (t *totals) line(l native.Line) bool {
	if kind := noteType(l.Bytes); kind != nil {
		t.notes.add(kind, l.Bytes, true)
		if t.copies.dates(kind) {
			t.copies.note(timeOf(l.Bytes))
		}
		if string(kind) == "cost-state" {
			t.ledger.state(l.Bytes)
		}
		if t.whole.project != "" && string(kind) == "permission-mode" {
			t.note(l.Bytes)
		}
		return true
	}
	if l.Cut || isAttachment(l.Bytes) || t.brief && t.idle(l.Bytes) {
		return true
	}
	record, ok := parseLine(l.Bytes)
	if !ok {
		return true
	}
	if record.IsSidechain == t.side {
		t.whole.add(&record)
	}
	copied := t.copies.has(&record)
	t.ledger.goOn(record.Timestamp)
	switch record.Type {
	case "user":
		if prompt, command := promptOf(&record); prompt != "" && !command && record.IsSidechain == t.side {
			t.turns++
		}
	case "assistant":
		t.assistant(&record, copied)
		if t.whole.project != "" && record.IsAPIErrorMessage && !copied {
			t.limited(quotaOf(l.Bytes, &record))
		}
	case "system":
		if record.Subtype == "compact_boundary" && record.IsSidechain == t.side {
			t.context = compacted(l.Bytes)
		}
	}
	return true
}

// idle takes a record that only goes on with the session, as a tool's result does: they are most of a transcript. Not
// going over them saves a sixth of the time of `list --tokens`.
func (t *totals) idle(raw []byte) bool {
	if t.ledger.waits() || leadingType(raw) != "user" {
		return false
	}
	t.copies.begun = true
	return true
}

func (t *totals) note(raw []byte) {
	if l, ok := parseLine(raw); ok {
		t.whole.add(&l)
	}
}

func (t *totals) assistant(l *line, copied bool) {
	used, ok := l.answer()
	if !ok {
		return
	}
	if !copied {
		t.ledger.put(l.call(), spent{used, l.Timestamp.Time()})
	}
	if l.IsSidechain == t.side {
		t.context = used
	}
}

func (t *totals) limited(q *discover.Quota) {
	if q != nil {
		t.quota = q
	}
}

// subagents adds the sub-agents' own transcripts: below the session's folder, or (2.0.x) beside it.
func (t *totals) subagents(path, id string, scratch *native.Scratch, all *besides) (failed string, err error) {
	beside := all.of(filepath.Dir(path), scratch)
	if beside.err != nil {
		return beside.failed, beside.err
	}
	agents := slices.Clone(beside.agents[id])
	if beside.folders[id] {
		tree, failed, err := agentTree(scratch.Context(), agentsFolder(path))
		if err != nil {
			return failed, err
		}
		for _, folder := range tree {
			agents = append(agents, folder.transcripts()...)
		}
	}
	for _, path := range agents {
		if err := t.file(path, scratch); err != nil && !native.Absent(err) {
			return path, err
		}
	}
	return "", nil
}

func (t *totals) file(path string, scratch *native.Scratch) error {
	f, err := scratch.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	f.Use(scratch)
	f.Whole()
	f.Expect(wholeChunk)
	_, err = f.Forward(0, 0, func(l native.Line) bool {
		t.answer(l)
		return true
	})
	return err
}

// answer takes a line of a sub-agent's transcript.
func (t *totals) answer(l native.Line) {
	if noteType(l.Bytes) != nil || l.Cut || isAttachment(l.Bytes) || leadingType(l.Bytes) == "user" {
		return
	}
	record, _ := parseLine(l.Bytes)
	if used, ok := record.answer(); ok {
		t.ledger.put(record.call(), spent{used, record.Timestamp.Time()})
	}
}
