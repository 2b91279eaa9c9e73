package codex

import (
	"time"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// answerUsage is what an answer used, as Codex counts it: input includes what was read from the cache, output the reasoning.
type answerUsage struct {
	// Time is when it was recorded. With From it is what only the total has, and was used between the two.
	Time, From time.Time
	Model      string // "" if the rollout does not say
	Tokens     discover.Tokens
}

// answersByTotal are the answers of a rollout, by both of the totals that Codex records; see [twoTotals].
type answersByTotal struct{ records, counts answerList }

// answerList is a list of answers and their sum.
type answerList struct {
	all []answerUsage
	sum discover.Tokens
}

func (l *answerList) add(a answerUsage) {
	if inAndOut(a.Tokens) > 0 {
		l.all, l.sum = append(l.all, a), addTokens(l.sum, a.Tokens)
	}
}

// Larger returns the answers by the larger total, and that total.
func (a *answersByTotal) Larger() ([]answerUsage, discover.Tokens) {
	if inAndOut(a.records.sum) >= inAndOut(a.counts.sum) {
		return a.records.all, a.records.sum
	}
	return a.counts.all, a.counts.sum
}

// readAnswers reads the answers of a rollout, without those that it has inherited.
func readAnswers(f *fsread.File, h *rolloutHead) (answersByTotal, error) {
	x := answerReader{thread: h.ThreadID()}
	if h.Meta.HasBase() {
		inherited, err := readInherited(f, x.thread)
		if err != nil {
			return answersByTotal{}, err
		}
		x.count, x.from = inherited.counts, inherited.firstOwn
	}
	_, err := f.Forward(0, 0, x.addLine)
	return x.answersByTotal, err
}

// answerReader reads the answers of a rollout. Records come oldest first.
type answerReader struct {
	answersByTotal
	thread string
	from   int64           // older records are copies of another thread's
	model  string          // of the turn
	count  discover.Tokens // the newest count
}

func (x *answerReader) addLine(l fsread.Line) bool {
	r, ok := decodeRecord(l.Bytes, x.thread)
	switch {
	case !ok || l.Offset < x.from:
	case r.Kind == kindTurnContext && r.Complete(l.Bytes):
		x.model = r.Get("model").Text(0)
	case r.Kind == kindTokenUsage && r.Complete(l.Bytes):
		x.records.add(answerUsage{Time: r.Time(), Model: x.model, Tokens: parseTokens(r.Get("usage").Object())})
	case r.Kind == kindTokenCount && r.Complete(l.Bytes):
		x.addCount(&r, r.Get("info").Object())
	}
	return true
}

// addCount adds a count, which may repeat the one before it. If only its total is set, the context was full, and the counts start
// again.
func (x *answerReader) addCount(r *rolloutRecord, info jsonl.Object) {
	if len(info) == 0 || info[0] != '{' {
		return
	}
	total := parseTokens(info.Get("total_token_usage").Object())
	used := subtractTokens(total, x.count)
	if inAndOut(total) > 0 {
		x.counts.add(answerUsage{Time: r.Time(), Model: x.model, Tokens: used})
	}
	x.count = total
}
