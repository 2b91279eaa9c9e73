package transcript

import (
	"time"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// Answer is what an answer used, as Codex counts it: input includes what was read from the cache, output the reasoning.
type Answer struct {
	// Time is when it was recorded. With From it is what only the total has, and was used between the two.
	Time, From time.Time
	Model      string // "" if the rollout does not say
	Tokens     discover.Tokens
}

// Answers are the answers of a rollout, by both of the totals that Codex records; see [Totals].
type Answers struct{ records, counts answerList }

// answerList is a list of answers and their sum.
type answerList struct {
	all []Answer
	sum discover.Tokens
}

func (l *answerList) add(a Answer) {
	if InAndOut(a.Tokens) > 0 {
		l.all, l.sum = append(l.all, a), AddTokens(l.sum, a.Tokens)
	}
}

// Larger returns the answers by the larger total, and that total.
func (a *Answers) Larger() ([]Answer, discover.Tokens) {
	if InAndOut(a.records.sum) >= InAndOut(a.counts.sum) {
		return a.records.all, a.records.sum
	}
	return a.counts.all, a.counts.sum
}

// ReadAnswers reads the answers of a rollout, without those that it has inherited.
func ReadAnswers(f *fsread.File, h *Head) (Answers, error) {
	x := answerReader{thread: h.ThreadID()}
	if h.Meta.HasBase() {
		inherited, err := readInherited(f, x.thread)
		if err != nil {
			return Answers{}, err
		}
		x.count, x.from = inherited.counts, inherited.firstOwn
	}
	_, err := f.Forward(0, 0, x.addLine)
	return x.Answers, err
}

// answerReader reads the answers of a rollout. Records come oldest first.
type answerReader struct {
	Answers
	thread string
	from   int64           // older records are copies of another thread's
	model  string          // of the turn
	count  discover.Tokens // the newest count
}

func (x *answerReader) addLine(l fsread.Line) bool {
	r, ok := Decode(l.Bytes, x.thread)
	switch {
	case !ok || l.Offset < x.from:
	case r.Kind == TurnContext && r.Complete(l.Bytes):
		x.model = r.Get("model").Text(0)
	case r.Kind == TokenUsageRecord && r.Complete(l.Bytes):
		x.records.add(Answer{Time: r.Time(), Model: x.model, Tokens: parseTokens(r.Get("usage").Object())})
	case r.Kind == TokenCount && r.Complete(l.Bytes):
		x.addCount(&r, r.Get("info").Object())
	}
	return true
}

// addCount adds a count, which may repeat the one before it. If only its total is set, the context was full, and the counts start
// again.
func (x *answerReader) addCount(r *Record, info jsonl.Object) {
	if len(info) == 0 || info[0] != '{' {
		return
	}
	total := parseTokens(info.Get("total_token_usage").Object())
	used := SubtractTokens(total, x.count)
	if InAndOut(total) > 0 {
		x.counts.add(Answer{Time: r.Time(), Model: x.model, Tokens: used})
	}
	x.count = total
}
