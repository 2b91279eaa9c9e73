package transcript

import (
	"slices"
	"time"

	"agentctl/discover"
)

// messageOrder puts messages, given from the newest record back, into the order of time. Records are nearly in it: a TUI's
// first write may put an answer before its prompt, what a compaction was asked for by follows it, and so does what it
// preserved, in a fork. So a message waits until some more records are read, and what is read is clearly older than it.
type messageOrder struct {
	waiting []bufferedMessage // the newest first
	last    time.Time         // of the record read last
	read    int               // how many records were
}

type bufferedMessage struct {
	discover.Message
	time time.Time
	read int
}

const (
	// writeSkew older: records of one write differ by less.
	writeSkew = 2 * time.Second
	// minWaiting and maxWaiting are how many records a message waits for at least and at most: clocks may have been set
	// back, and memory is to be bounded.
	minWaiting, maxWaiting = 8, 32
)

// add takes the messages of a record of that time and returns what waits no longer, the newest first. Where the time is
// zero, those messages stand right before what follows them in the file.
func (s *messageOrder) add(messages []discover.Message, at time.Time) (ready []discover.Message) {
	s.read++
	if !at.IsZero() {
		s.last = at
	} else if at = s.last; at.IsZero() {
		at = maxTime()
	}
	for _, m := range messages {
		i := len(s.waiting) // of the same time, the one read first is the newest
		for i > 0 && s.waiting[i-1].time.Before(at) {
			i--
		}
		s.waiting = slices.Insert(s.waiting, i, bufferedMessage{m, at, s.read})
	}
	for len(s.waiting) > 0 && (s.isNewest(s.waiting[0]) || s.overdue()) {
		ready = append(ready, s.waiting[0].Message)
		s.waiting = s.waiting[1:]
	}
	return ready
}

// maxTime is after all times of records.
func maxTime() time.Time { return time.Unix(1<<40, 0) }

// isNewest reports whether nothing newer than a message is to come.
func (s *messageOrder) isNewest(w bufferedMessage) bool {
	return s.read-w.read >= minWaiting && w.time.Sub(s.last) > writeSkew
}

// overdue reports whether a message has waited for long enough.
func (s *messageOrder) overdue() bool {
	return slices.ContainsFunc(s.waiting, func(w bufferedMessage) bool { return s.read-w.read >= maxWaiting })
}

// flush are those that wait still.
func (s *messageOrder) flush() (rest []discover.Message) {
	for _, w := range s.waiting {
		rest = append(rest, w.Message)
	}
	return rest
}
