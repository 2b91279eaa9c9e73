package claudecode

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// totalsReader is what only a whole transcript tells: the tokens that a session used, and with Full the rest as well. One message of
// the API is written as several records with the same usage, the last of which is complete, so the last one of each message and
// request counts (SEEN in all versions). Answers that a fork copied do not count.
type totalsReader struct {
	Sidechain bool // it is a sub-agent's transcript
	Full      bool // more than tokens is asked for
	// Project is the name of the session's project folder; "" where Dir, Quota and PermissionMode are not asked for.
	Project string

	Turns          int             // prompts
	Quota          *discover.Quota // the newest
	Dir            string          // the newest directory that the project folder is that of
	PermissionMode string          // of the newest prompt, or chosen since

	Metadata     metadata
	metadataFrom int64 // the offset from which metadata counts

	damage   storage.Damage
	lost     []error // warnings of damage
	calls    callUsage
	answers  openAnswers
	prompts  map[string]bool   // the UUIDs of the prompts so far
	replayed map[string]callID // answers of the session, which its side questions (/btw) repeat
	fork     forkDetector
	context  discover.Tokens // of the newest main-chain message
	cwd      string          // the newest record's directory
}

// Read reads the session's transcript.
func (t *totalsReader) Read(f *storage.File) error {
	t.metadataFrom = f.Size() - metadataReach
	_, err := f.Parse(0, parser(t.add))
	t.addDamage(f)
	t.replayed = t.answers.named
	return err
}

// addDamage takes the damage of a file that was read.
func (t *totalsReader) addDamage(f *storage.File) {
	if err := t.damage.In(f); err != nil {
		t.lost, t.damage = append(t.lost, warning(f.Path(), err)), storage.Damage{}
	}
}

// Fork reports whether the transcript has answers that --fork-session copied, and the session that they were copied from where
// they name it (2.1.329). What the agent reports as the session's usage has that session's part in it then, and no longer counts.
func (t *totalsReader) Fork() (origin string, ok bool) {
	if t.fork.unmarked {
		t.calls.reports = nil
	}
	return t.fork.origin, t.fork.unmarked
}

// errTooManyCalls is the error of a transcript with more calls of the model than are counted.
var errTooManyCalls = errors.New("its tokens are not known: it has more calls of the model than are counted")

// fillUsage sets what the session used; nothing before the first answer, when nothing is known, which is not 0.
func (t *totalsReader) fillUsage(u *sessionUsage) error {
	switch {
	case t.calls.overflow:
		return errTooManyCalls
	case len(t.calls.calls) == 0:
		return nil
	}
	u.calls, u.Usage = t.calls.answers()
	sum := discover.Tokens{}
	for i := range u.Usage {
		a := &u.Usage[i]
		sum = sum.Plus(a.Tokens)
		if i >= len(u.calls) && a.Tokens.Total > 0 {
			a.From = u.Created
		}
	}
	sum.Context = contextSize(t.context)
	u.Tokens = &sum
	return nil
}

// add takes the next record, or the rest of one.
func (t *totalsReader) add(l storage.Line, r *rawLine) bool {
	switch {
	case l.Rest:
		t.damage.Add(l)
		return true
	case r == nil || r.Type == "attachment":
		return true
	case r.isMetadata():
		if t.addMetadata(r); l.Offset >= t.metadataFrom {
			t.Metadata.add(r, true)
		}
		return true
	}
	mainChain := r.IsSidechain == t.Sidechain
	if mainChain && t.Project != "" {
		t.addDirectory(r)
	}
	copied := t.fork.isCopy(r)
	t.calls.recordTime(r.Timestamp)
	switch r.Type {
	case "user":
		t.answers.addUser(r)
		if t.Full && mainChain && t.beginsTurn(r) {
			t.Turns++
		}
	case "assistant":
		if used, ok := r.AnswerUsage(); ok {
			if call := t.answers.callID(r, used); !copied {
				t.calls.addAnswer(call, r, used)
			}
			if mainChain {
				t.context = used
			}
		}
		if t.Project != "" && r.IsAPIErrorMessage && !copied {
			t.Quota = cmp.Or(quotaOf(r), t.Quota)
		}
	case "system":
		if r.Subtype == "compact_boundary" && mainChain { // the context after a compaction, as the agent reports it; zero if it does not
			t.context = discover.Tokens{In: r.Get("compactMetadata").Object().Get("postTokens").Int()}
		}
	}
	return true
}

