package claudecode

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// Totals adds up a session's tokens. One message of the API is written as several records with the same usage, the
// last of which is complete, so the last one of each message and request counts (seen in all versions). What a fork
// copied does not.
type Totals struct {
	sidechain  bool
	tokensOnly bool // only tokens are asked for
	calls      callUsage
	fork       forkDetector
	context    Usage // of the newest main-chain message
	Metadata   Metadata

	Turns          int
	Quota          *discover.Quota // the newest
	project        string          // the project folder's name; "" of a sub-agent, of which the following is not asked
	cwd            string          // the newest record's directory
	Dir            string          // the newest one that the project folder is that of
	PermissionMode string          // the permission mode of the newest prompt, or chosen since
}

// wholeChunk is the first read of a file that is read whole, in bytes.
const wholeChunk = 128 << 10

// readWhole makes the record of a transcript whose whole content counts. Tokens stay unknown where a part cannot be read.
func (x *reader) readWhole(r *discover.Record, e discover.Entry, f *fsread.File, head *Head, tail *Tail) error {
	t := Totals{sidechain: tail.Sidechain, tokensOnly: !x.want.Full}
	if x.want.Full && !t.sidechain {
		t.project = projectOf(e)
	}
	f.Expect(wholeChunk)
	_, err := f.Forward(0, 0, t.line)
	if err == nil {
		tail.Metadata = t.Metadata
	}
	unknown := fill(r, e, f, head, tail)
	if err != nil {
		return err
	}
	t.describe(r)
	if !t.sidechain {
		if err := t.subagents(r, x.projects[filepath.Dir(r.Path)], f.Buffers()); err != nil {
			return err
		}
	}
	return cmp.Or(t.sum(r), unknown)
}

// ErrTooManyCalls is the error of a transcript with more calls of the model than are counted.
var ErrTooManyCalls = errors.New("its tokens are not known: it has more calls of the model than are counted")

// describe adds what only the whole transcript tells, but for the tokens.
func (t *Totals) describe(r *discover.Record) {
	if t.fork.unmarked {
		moveSharedCost(r)
		t.calls.reported = nil
		r.ForkedFrom = cmp.Or(r.ForkedFrom, t.fork.origin)
	}
	if t.tokensOnly {
		return
	}
	if t.Quota != nil {
		r.Quotas = []discover.Quota{*t.Quota}
	}
	r.SetMeta("turns", t.Turns)
	r.SetMeta(modeMeta, t.PermissionMode)
	if t.Dir != r.Dir {
		r.SetMeta(dirMeta, t.Dir)
	}
}

// sum adds the tokens.
func (t *Totals) sum(r *discover.Record) error {
	if t.calls.overflow {
		return ErrTooManyCalls
	}
	if sum, ok := t.calls.sum(); ok { // before the first reply nothing is known, which is not 0
		r.Tokens = sum.Tokens()
		r.Tokens.Context = t.context.contextSize()
	}
	return nil
}

func (t *Totals) line(l fsread.Line) bool {
	if kind := metadataType(l.Bytes); kind != nil {
		t.Metadata.add(kind, l.Bytes, true)
		if t.fork.datesSession(kind) {
			t.fork.addTime(TimeOf(l.Bytes))
		}
		if string(kind) == "cost-state" {
			t.calls.setReported(l.Bytes)
		}
		if t.project != "" && string(kind) == "permission-mode" {
			t.PermissionMode = cmp.Or(jsonl.Object(l.Bytes).Get("permissionMode").Text(0), t.PermissionMode)
		}
		return true
	}
	leading := leadingType(l.Bytes)
	if l.Cut || leading == "attachment" {
		return true
	}
	// What only goes on with the session, as a tool's result does, is most of a transcript. Not going over it saves a sixth of
	// the time of `list --tokens`.
	if t.tokensOnly && leading == "user" && !t.calls.needsTime() {
		t.fork.started = true
		return true
	}
	record, ok := ParseLine(l.Bytes)
	if !ok {
		return true
	}
	own := record.IsSidechain == t.sidechain
	if own && t.project != "" {
		t.addDirectory(&record)
	}
	copied := t.fork.isCopy(&record)
	t.calls.recordTime(record.Timestamp)
	switch record.Type {
	case "user":
		if prompt, command := PromptOf(&record); prompt != "" && !command && own {
			t.Turns++
		}
	case "assistant":
		if used, ok := record.AnswerUsage(); ok {
			if !copied {
				t.calls.add(record.CallID(), timedUsage{used, record.Timestamp.Time()})
			}
			if own {
				t.context = used
			}
		}
		if t.project != "" && record.IsAPIErrorMessage && !copied {
			t.Quota = cmp.Or(quotaOf(&record), t.Quota)
		}
	case "system":
		if record.Subtype == "compact_boundary" && own {
			t.context = compactedUsage(l.Bytes)
		}
	}
	return true
}

// addDirectory takes where a record was written, and the mode that its prompt was given in.
func (t *Totals) addDirectory(l *Line) {
	t.PermissionMode = cmp.Or(l.PermissionMode, t.PermissionMode)
	if cwd := l.Cwd.Text(0); cwd != "" && cwd != t.cwd {
		if t.cwd = cwd; isSlugOf(t.project, cwd) {
			t.Dir = cwd
		}
	}
}

// subagents adds the sub-agents' own transcripts: below the session's folder, or (2.0.x) beside it.
func (t *Totals) subagents(r *discover.Record, beside projectContents, scratch *fsread.Buffers) error {
	if beside.err != nil {
		return asWarning(beside.failed, beside.err)
	}
	agents := slices.Clone(beside.subagents[r.ID])
	if beside.folders[r.ID] {
		below := listSubagentFiles(scratch.Context(), r.Path)
		if below.err != nil {
			return asWarning(below.failed, below.err)
		}
		for _, path := range below.files {
			if isSubagentTranscript(filepath.Base(path)) {
				agents = append(agents, path)
			}
		}
	}
	for _, path := range agents {
		if err := t.ReadSubagent(path, scratch); err != nil && !fsread.IsNotExist(err) {
			return asWarning(path, err)
		}
	}
	return nil
}

// ReadSubagent adds the answers in a sub-agent's transcript.
func (t *Totals) ReadSubagent(path string, scratch *fsread.Buffers) error {
	f, err := scratch.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	f.UseBuffers(scratch)
	f.Expect(wholeChunk)
	_, err = f.Forward(0, 0, func(l fsread.Line) bool {
		leading := leadingType(l.Bytes)
		if l.Cut || leading == "attachment" || leading == "user" || metadataType(l.Bytes) != nil {
			return true
		}
		record, _ := ParseLine(l.Bytes)
		if used, ok := record.AnswerUsage(); ok {
			t.calls.add(record.CallID(), timedUsage{used, record.Timestamp.Time()})
		}
		return true
	})
	return err
}
