package messages

import (
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"time"

	"agentctl/discover"
)

// tracker is what of a session's transcript is known: each look reads it backwards from its end until it has met enough of
// that. Nothing is told twice, and nothing is left out, whatever is done to the transcript meanwhile.
type tracker struct {
	seed maphash.Seed
	// tokens: a message is told again for what its answer took, which may be stored after it.
	tokens bool
	// seen are the messages known, each as it was seen last.
	seen map[string]uint64
	// unfinished are those of them whose call may get further.
	unfinished map[string]bool
	// newest is the time of the newest one.
	newest time.Time
	// complete: all that was there at the first look is known.
	complete bool
}

const (
	// overlap is how many messages in a row have to be known for nothing new to be expected behind them: a message may come
	// before some that were stored sooner.
	overlap = 16
	// maxUnknown is how many old messages in a row may be unknown before it is clear that this is another transcript.
	maxUnknown = 1000
	// maxRemembered is how many messages are remembered.
	maxRemembered = 10_000
)

// update is a message that has come, or has changed since it was told.
type update struct {
	discover.Message
	changed bool
}

// newTracker knows nothing yet.
func newTracker(tokens bool) *tracker {
	return &tracker{seed: maphash.MakeSeed(), tokens: tokens, seen: map[string]uint64{}, unfinished: map[string]bool{}, complete: true}
}

// last returns the last n messages of a transcript as it is now, the oldest first; 0 is all. It takes more of them for
// looks to come to meet. failed is told of what cannot be read.
func (t *tracker) last(messages iter.Seq2[discover.Message, error], n, more int, failed func(error)) (last []update) {
	met, held := 0, 0
	for m, err := range messages {
		if err != nil {
			failed(err)
			continue
		}
		if held += size(m); held > transcriptLimit && len(last) > 0 {
			failed(fmt.Errorf("older messages are left out: the newest %d take up %d MB already", len(last), transcriptLimit>>20))
			t.complete = false
			break
		}
		if n == 0 || len(last) < n {
			last = append(last, update{m, false})
		}
		t.remember(m)
		if met++; n > 0 && met >= n+more {
			t.complete = false
			break
		}
	}
	slices.Reverse(last)
	return last
}

// transcriptLimit bounds the messages that are in memory at once, in bytes.
const transcriptLimit = 48 << 20

// size is how many bytes a message has in memory, about.
func size(m discover.Message) int {
	n := len(m.Text)
	if m.Tool != nil {
		n += len(m.Tool.Input) + len(m.Tool.Summary) + len(m.Tool.Output)
	}
	return n
}

// remember remembers a message as it is.
func (t *tracker) remember(m discover.Message) {
	t.seen[m.ID] = t.sum(m)
	if m.Time.After(t.newest) {
		t.newest = m.Time
	}
	delete(t.unfinished, m.ID)
	if m.Tool != nil && unfinished(m.Tool.State) {
		t.unfinished[m.ID] = true
	}
}

func unfinished(s discover.ToolState) bool {
	return s == discover.ToolOpen || s == discover.ToolRunning || s == discover.ToolWaiting
}

// sum is what a message is told again for if it is another one.
func (t *tracker) sum(m discover.Message) uint64 {
	var is maphash.Hash
	is.SetSeed(t.seed)
	if m.Tool != nil {
		is.WriteString(string(m.Tool.State))
	} else {
		is.WriteString(m.Text)
	}
	if t.tokens && m.Tokens != nil {
		maphash.WriteComparable(&is, *m.Tokens)
	}
	return is.Sum64()
}

// poll returns what has come and what has changed, the oldest first.
func (t *tracker) poll(messages iter.Seq2[discover.Message, error], failed func(error)) (out []update) {
	torn := false
	met, last, settled := t.walk(messages, func(err error) { torn = true; failed(err) })
	if torn && last == 0 && len(t.seen) > 0 {
		return nil // what is missing may belong between; the next look tells
	}
	for i, m := range slices.Backward(met) {
		was, known := t.seen[m.ID]
		if !known && t.isNew(m, i, last) || known && was != t.sum(m) {
			out = append(out, update{m, known})
		}
	}
	if settled && !torn {
		clear(t.unfinished) // those that it has not met are gone
		if len(t.seen) > maxRemembered {
			clear(t.seen)
			t.complete = false
		}
	}
	for _, m := range met {
		t.remember(m)
	}
	return out
}

// isNew reports whether an unknown message has come since the last look: the others are older than what was taken at the
// first one, or another transcript's. i is its place, behind the first last of which nothing is known.
func (t *tracker) isNew(m discover.Message, i, last int) bool {
	return len(t.seen) == 0 || i < last || t.complete && last > 0 || m.Time.After(t.newest)
}

// walk reads backwards. met are the messages, the newest first; behind the first last of them none is known. settled: it
// has met enough that is known, so that what it has not met is older, or gone.
func (t *tracker) walk(messages iter.Seq2[discover.Message, error], failed func(error)) (met []discover.Message, last int, settled bool) {
	known, row, old := 0, 0, 0
	open := len(t.unfinished)
	for m, err := range messages {
		if err != nil {
			failed(err)
			continue
		}
		met = append(met, m)
		if _, ok := t.seen[m.ID]; ok {
			known, row, old, last = known+1, row+1, 0, len(met)
			if t.unfinished[m.ID] {
				open--
			}
		} else if row = 0; !m.Time.After(t.newest) {
			old++
		}
		settled = settled || row >= overlap
		if settled && (open <= 0 || known >= len(t.seen) || old >= overlap) || old >= maxUnknown {
			break
		}
	}
	return met, last, settled
}