// beginsTurn reports whether a record has a prompt, and none with this UUID was read: Claude Code stores some again.
func (t *totalsReader) beginsTurn(line *rawLine) bool {
	if prompt, command := promptOf(line); prompt == "" || command {
		return false
	}
	id := line.UUID.Text(maxCallID)
	if id == "" || len(t.prompts) == maxCalls {
		return true
	}
	if t.prompts == nil {
		t.prompts = map[string]bool{}
	}
	known := t.prompts[id]
	t.prompts[id] = true
	return !known
}

func (t *totalsReader) addMetadata(line *rawLine) {
	t.fork.addMetadata(line)
	if line.Type == "cost-state" {
		t.calls.addReport(line.Object)
	}
	if t.Project != "" && line.Type == "permission-mode" {
		t.PermissionMode = cmp.Or(line.PermissionMode, t.PermissionMode)
	}
}

// addDirectory takes the directory that a record was written in, and the permission mode of its prompt.
func (t *totalsReader) addDirectory(line *rawLine) {
	t.PermissionMode = cmp.Or(line.PermissionMode, t.PermissionMode)
	if cwd := line.Cwd.Text(0); cwd != "" && cwd != t.cwd {
		if t.cwd = cwd; isSlugOf(t.Project, cwd) {
			t.Dir = cwd
		}
	}
}

// ReadSubagent adds the answers in a sub-agent's transcript.
func (t *totalsReader) ReadSubagent(f *storage.File) error {
	t.answers = openAnswers{replayed: t.replayed}
	_, err := f.Parse(0, parser(func(l storage.Line, r *rawLine) bool {
		if l.Rest {
			t.damage.Add(l)
		}
		if r == nil {
			return true
		}
		t.answers.addUser(r)
		if used, ok := r.AnswerUsage(); ok {
			t.calls.addAnswer(t.answers.callID(r, used), r, used)
		}
		return true
	}))
	t.addDamage(f)
	return err
}

// callUsage adds up what the calls of the model in a session used: the recorded calls, and the totals that the agent
// reports, which include calls that are not recorded (for titles, for summaries).
type callUsage struct {
	calls    map[callID]timedUsage
	overflow bool      // there are more calls than the bounds allow
	newest   time.Time // the time of the newest call
	model    string    // of the newest call
	reports  []report  // the totals that the agent reported (cost-state, since 2.1.280), oldest first
}

// timedUsage is what a call used, and when it was recorded.
type timedUsage struct {
	discover.Tokens
	at    time.Time
	model string
}

// maxCalls bounds the calls of one session, and maxCallID the characters of an ID that are kept: 100 MB in all.
const (
	maxCalls  = 1 << 18
	maxCallID = 100
)

// addAnswer takes what an answer used. It replaces an earlier record of the same call. What other models used for it counts beside it:
// an advisor that the model asked, a compaction on the server. The API's counts of the answer leave those iterations out.
func (c *callUsage) addAnswer(call callID, line *rawLine, used discover.Tokens) {
	at := line.Timestamp.Time()
	if at.After(c.newest) {
		c.newest = at
	}
	if model := line.Model.Text(maxCallID); model != c.model { // else there is one string for all
		c.model = model
	}
	c.set(call, timedUsage{used, at, c.model})
	n := 0
	for v := range line.usageValue.Object().Get("iterations").Elements() {
		switch o := v.Object(); o.Get("type").Text(maxCallID) {
		case "advisor_message", "compaction":
			n++
			c.set(newCallID(fmt.Sprint(call), fmt.Sprint(n)), timedUsage{usageOf(o), at, cmp.Or(o.Get("model").Text(maxCallID), c.model)})
		}
	}
}

func (c *callUsage) set(call callID, used timedUsage) {
	if c.calls == nil {
		c.calls = map[callID]timedUsage{}
	}
	if _, known := c.calls[call]; !known && len(c.calls) == maxCalls {
		c.overflow = true
		return
	}
	c.calls[call] = used
}

