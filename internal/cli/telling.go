package cli

import (
	"context"
	"io"
	"iter"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/internal/render"
)

// telling is one call of peek or logs.
type telling struct {
	env     Env
	world   *discover.World
	options *transcriptOptions
	look    render.Look
	// quiet ends what shows that we are at it.
	quiet   func()
	partial error // of what could not be read
	// sessions are those whose messages are told, the one that was asked for first, and told is what is known of each.
	// The others are its sub-agents', of which more may come.
	sessions []discover.Session
	told     []*told
	family   *discover.Family
}

func (env Env) newTelling(world *discover.World, o *transcriptOptions, look render.Look, quiet func()) *telling {
	return &telling{env: env, world: world, options: o, look: look, quiet: quiet, family: world.Family()}
}

// warn says what could not be read; the command ends as partial.
func (t *telling) warn(list []*discover.Warning) {
	if err := t.env.warn(list); err != nil {
		t.partial = err
	}
}

// failed takes why a part of a session's transcript cannot be read.
func (t *telling) failed(s discover.Session) func(error) {
	return func(err error) { t.warn([]*discover.Warning{unread(s, err)}) }
}

// gather adds sub-agents' sessions that are new, if they are asked for.
func (t *telling) gather(ctx context.Context) (more bool, err error) {
	if !t.options.children {
		return false, nil
	}
	before := len(t.sessions)
	all, warnings, err := t.family.Grow(ctx, t.sessions)
	t.warn(warnings)
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

// last returns the last messages of all sessions.
func (t *telling) last(ctx context.Context) []render.Entry {
	more := 0
	if t.options.follow {
		more = overlap
	}
	var lists [][]render.Entry
	for _, s := range t.sessions {
		known := newTold(t.options.json)
		t.told = append(t.told, known)
		var list []render.Entry
		for _, m := range known.begin(t.messages(ctx, s), t.options.limit, more, t.failed(s)) {
			list = append(list, t.entry(news{m, false}, s))
		}
		lists = append(lists, list)
	}
	all := merged(lists)
	if n := t.options.limit; n > 0 && len(all) > n {
		all = all[len(all)-n:]
	}
	return all
}

// news returns what has come since.
func (t *telling) news(ctx context.Context) []render.Entry {
	var lists [][]render.Entry
	for i, s := range t.sessions {
		if i == len(t.told) { // it has just begun
			t.told = append(t.told, newTold(t.options.json))
		}
		var list []render.Entry
		for _, n := range t.told[i].look(t.messages(ctx, s), t.failed(s)) {
			list = append(list, t.entry(n, s))
		}
		lists = append(lists, list)
	}
	return merged(lists)
}

// transcript writes messages for people.
func (t *telling) transcript(out io.Writer) *render.Transcript {
	return render.NewTranscript(out, render.TranscriptLook{
		Look: t.look, Ages: !t.options.follow, Tools: t.options.tools, Whole: t.options.whole,
	})
}

// entry is a message as it is told.
func (t *telling) entry(n news, s discover.Session) render.Entry {
	e := render.Entry{Message: n.Message, Of: s, Again: n.changed}
	if !t.options.children {
		e.Session = ""
	} else if s.Key() != t.sessions[0].Key() {
		e.Whose = t.name(s)
	}
	return e
}

// name is how a sub-agent's messages are marked: by its ID, on a terminal by as much of it as means this session.
func (t *telling) name(s discover.Session) string {
	var ids []render.ID
	for _, o := range t.sessions {
		ids = append(ids, render.ID{Agent: string(o.Agent), Text: o.ID})
	}
	i := slices.IndexFunc(t.sessions, func(o discover.Session) bool { return o.Key() == s.Key() })
	return t.look.ShortIDs(ids)[i]
}

// merged puts the messages of several sessions into the order of time. Those of one stay in their order.
func merged(lists [][]render.Entry) []render.Entry {
	type placed struct {
		render.Entry
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
	out := make([]render.Entry, len(all))
	for i, p := range all {
		out[i] = p.Entry
	}
	return out
}
