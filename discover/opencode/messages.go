package opencode

import (
	"context"
	"iter"
	"strings"
	"time"

	"agentctl/discover"
)

// Messages yields what was said in a session, newest first. One message is made of each part that belongs to the dialogue, and
// one of an answer's error. It is read from the end: a few messages at a look at the database, or file by file.
func (Adapter) Messages(ctx context.Context, r discover.Record) iter.Seq2[discover.Message, error] {
	if strings.HasSuffix(r.Path, ".json") {
		return inTimeOrder(legacyPathsOf(r.Path, r.ID).eachMessage(ctx))
	}
	return inTimeOrder(databaseMessages(ctx, r))
}

// item is a message in the order of the store, or what could not be read there.
type item struct {
	discover.Message
	answer string // the id of the model's answer that it is part of; "" for what the person said
	err    error
}

// maxDelayed is the most messages of the person that are held back in search of their place.
const maxDelayed = 100

// inTimeOrder puts what the person said in its place: it may have been said while an answer was on its way, which begins before
// it and ends after it. The agent works at one answer at a time, so that none but the last one begun before can be that.
func inTimeOrder(all iter.Seq[item]) iter.Seq2[discover.Message, error] {
	return func(yield func(discover.Message, error) bool) {
		var held []discover.Message // what the person said last, newest first
		release := func(since time.Time) bool {
			for len(held) > 0 && !held[0].Time.Before(since) {
				if !yield(held[0], nil) {
					return false
				}
				held = held[1:]
			}
			return true
		}
		answer := ""
		for s := range all {
			if s.err != nil {
				if !yield(discover.Message{}, s.err) {
					return
				}
				continue
			}
			if s.answer == "" {
				if held = append(held, s.Message); len(held) > maxDelayed && !release(held[0].Time) {
					return
				}
				continue
			}
			since := s.Time
			if answer != "" && answer != s.answer {
				since = time.Time{} // all was said after that one
			}
			if answer = s.answer; !release(since) || !yield(s.Message, nil) {
				return
			}
			if len(held) == 0 {
				answer = "" // nothing waits for its beginning
			}
		}
		release(time.Time{})
	}
}
