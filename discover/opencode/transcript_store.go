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
	firstLook = 24
	mostLook  = 400
	lookBytes = 4 << 20
)

// place is the message, or the part of one, that was read last; the zero place is behind all.
type place struct {
	time          int64
	message, part string
}

// allParts is a place behind the last part of a message.
const allParts = "~"

// glance is one look at the transcript of a session.
type glance struct {
	*store
	dialogue dialogue
	place    place
	limit    int // of messages
	said     []said
	bytes    int
}

// transcriptIn yields what a session's rows say, newest first. What was read is given only once it is known to have been read
// undisturbed, so that a look ends before anything of it is.
func transcriptIn(ctx context.Context, r discover.Record) iter.Seq[said] {
	return func(yield func(said) bool) {
		var last glance
		for limit := firstLook; ; limit = min(2*limit, mostLook) {
			g := glance{limit: limit} // which it stays where there are no tables any more
			err := readStore(ctx, r.Home, r.Path, func(st *store) {
				g = glance{store: st, dialogue: last.dialogue, place: last.place, limit: limit}
				g.read(r.ID)
			})
			if err != nil && !isLost(err) {
				if !fsread.IsNotExist(err) {
					yield(said{err: warn(r.Path, err)})
				}
				return
			}
			for _, s := range g.said {
				if !yield(s) {
					return
				}
			}
			if err != nil && !yield(said{err: warn(r.Path, err)}) {
				return
			}
			if last = g; !g.full() {
				return
			}
		}
	}
}

// full reports whether the look has taken enough, so that there may be more.
func (g *glance) full() bool { return len(g.said) >= g.limit || g.bytes >= lookBytes }

// read takes messages from the place on, down to the oldest.
func (g *glance) read(session string) {
	messages := g.messages(session, newestFirst)
	if g.place.message != "" {
		messages = g.messages(session, beforeThis, g.place.time, g.place.message)
		if !g.takeParts() {
			return
		}
	}
	for r := range messages {
		g.place = place{r.Int("time_created"), r.Text("id", shortLimit), allParts}
		g.begin(r)
		if s, ok := g.dialogue.failure(); ok {
			g.said = append(g.said, s)
		}
		if !g.takeParts() {
			return
		}
	}
}

// begin turns to a message. Of a person's, no more is read than its head: behind that stand whole files where they were
// changed.
func (g *glance) begin(r *sqlite.Row) {
	m := parseMessage(r.TextBytes("data", head))
	if m.role != "user" {
		data := r.Bytes("data", maxPart)
		m = parseMessage(data)
		g.bytes += len(data)
		if !jsonl.Object(data).Complete() {
			g.warn("message", g.place.message, data)
		}
	}
	m.id, m.created = g.place.message, g.place.time
	g.dialogue.begin(m, func() bool {
		for note := range g.parts(m.asked) {
			return parsePart(note.Bytes("data", maxPart)).isNote()
		}
		return false
	})
}

// takeParts takes the parts of the message that are before the place; it is false where the look has enough.
func (g *glance) takeParts() bool {
	if g.place.part == "" {
		return true
	}
	for r := range g.rows(g.part, partsBefore, g.place.message, g.place.part) {
		if g.full() {
			return false
		}
		g.place.part = r.Text("id", shortLimit)
		if g.dialogue.isDialogue() && !unseen(partType(jsonl.Object(r.TextBytes("data", head)))) {
			g.take(r.Bytes("data", maxPart))
		}
	}
	g.place.part = ""
	return !g.full()
}

func (g *glance) take(data []byte) {
	g.bytes += len(data)
	if !jsonl.Object(data).Complete() {
		g.warn("part", g.place.part, data)
		return
	}
	if s, ok := g.dialogue.part(g.place.part, data); ok {
		g.said = append(g.said, s)
	}
}

// warn tells of a row that says nothing: it is damaged, or too large to be read.
func (g *glance) warn(what, id string, data []byte) {
	cause := errTorn
	if data == nil {
		cause = fsread.ErrTooLarge
	}
	g.said = append(g.said, said{err: warn(g.path, fmt.Errorf("%s %s: %w", what, id, cause))})
}
