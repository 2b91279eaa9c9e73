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
	notes   notes

	turns   int
	quota   *discover.Quota // the newest
	project string          // the project folder's name; "" of a sub-agent, of which the following is not asked
	cwd     string          // the newest record's directory
	dir     string          // the newest one that the project folder is that of
	mode    string          // the permission mode of the newest prompt, or chosen since
}

// wholeChunk is the first read of a file that is read whole, in bytes.
const wholeChunk = 128 << 10

// readWhole makes the record of a transcript whose whole content counts. Tokens stay unknown where a part cannot be read.
func (x *reader) readWhole(r *discover.Record, e discover.Entry, f *native.File, head *headScan, tail *tailScan) error {
	t := totals{side: tail.side, brief: !x.want.Full}
	if x.want.Full && !t.side {
		t.project = projectOf(e)
	}
	f.Expect(wholeChunk)
	_, err := f.Forward(0, 0, t.line)
	if err == nil {
		tail.notes = t.notes
	}
	unknown := fill(r, e, f, head, tail)
	if err != nil {
		return err
	}
	t.describe(r)
	if !t.side {
		if err := t.subagents(r, x.beside[filepath.Dir(r.Path)], f.Buffers()); err != nil {
			return err
		}
	}
	return cmp.Or(t.sum(r), unknown)
}

var errManyCalls = errors.New("its tokens are not known: it has more calls of the model than are counted")

// describe adds what only the whole transcript tells, but for the tokens.
func (t *totals) describe(r *discover.Record) {
	if t.copies.unnamed {
		withOrigin(r)
		t.ledger.stated = nil
		r.ForkedFrom = cmp.Or(r.ForkedFrom, t.copies.origin)
	}
	if t.brief {
		return
	}
	if t.quota != nil {
		r.Quotas = []discover.Quota{*t.quota}
	}
	r.SetMeta("turns", t.turns)
	r.SetMeta(modeMeta, t.mode)
	if t.dir != r.Dir {
		r.SetMeta(dirMeta, t.dir)
	}
}

// sum adds the tokens.
func (t *totals) sum(r *discover.Record) error {
	if t.ledger.full {
		return errManyCalls
	}
	if sum, ok := t.ledger.sum(); ok { // before the first reply nothing is known, which is not 0
		r.Tokens = sum.tokens()
		r.Tokens.Context = t.context.context()
	}
	return nil
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
		if t.project != "" && string(kind) == "permission-mode" {
			t.mode = cmp.Or(native.Object(l.Bytes).Get("permissionMode").Text(0), t.mode)
		}
		return true
	}
	leading := leadingType(l.Bytes)
	if l.Cut || leading == "attachment" {
		return true
	}
	// What only goes on with the session, as a tool's result does, is most of a transcript. Not going over it saves a sixth of
	// the time of `list --tokens`.
	if t.brief && leading == "user" && !t.ledger.waits() {
		t.copies.begun = true
		return true
	}
	record, ok := parseLine(l.Bytes)
	if !ok {
		return true
	}
	own := record.IsSidechain == t.side
	if own && t.project != "" {
		t.place(&record)
	}
	copied := t.copies.has(&record)
	t.ledger.goOn(record.Timestamp)
	switch record.Type {
	case "user":
		if prompt, command := promptOf(&record); prompt != "" && !command && own {
			t.turns++
		}
	case "assistant":
		if used, ok := record.answer(); ok {
			if !copied {
				t.ledger.put(record.call(), spent{used, record.Timestamp.Time()})
			}
			if own {
				t.context = used
			}
		}
		if t.project != "" && record.IsAPIErrorMessage && !copied {
			t.quota = cmp.Or(quotaOf(&record), t.quota)
		}
	case "system":
		if record.Subtype == "compact_boundary" && own {
			t.context = compacted(l.Bytes)
		}
	}
	return true
}

// place takes where a record was written, and the mode that its prompt was given in.
func (t *totals) place(l *line) {
	t.mode = cmp.Or(l.PermissionMode, t.mode)
	if cwd := l.Cwd.Text(0); cwd != "" && cwd != t.cwd {
		if t.cwd = cwd; isSlugOf(t.project, cwd) {
			t.dir = cwd
		}
	}
}

// subagents adds the sub-agents' own transcripts: below the session's folder, or (2.0.x) beside it.
func (t *totals) subagents(r *discover.Record, beside beside, scratch *native.Buffers) error {
	if beside.err != nil {
		return asWarning(beside.failed, beside.err)
	}
	agents := slices.Clone(beside.agents[r.ID])
	if beside.folders[r.ID] {
		below := agentFilesOf(scratch.Context(), r.Path)
		if below.err != nil {
			return asWarning(below.failed, below.err)
		}
		for _, path := range below.files {
			if isAgentTranscript(filepath.Base(path)) {
				agents = append(agents, path)
			}
		}
	}
	for _, path := range agents {
		if err := t.file(path, scratch); err != nil && !native.IsNotExist(err) {
			return asWarning(path, err)
		}
	}
	return nil
}

// file adds the answers in a sub-agent's transcript.
func (t *totals) file(path string, scratch *native.Buffers) error {
	f, err := scratch.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	f.UseBuffers(scratch)
	f.Expect(wholeChunk)
	_, err = f.Forward(0, 0, func(l native.Line) bool {
		leading := leadingType(l.Bytes)
		if l.Cut || leading == "attachment" || leading == "user" || noteType(l.Bytes) != nil {
			return true
		}
		record, _ := parseLine(l.Bytes)
		if used, ok := record.answer(); ok {
			t.ledger.put(record.call(), spent{used, record.Timestamp.Time()})
		}
		return true
	})
	return err
}
