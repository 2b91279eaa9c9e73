package pi

import (
	"context"
	"iter"
	"strconv"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// ReadUsage reads whole files.
func (Adapter) ReadUsage(ctx context.Context, entries []discover.Entry) iter.Seq2[*discover.SessionUsage, error] {
	return discover.ReadUsages(ctx, entries, readerOf(discover.ReadOptions{Tokens: true}))
}

// totals is what only the whole file says. Entries come oldest first.
type totals struct {
	created time.Time
	// forked: the session was copied from another one. The copies keep their times, which are before the session was made.
	forked bool

	usage   []discover.Usage
	context int64 // of the newest answer
	name    string
	turns   int
	damage  storage.Damage
}

func (t *totals) read(f *storage.File) error {
	_, err := f.Records(0, func(l storage.Line) bool {
		e, ok := parseEntry(l.Bytes)
		if l.Rest || !ok {
			t.damage.Add(l)
		} else {
			t.add(&e)
		}
		return true
	})
	return err
}

func (t *totals) add(e *entry) {
	switch {
	case e.Type == typeInfo:
		t.name = e.name()
	case e.Role == roleUser:
		t.turns++
	}
	of, at := e.Object, e.Timestamp.Time() // a summary, or usage that is no message's
	if e.Type == typeMessage {
		of = e.message
	}
	used := of.Get("usage").Object()
	tokens, ok := tokensOf(used)
	if !ok {
		return
	}
	if e.Role == roleAssistant {
		t.context = tokens.Total
	}
	if t.forked && at.Before(t.created) {
		return
	}
	cost, err := strconv.ParseFloat(string(used.Get("cost").Object().Get("total").Raw()), 64)
	t.usage = append(t.usage, discover.Usage{Time: at, Model: of.Get("model").Text(0), Tokens: tokens, Cost: cost, CostKnown: err == nil && cost >= 0})
}

// fill adds the totals to a record.
func (t *totals) fill(r *discover.Record, full bool) {
	if full {
		r.SetMeta("turns", t.turns)
	}
	if len(t.usage) == 0 && t.context == 0 {
		return
	}
	var sum discover.Tokens
	cost, known := 0.0, len(t.usage) > 0
	for _, u := range t.usage {
		sum = sum.Plus(u.Tokens)
		cost, known = cost+u.Cost, known && u.CostKnown
	}
	sum.Context = t.context
	r.Tokens = &sum
	if known {
		r.Cost = &cost
	}
}
