package transcript

import (
	"slices"
	"time"

	"agentctl/discover"
)

// messageOrder sorts messages, given newest record first, by time. Records are nearly sorted: a TUI's first write may put
// an answer before its prompt; the prompt of a compaction follows it, and so does what a compaction preserved in a fork. So
// messageOrder holds a message back until it has seen some more records and these are clearly older.
type messageOrder struct {
	waiting []bufferedMessage // the newest first
	last    time.Time         // the time of the newest line read
	read    int               // the number of records read
}

type bufferedMessage struct {
	discover.Message
	time time.Time
	read int
}

const (
	// writeSkew is more than the difference between the times of records of one write.
	writeSkew = 2 * time.Second
	// minWaiting and maxWaiting are how many records a message is held back for. The maximum bounds memory where a clock
	// was set back.
	minWaiting, maxWaiting = 8, 32
)

// add takes the messages of a record with this time and returns those that need not wait longer, newest first. If the time
// is zero, the messages belong right before the record that follows them in the file.
func (s *messageOrder) add(messages []discover.Message, at time.Time) (ready []discover.Message) {
	s.read++
	if !at.IsZero() {
		s.last = at
	} else if at = s.last; at.IsZero() {
		at = maxTime()
	}
	for _, m := range messages {
		i := len(s.waiting) // of two with the same time, the one read first is newer
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

// maxTime is later than the time of any record.
func maxTime() time.Time { return time.Unix(1<<40, 0) }

// isNewest reports whether no newer message can follow.
func (s *messageOrder) isNewest(w bufferedMessage) bool {
	return s.read-w.read >= minWaiting && w.time.Sub(s.last) > writeSkew
}

// overdue reports whether a message was held back for the maximum.
func (s *messageOrder) overdue() bool {
	return slices.ContainsFunc(s.waiting, func(w bufferedMessage) bool { return s.read-w.read >= maxWaiting })
}

// flush returns the messages that are still held back, newest first.
func (s *messageOrder) flush() (rest []discover.Message) {
	for _, w := range s.waiting {
		rest = append(rest, w.Message)
	}
	return rest
}
