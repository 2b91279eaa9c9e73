package claudecode

import (
	"slices"
	"time"

	"agentctl/discover"
)

// sorter puts messages, given from the newest record back, into the order of time. Records are nearly in it: a TUI's
// first write may put an answer before its prompt, what a compaction was asked for by follows it, and so does what it
// preserved, in a fork. So a message waits until some more records are read, and what is read is clearly older than it.
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
	// minWaiting and maxWaiting are how many records a message waits for at least and at most: clocks may have been set
	// back, and memory is to be bounded.
	minWaiting, maxWaiting = 8, 32
)

// next takes the messages of a record of that time and returns what waits no longer, the newest first. Where the time is
// zero, those messages stand right before what follows them in the file.
func (s *sorter) next(messages []discover.Message, at time.Time) (ready []discover.Message) {
	s.read++
	if !at.IsZero() {
		s.last = at
	} else if at = s.last; at.IsZero() {
		at = farAhead()
	}
	for _, m := range messages {
		i := len(s.waiting) // of the same time, the one read first is the newest
		for i > 0 && s.waiting[i-1].time.Before(at) {
			i--
		}
		s.waiting = slices.Insert(s.waiting, i, waiting{m, at, s.read})
	}
	for len(s.waiting) > 0 && (s.past(s.waiting[0]) || s.overdue()) {
		ready = append(ready, s.waiting[0].Message)
		s.waiting = s.waiting[1:]
	}
	return ready
}

// farAhead is after all times of records.
func farAhead() time.Time { return time.Unix(1<<40, 0) }

// past reports whether nothing newer than a message is to come.
func (s *sorter) past(w waiting) bool {
	return s.read-w.read >= minWaiting && w.time.Sub(s.last) > clearly
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
