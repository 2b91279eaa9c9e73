package opencode

import (
	"iter"
	"time"

	"agentctl/discover"
)

// maxDelayed is the largest number of the user's messages that are held back at a time.
const maxDelayed = 100

// inTimeOrder sorts messages, given newest first in the order of storage, by time. A message that the user sends during an answer is
// stored after the whole answer. inTimeOrder holds the user's messages back until it reaches an older part of an answer. The agent writes
// one answer at a time, so a message can only be inside of the last answer that began before it.
func inTimeOrder(items iter.Seq[transcriptItem]) iter.Seq2[discover.Message, error] {
	return func(yield func(discover.Message, error) bool) {
		var held []discover.Message // the user's, newest first
		release := func(since time.Time) bool {
			for len(held) > 0 && !held[0].Time.Before(since) {
				if !yield(held[0], nil) {
					return false
				}
				held = held[1:]
			}
			return true
		}
		answer := "" // the one that the held messages may belong into
		for m := range items {
			if m.Err != nil {
				if !yield(discover.Message{}, m.Err) {
					return
				}
				continue
			}
			if m.answer == "" {
				if held = append(held, m.Message); len(held) > maxDelayed && !release(held[0].Time) {
					return
				}
				continue
			}
			since := m.Time
			if answer != "" && answer != m.answer {
				since = time.Time{} // an older answer: all held messages are newer
			}
			if answer = m.answer; !release(since) || !yield(m.Message, nil) {
				return
			}
			if len(held) == 0 {
				answer = ""
			}
		}
		release(time.Time{})
	}
}
