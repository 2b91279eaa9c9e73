// Package search finds sessions by what was said in them, without an index. Sessions are read newest first, on all
// processors. Bytes of storage are skipped, undecoded, only where no message in them can match: see [Pattern.MayMatch].
package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"agentctl/discover"
)

// Query is what is searched for, and where.
type Query struct {
	Pattern *Pattern
	// Sessions selects the sessions.
	Sessions discover.SessionFilter
	// Role and Tool select the messages; "" for all.
	Role Role
	Tool string
	// MaxMatches is the most matching messages of a session that are kept, the newest ones; 0: all.
	MaxMatches int
	// Before and After are how many messages before and after a match are kept.
	Before, After int
	// Progress, if not nil, is told how many of the sessions have been searched.
	Progress func(searched, total int)
}

// Found is what the search of one session gave: matches, errors, or both.
type Found struct {
	discover.Session
	// Matches are the matching messages, the oldest first. There may be none.
	Matches []Match
	// Errors are [discover.Warning]s of what could not be read of the session.
	Errors []error
}

// Run searches the sessions, the newest first, and calls visit, from one goroutine, with each in which something matches or
// a part cannot be read, until visit returns false. warn gets the warnings of the scans. older is how many sessions were not
// searched because of Query.Sessions.Since. The error is as that of [discover.Scanner.List].
func Run(ctx context.Context, scanner *discover.Scanner, q Query, visit func(Found) bool, warn func([]*discover.Warning)) (older int, err error) {
	filter := discover.BatchFilter{SessionFilter: q.Sessions, Progress: q.Progress}
	if q.Pattern.words != nil {
		filter.MayMatch = q.Pattern.MayMatch
	}
	return scanner.ListBatches(ctx, filter, func(r discover.Result) bool {
		warn(r.Warnings)
		return q.searchBatch(ctx, scanner, r.Sessions, visit)
	})
}

// searchBatch searches sessions on all processors and visits them in their order. Few sessions wait to be visited, since what matches
// in one may take megabytes.
func (q *Query) searchBatch(ctx context.Context, scanner *discover.Scanner, sessions []discover.Session, visit func(Found) bool) (more bool) {
	ctx, cancel := context.WithCancel(ctx)
	next := make(chan int, len(sessions))
	var workers sync.WaitGroup
	defer workers.Wait()
	defer close(next)
	defer cancel()
	found := make([]chan Found, len(sessions))
	for i := range found {
		found[i] = make(chan Found, 1)
	}
	ahead := 4 * runtime.GOMAXPROCS(0)
	for i := range min(ahead, len(sessions)) {
		next <- i
	}
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				found[i] <- q.searchSession(ctx, scanner, sessions[i])
			}
		})
	}
	for i, c := range found {
		f := <-c
		if ctx.Err() == nil && len(f.Matches)+len(f.Errors) > 0 && !visit(f) {
			return false
		}
		if i+ahead < len(sessions) {
			next <- i + ahead
		}
	}
	return ctx.Err() == nil
}

// maxKeptBytes is the size of a session's matches, with their context, after which no older ones are kept.
const maxKeptBytes = 16 << 20

var errTooManyMatches = errors.New("older matches are left out: there are more than 16 MB of them")

// searchSession searches the messages of one session, from the newest to the oldest.
func (q *Query) searchSession(ctx context.Context, scanner *discover.Scanner, s discover.Session) Found {
	found := Found{Session: s}
	c := collector{query: q}
	for m, err := range scanner.MessagesWithin(ctx, s, math.MaxInt) {
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			found.Errors = append(found.Errors, err)
			continue
		}
		if !c.add(m) {
			break
		}
	}
	if c.bytes > maxKeptBytes {
		found.Errors = append(found.Errors, &discover.Warning{Agent: s.Agent, Path: s.Path, Err: errTooManyMatches})
	}
	found.Matches = c.oldestFirst()
	return found
}

// Role selects messages by who wrote them.
type Role string

