package cli

import (
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"time"

	"agentctl/discover"
)

// tracker remembers what of a session's transcript was printed. Each poll reads the transcript backwards until it meets
// enough known messages. No message is printed twice, and none is missed, even if the transcript is rewritten.
type tracker struct {
	seed maphash.Seed
	// tokens: a message is printed again when the tokens of its answer are stored, which may be later.
	tokens bool
	// seen has the known messages by ID, each with the hash of its last state.
	seen map[string]uint64
	// unfinished are the messages whose tool call may still change.
	unfinished map[string]bool
	// newest is the time of the newest known message.
	newest time.Time
	// complete: all messages of the first poll are known.
	complete bool
}

const (
	// overlap is how many known messages in a row end a poll. A message may be stored after newer ones, so that one is
	// not enough.
	overlap = 16
	// maxUnknown is how many unknown old messages in a row show that this is another transcript.
	maxUnknown = 1000
	// maxRemembered bounds the messages that are remembered.
	maxRemembered = 10_000
)

// update is a message that is new, or has changed since it was printed.
type update struct {
	discover.Message
	changed bool
}

// newTracker makes a tracker that knows no message.
func newTracker(tokens bool) *tracker {
	return &tracker{seed: maphash.MakeSeed(), tokens: tokens, seen: map[string]uint64{}, unfinished: map[string]bool{}, complete: true}
}

// last returns the last n messages of a transcript, the oldest first; all for n 0. It reads more of them, for later
// polls to meet. failed is called with read errors.
func (t *tracker) last(messages iter.Seq2[discover.Message, error], n, more int, failed func(error)) (last []update) {
	met, held := 0, 0
	for m, err := range messages {
		if err != nil {
			failed(err)
			continue
		}
		if held += m.Size(); held > transcriptLimit && len(last) > 0 {
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

// transcriptLimit bounds the messages in memory, in bytes.
const transcriptLimit = 48 << 20

// remember stores the state of a message.
func (t *tracker) remember(m discover.Message) {
	t.seen[m.ID] = t.sum(m)
	if m.Time.After(t.newest) {
		t.newest = m.Time
	}
	delete(t.unfinished, m.ID)
	if m.Tool != nil && slices.Contains([]discover.ToolState{discover.ToolOpen, discover.ToolRunning, discover.ToolWaiting}, m.Tool.State) {
		t.unfinished[m.ID] = true
	}
}

// sum is the hash of what a message is printed again for.
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

// poll returns the new and changed messages, the oldest first.
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

// isNew reports whether an unknown message is new since the last poll. Other unknown messages are older than the first
// poll, or of another transcript. i is its index; no message from index last on is known.
func (t *tracker) isNew(m discover.Message, i, last int) bool {
	return len(t.seen) == 0 || i < last || t.complete && last > 0 || m.Time.After(t.newest)
}

// walk reads backwards. met are the messages, the newest first; none from index last on is known. settled reports that
// enough known messages were met: those not met are older, or removed.
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