// contextSize is the size of the context of a call.
func contextSize(u discover.Tokens) int64 { return u.In + u.CacheRead + u.CacheWrite }

// withTotal returns what calls used with its sum, which the API does not count.
func withTotal(u discover.Tokens) discover.Tokens {
	u.Total = contextSize(u) + u.Out
	return u
}

// callID identifies a call of the model: the hash of the IDs of its message and its request. 0 is none.
type callID uint64

func newCallID(message, request string) callID {
	h := fnv.New64a()
	_, _ = io.WriteString(h, message+"\n"+request) // never fails
	return callID(h.Sum64())
}

// openAnswers tells which records are of one answer, read in either direction. The IDs of message and request say so; without a request
// ID, the message's may be that of every answer, or be missing: some gateways make it up. Then an answer ends with a prompt, and with the
// result of a call if what the model read differs, and is identified by the record that was read first.
type openAnswers struct {
	named     map[string]callID        // by the message's ID: the answers with a request ID
	replayed  map[string]callID        // by the message's ID: those that a sub-agent's transcript may repeat without a request ID
	matter    bool                     // an answer without a request ID was read
	byMessage map[string]unnamedAnswer // since the last prompt
	results   int                      // how many results of calls were read
}

// maxUnnamed is how many of these answers are kept: few records of other answers are between those of one.
const maxUnnamed = 8

type unnamedAnswer struct {
	call    callID
	used    discover.Tokens
	results int // that were read before its last record
}

// addUser takes the next record, which may be a prompt or the result of a call.
func (o *openAnswers) addUser(line *rawLine) {
	switch {
	case line.Type != "user" || !o.matter:
	case hasBlock(line.Content, "tool_result"):
		o.results++
	default:
		clear(o.byMessage)
	}
}

// callID returns the call that the next record, an answer's, is part of.
func (o *openAnswers) callID(line *rawLine, used discover.Tokens) callID {
	message := line.ID.Text(maxCallID)
	if isUnique(message, "msg_") {
		return newCallID(message, "")
	}
	if request := line.Get("requestId").Text(maxCallID); request != "" {
		if o.named == nil {
			o.named = map[string]callID{}
		}
		call := newCallID(message, request)
		if message != "" && len(o.named) < maxCalls {
			o.named[message] = call
		}
		return call
	}
	if call := o.replayed[message]; call != 0 {
		return call
	}
	open, ok := o.byMessage[message]
	sameInput := used.In == open.used.In && used.CacheRead == open.used.CacheRead && used.CacheWrite == open.used.CacheWrite
	if !ok || !sameInput && (message == "" || o.results > open.results) {
		open.call = newCallID(message, "record "+cmp.Or(line.UUID.Text(maxCallID), fmt.Sprint(line.Timestamp.Text(maxCallID), used)))
	}
	if o.byMessage == nil || len(o.byMessage) == maxUnnamed {
		o.byMessage = map[string]unnamedAnswer{}
	}
	o.matter, o.byMessage[message] = true, unnamedAnswer{open.call, used, o.results}
	return open.call
}

// AnswerUsage returns what an answer of the model used. ok is false for other records, and without a usage.
func (r *rawLine) AnswerUsage() (used discover.Tokens, ok bool) {
	if r.Type == "assistant" && !r.synthetic() {
		used = usageOf(r.usageValue.Object())
	}
	return used, used != discover.Tokens{}
}

// quotaOf returns what an error in place of an answer says of a limit; nil if it has another cause. 2.1.329 records the end
// of the limit in members of their own. The text of newer notices has only a time of day, which is not interpreted.
func quotaOf(line *rawLine) *discover.Quota {
	if line.Get("error").Text(0) != "rate_limit" {
		return nil
	}
	limits := line.Get("quotaLimits").Object()
	q := &discover.Quota{
		Name: limits.Get("rateLimitType").Text(0), Reached: true,
		Text: textOf(line.Content, 0), Time: line.Timestamp.Time(),
	}
	if limits != nil {
		q.Reached = limits.Get("status").Text(0) == "rejected"
	}
	if seconds := limits.Get("resetsAt").Int(); seconds > 0 && seconds <= 1<<33 {
		q.Resets = time.Unix(seconds, 0).UTC()
	}
	return q
}