// The roles. Tools are calls of them: their input and their output.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Match is a message in which something matches.
type Match struct {
	discover.Message
	Spans []FieldSpan
	// Before and After are the messages around it, the oldest first.
	Before, After []discover.Message
}

// Field is a part of a message.
type Field string

// The fields. FieldInput is a string in the input of a tool call.
const (
	FieldText   Field = "text"
	FieldInput  Field = "input"
	FieldOutput Field = "output"
)

// FieldSpan is one match.
type FieldSpan struct {
	Field Field
	// Text is what Span is a part of.
	Text string
	Span
}

// match returns the matches in a message.
func (q *Query) match(m discover.Message) (spans []FieldSpan) {
	find := func(field Field, text string) {
		for _, s := range q.Pattern.Find(text) {
			spans = append(spans, FieldSpan{field, text, s})
		}
	}
	switch {
	case !q.selects(m):
	case m.Tool == nil:
		find(FieldText, m.Text)
	default:
		if q.Pattern.MayMatch(m.Tool.Input) {
			for text := range jsonStrings(m.Tool.Input) {
				find(FieldInput, text)
			}
		}
		find(FieldOutput, m.Tool.Output)
	}
	return spans
}

// selects reports whether a message is searched. What the agent's program says of itself is not: errors, interruptions,
// compactions.
func (q *Query) selects(m discover.Message) bool {
	if m.Tool != nil {
		return (q.Role == "" || q.Role == Tool) && (q.Tool == "" || strings.EqualFold(q.Tool, m.Tool.Name))
	}
	return q.Tool == "" && m.Role != discover.RoleSystem && (q.Role == "" || string(q.Role) == string(m.Role))
}

// jsonStrings yields the strings of a JSON value, without the names of members; of a value that is no JSON the text itself.
func jsonStrings(raw json.RawMessage) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if !json.Valid(raw) {
			yield(string(raw))
			return
		}
		walkStrings(json.NewDecoder(bytes.NewReader(raw)), yield)
	}
}

// walkStrings yields the strings of the next value. It returns false once no more is to be read.
func walkStrings(d *json.Decoder, yield func(string) bool) bool {
	token, err := d.Token()
	if text, ok := token.(string); ok {
		return yield(text)
	}
	if begin, ok := token.(json.Delim); ok {
		for d.More() {
			if begin == '{' {
				_, _ = d.Token() // the name; the value is valid JSON
			}
			if !walkStrings(d, yield) {
				return false
			}
		}
		_, err = d.Token() // the end
	}
	return err == nil
}

// collector collects the matches of a session, whose messages come newest first.
type collector struct {
	query   *Query
	matches []Match            // the newest first
	newer   []discover.Message // the last messages, at most Query.After, the newest first
	open    int                // matches[len-open:] lack messages before them
	bytes   int
}

// add takes the next message and reports whether older ones matter.
func (c *collector) add(m discover.Message) (more bool) {
	for i := len(c.matches) - c.open; i < len(c.matches); i++ {
		c.matches[i].Before = append(c.matches[i].Before, m)
		if len(c.matches[i].Before) == c.query.Before {
			c.open--
		}
		c.bytes += m.Size()
	}
	if c.full() {
		return c.open > 0
	}
	if spans := c.query.match(m); len(spans) > 0 {
		c.matches = append(c.matches, Match{Message: m, Spans: spans, After: slices.Clone(c.newer)})
		c.bytes += m.Size()
		if c.query.Before > 0 {
			c.open++
		}
	}
	if n := c.query.After; n > 0 {
		c.newer = append(c.newer[max(0, len(c.newer)-n+1):], m)
	}
	return !c.full() || c.open > 0
}

// full reports whether no more matches are kept.
func (c *collector) full() bool {
	return c.bytes > maxKeptBytes || c.query.MaxMatches > 0 && len(c.matches) >= c.query.MaxMatches
}

// oldestFirst returns the matches in the order of the session.
func (c *collector) oldestFirst() []Match {
	slices.Reverse(c.matches)
	for i := range c.matches {
		slices.Reverse(c.matches[i].Before)
		slices.Reverse(c.matches[i].After)
	}
	return c.matches
}
