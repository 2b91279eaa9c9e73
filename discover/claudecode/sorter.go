package claudecode

import (
	"slices"
	"time"

	"agentctl/discover"
)

// sorter puts messages, given from the newest record back, into the order of time. Records are nearly in it: a TUI's
// first write may put an answer before its prompt, and what a compaction was asked for by follows it. So a message waits
// until what is read is clearly older than it.
type sorter struct {
	waiting []waiting // the newest first
	last    time.Time // of the record read last
	read    int       // how many records were
}

type waiting struct {
	discover.Message
	time time.Time
	read int
}

const (
	// clearly older: records of one write differ by less.
	clearly = 2 * time.Second
	// maxWaiting is how many records a message waits for at most: clocks may have been set back. It bounds the memory, too.
	maxWaiting = 32
)

// next takes the messages of a record of that time, which is zero where it has none, and returns what waits no longer,
// the newest first.
func (s *sorter) next(messages []discover.Message, at time.Time) (ready []discover.Message) {
	s.read++
	if !at.IsZero() {
		s.last = at
	}
	for _, m := range messages {
		w := waiting{m, m.Time, s.read}
		if w.time.IsZero() {
			w.time = s.last
		}
		i := len(s.waiting) // of the same time, the one read first is the newest
		for i > 0 && s.waiting[i-1].time.Before(w.time) {
			i--
		}
		s.waiting = slices.Insert(s.waiting, i, w)
	}
	for len(s.waiting) > 0 && (s.waiting[0].time.Sub(s.last) > clearly || s.overdue()) {
		ready = append(ready, s.waiting[0].Message)
		s.waiting = s.waiting[1:]
	}
	return ready
}

// overdue reports whether a message has waited for long enough.
func (s *sorter) overdue() bool {
	return slices.ContainsFunc(s.waiting, func(w waiting) bool { return s.read-w.read >= maxWaiting })
}

// rest are those that wait still.
func (s *sorter) rest() (rest []discover.Message) {
	for _, w := range s.waiting {
		rest = append(rest, w.Message)
	}
	return rest
}
