package transcript

import (
	"cmp"
	"errors"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// Totals is what only a whole transcript tells: the tokens that a session used, and with Full the rest as well. One message of
// the API is written as several records with the same usage, the last of which is complete, so the last one of each message and
// request counts (SEEN in all versions). Answers that a fork copied do not count.
type Totals struct {
	Sidechain bool // it is a sub-agent's transcript
	Full      bool // more than tokens is asked for
	// IsProjectDir reports whether the session's project folder is that of a directory; nil where Dir, Quota and PermissionMode
	// are not asked for.
	IsProjectDir func(dir string) bool

	Metadata       Metadata
	Turns          int             // prompts
	Quota          *discover.Quota // the newest
	Dir            string          // the newest directory that the project folder is that of
	PermissionMode string          // of the newest prompt, or chosen since

	calls   callUsage
	fork    forkDetector
	context Usage  // of the newest main-chain message
	cwd     string // the newest record's directory
}

// Read reads the session's transcript.
func (t *Totals) Read(f *fsread.File) error {
	_, err := f.Forward(0, 0, t.add)
	return err
}

// Fork reports whether the transcript has answers that --fork-session copied, and the session that they were copied from where
// they name it (2.1.329). What the agent reports as the session's usage has that session's part in it then, and no longer counts.
func (t *Totals) Fork() (origin string, ok bool) {
	if t.fork.unmarked {
		t.calls.reports = nil
	}
	return t.fork.origin, t.fork.unmarked
}

// ErrTooManyCalls is the error of a transcript with more calls of the model than are counted.
var ErrTooManyCalls = errors.New("its tokens are not known: it has more calls of the model than are counted")

// Tokens returns the sum; nil before the first answer, when nothing is known, which is not 0.
func (t *Totals) Tokens() (*discover.Tokens, error) {
	if t.calls.overflow {
		return nil, ErrTooManyCalls
	}
	sum, ok := t.calls.sum()
	if !ok {
		return nil, nil
	}
	tokens := sum.Tokens()
	tokens.Context = t.context.contextSize()
	return tokens, nil
}

// add takes the next record.
func (t *Totals) add(l fsread.Line) bool {
	if kind := metadataType(l.Bytes); kind != nil {
		t.addMetadata(kind, l.Bytes)
		return true
	}
	leading := leadingType(l.Bytes)
	if l.Cut || leading == "attachment" {
		return true
	}
	// Tool results are most of a transcript and tell nothing but that the session went on. Not parsing them saves a sixth of the
	// time of `list --tokens`.
	if !t.Full && leading == "user" && !t.calls.needsTime() {
		t.fork.started = true
		return true
	}
	record, ok := ParseRecord(l.Bytes)
	if !ok {
		return true
	}
	mainChain := record.IsSidechain == t.Sidechain
	if mainChain && t.IsProjectDir != nil {
		t.addDirectory(&record)
	}
	copied := t.fork.isCopy(&record)
	t.calls.recordTime(record.Timestamp)
	switch record.Type {
	case "user":
		if prompt, command := PromptOf(&record); prompt != "" && !command && mainChain {
			t.Turns++
		}
	case "assistant":
		if used, ok := record.AnswerUsage(); ok {
			if !copied {
				t.calls.addAnswer(&record, used)
			}
			if mainChain {
				t.context = used
			}
		}
		if t.IsProjectDir != nil && record.IsAPIErrorMessage && !copied {
			t.Quota = cmp.Or(quotaOf(&record), t.Quota)
		}
	case "system":
		if record.Subtype == "compact_boundary" && mainChain {
			t.context = compactedUsage(l.Bytes)
		}
	}
	return true
}

func (t *Totals) addMetadata(kind, raw []byte) {
	t.Metadata.add(kind, raw, true)
	if t.fork.datesSession(kind) {
		t.fork.addTime(TimeOf(raw))
	}
	if string(kind) == "cost-state" {
		t.calls.addReport(raw)
	}
	if t.IsProjectDir != nil && string(kind) == "permission-mode" {
		t.PermissionMode = cmp.Or(jsonl.Object(raw).Get("permissionMode").Text(0), t.PermissionMode)
	}
}

// addDirectory takes the directory that a record was written in, and the permission mode of its prompt.
func (t *Totals) addDirectory(l *Record) {
	t.PermissionMode = cmp.Or(l.PermissionMode, t.PermissionMode)
	if cwd := l.Cwd.Text(0); cwd != "" && cwd != t.cwd {
		if t.cwd = cwd; t.IsProjectDir(cwd) {
			t.Dir = cwd
		}
	}
}

// ReadSubagent adds the answers in a sub-agent's transcript.
func (t *Totals) ReadSubagent(f *fsread.File) error {
	_, err := f.Forward(0, 0, func(l fsread.Line) bool {
		leading := leadingType(l.Bytes)
		if l.Cut || leading == "attachment" || leading == "user" || metadataType(l.Bytes) != nil {
			return true
		}
		record, _ := ParseRecord(l.Bytes)
		if used, ok := record.AnswerUsage(); ok {
			t.calls.addAnswer(&record, used)
		}
		return true
	})
	return err
}
