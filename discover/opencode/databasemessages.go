package opencode

import (
	"context"
	"fmt"
	"iter"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
	"agentctl/discover/native/sqlite"
)

// A look at a database takes some messages: the first as many as are mostly asked for, later ones more, and none more bytes
// than may be held.
const (
	firstBatch    = 24
	maxBatch      = 400
	maxBatchBytes = 4 << 20
)

// cursor is the message, or the part of one, that was read last; the zero place is behind all.
type cursor struct {
	time          int64
	message, part string
}

// afterAllParts is a place behind the last part of a message.
const afterAllParts = "~"

// messageBatch is one look at the transcript of a session.
type messageBatch struct {
	*database
	builder builder
	cursor  cursor
	limit   int // of messages
	items   []item
	bytes   int
}

// databaseMessages yields what a session's rows say, newest first. What was read is given only once it is known to have been read
// undisturbed, so that a look ends before anything of it is.
func databaseMessages(ctx context.Context, r discover.Record) iter.Seq[item] {
	return func(yield func(item) bool) {
		var last messageBatch
		for limit := firstBatch; ; limit = min(2*limit, maxBatch) {
			g := messageBatch{limit: limit} // which it stays where there are no tables any more
			err := readDatabase(ctx, r.Home, r.Path, func(st *database) {
				g = messageBatch{database: st, builder: last.builder, cursor: last.cursor, limit: limit}
				g.read(r.ID)
			})
			if err != nil && !isDamage(err) {
				if !fsread.IsNotExist(err) {
					yield(item{err: newWarning(r.Path, err)})
				}
				return
			}
			for _, s := range g.items {
				if !yield(s) {
					return
				}
			}
			if err != nil && !yield(item{err: newWarning(r.Path, err)}) {
				return
			}
			if last = g; !g.full() {
				return
			}
		}
	}
}

// full reports whether the look has taken enough, so that there may be more.
func (g *messageBatch) full() bool { return len(g.items) >= g.limit || g.bytes >= maxBatchBytes }

// read takes messages from the place on, down to the oldest.
func (g *messageBatch) read(session string) {
	messages := g.messages(session, newestFirst)
	if g.cursor.message != "" {
		messages = g.messages(session, beforeThis, g.cursor.time, g.cursor.message)
		if !g.addParts() {
			return
		}
	}
	for r := range messages {
		g.cursor = cursor{r.Int("time_created"), r.Text("id", shortLimit), afterAllParts}
		g.begin(r)
		if s, ok := g.builder.failure(); ok {
			g.items = append(g.items, s)
		}
		if !g.addParts() {
			return
		}
	}
}

// begin turns to a message. Of a person's, no more is read than its head: behind that stand whole files where they were
// changed.
func (g *messageBatch) begin(r *sqlite.Row) {
	m := parseMessage(r.TextBytes("data", headLimit))
	if m.role != "user" {
		data := r.Bytes("data", maxPart)
		m = parseMessage(data)
		g.bytes += len(data)
		if !jsonl.Object(data).Complete() {
			g.addWarning("message", g.cursor.message, data)
		}
	}
	m.id, m.created = g.cursor.message, g.cursor.time
	g.builder.begin(m, func() bool {
		for note := range g.parts(m.parentID) {
			return parsePart(note.Bytes("data", maxPart)).isShellNote()
		}
		return false
	})
}

// addParts takes the parts of the message that are before the place; it is false where the look has enough.
func (g *messageBatch) addParts() bool {
	if g.cursor.part == "" {
		return true
	}
	for r := range g.rows(g.partTable, partsBefore, g.cursor.message, g.cursor.part) {
		if g.full() {
			return false
		}
		g.cursor.part = r.Text("id", shortLimit)
		if g.builder.isConversation() && !isHiddenType(partType(jsonl.Object(r.TextBytes("data", headLimit)))) {
			g.addPart(r.Bytes("data", maxPart))
		}
	}
	g.cursor.part = ""
	return !g.full()
}

func (g *messageBatch) addPart(data []byte) {
	g.bytes += len(data)
	if !jsonl.Object(data).Complete() {
		g.addWarning("part", g.cursor.part, data)
		return
	}
	if s, ok := g.builder.part(g.cursor.part, data); ok {
		g.items = append(g.items, s)
	}
}

// addWarning tells of a row that says nothing: it is damaged, or too large to be read.
func (g *messageBatch) addWarning(what, id string, data []byte) {
	cause := errIncomplete
	if data == nil {
		cause = fsread.ErrTooLarge
	}
	g.items = append(g.items, item{err: newWarning(g.path, fmt.Errorf("%s %s: %w", what, id, cause))})
}
