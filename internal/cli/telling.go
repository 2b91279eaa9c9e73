package cli

import (
	"context"
	"io"
	"iter"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/internal/output"
)

// telling is one call of peek or logs.
type telling struct {
	*call
	options *transcriptOptions
	// quiet ends what shows that we are at it.
	quiet   func()
	partial error // of what could not be read
	// sessions are those whose messages are told, the one that was asked for first, and known is what is known of each.
	// The others are its sub-agents', of which more may come.
	sessions []discover.Session
	known    []*told
	family   *discover.SubagentTracker
}

// unread says what could not be read; the command ends as partial.
func (t *telling) unread(list []*discover.Warning) {
	if err := t.warn(list); err != nil {
		t.partial = err
	}
}

// failed takes why a part of a session's transcript cannot be read.
func (t *telling) failed(s discover.Session) func(error) {
	return func(err error) { t.unread([]*discover.Warning{unread(s, err)}) }
}

// gather adds sub-agents' sessions that are new, if they are asked for.
func (t *telling) gather(ctx context.Context) (more bool, err error) {
	if !t.options.children {
		return false, nil
	}
	before := len(t.sessions)
	all, warnings, err := t.family.Update(ctx, t.sessions)
	t.unread(warnings)
	t.sessions = all
	return len(all) > before, err
}

// messages are those of a session, the newest first. What is not stored has said nothing.
func (t *telling) messages(ctx context.Context, s discover.Session) iter.Seq2[discover.Message, error] {
	if s.Path == "" {
		return func(func(discover.Message, error) bool) {}
	}
	return t.world.Messages(ctx, s)
}

// next returns what is new: at first the last messages of all sessions, then what has come since.
func (t *telling) next(ctx context.Context) []output.TranscriptMessage {
	first := t.known == nil
	more := 0
	if t.options.follow {
		more = overlap
	}
	var lists [][]output.TranscriptMessage
	for i, s := range t.sessions {
		if i == len(t.known) { // it has just begun
			t.known = append(t.known, newTold(t.options.json))
		}
		var list []news
		if first {
			list = t.known[i].begin(t.messages(ctx, s), t.options.limit, more, t.failed(s))
		} else {
			list = t.known[i].look(t.messages(ctx, s), t.failed(s))
		}
		var entries []output.TranscriptMessage
		for _, n := range list {
			entries = append(entries, t.entry(n, s))
		}
		lists = append(lists, entries)
	}
	all := merged(lists)
	if n := t.options.limit; first && n > 0 && len(all) > n {
		all = all[len(all)-n:]
	}
	return all
}

// transcript writes messages for people.
func (t *telling) transcript(out io.Writer) *output.Transcript {
	return output.NewTranscript(out, output.TranscriptOptions{
		TextOptions: t.look, ShowAge: !t.options.follow, ShowTools: t.options.tools, Full: t.options.whole,
	})
}

// entry is a message as it is told.
func (t *telling) entry(n news, s discover.Session) output.TranscriptMessage {
	e := output.TranscriptMessage{Message: n.Message, CurrentSession: s, Changed: n.changed}
	if !t.options.children {
		e.Session = ""
	} else if s.Key() != t.sessions[0].Key() {
		e.SessionLabel = t.name(s)
	}
	return e
}

// name is how a sub-agent's messages are marked: by its ID, on a terminal by as much of it as means this session.
func (t *telling) name(s discover.Session) string {
	var ids []output.SessionID
	for _, o := range t.sessions {
		ids = append(ids, output.SessionID{Agent: string(o.Agent), ID: o.ID})
	}
	i := slices.IndexFunc(t.sessions, func(o discover.Session) bool { return o.Key() == s.Key() })
	return t.look.ShortIDs(ids)[i]
}

// merged puts the messages of several sessions into the order of time. Those of one stay in their order.
func merged(lists [][]output.TranscriptMessage) []output.TranscriptMessage {
	type placed struct {
		output.TranscriptMessage
		at time.Time
	}
	var all []placed
	for _, list := range lists {
		var at time.Time
		for _, e := range list {
			if e.Time.After(at) {
				at = e.Time
			}
			all = append(all, placed{e, at})
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return a.at.Compare(b.at) })
	out := make([]output.TranscriptMessage, len(all))
	for i, p := range all {
		out[i] = p.TranscriptMessage
	}
	return out
}
