package messages

import (
	"context"
	"io"
	"iter"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
)

// printer is one call of peek or logs.
type printer struct {
	*cmdutil.Call
	options *Options
	// endProgress ends what shows that we are at it.
	endProgress func()
	partial     error // of what could not be read
	// sessions are those whose messages are told, the one that was asked for first, and known is what is known of each.
	// The others are its sub-agents', of which more may come.
	sessions  []discover.Session
	trackers  []*tracker
	subagents *discover.SubagentTracker
}

// unread says what could not be read; the command ends as partial.
func (t *printer) unread(list []*discover.Warning) {
	if err := t.ReportWarnings(list); err != nil {
		t.partial = err
	}
}

// warnUnread takes why a part of a session's transcript cannot be read.
func (t *printer) warnUnread(s discover.Session) func(error) {
	return func(err error) { t.unread([]*discover.Warning{cmdutil.UnreadWarning(s, err)}) }
}

// addSubagents adds sub-agents' sessions that are new, if they are asked for.
func (t *printer) addSubagents(ctx context.Context) (more bool, err error) {
	if !t.options.children {
		return false, nil
	}
	before := len(t.sessions)
	all, warnings, err := t.subagents.Update(ctx, t.sessions)
	t.unread(warnings)
	t.sessions = all
	return len(all) > before, err
}

// messages are those of a session, the newest first. What is not stored has said nothing.
func (t *printer) messages(ctx context.Context, s discover.Session) iter.Seq2[discover.Message, error] {
	if s.Path == "" {
		return func(func(discover.Message, error) bool) {}
	}
	return t.Scanner.Messages(ctx, s)
}

// next returns what is new: at first the last messages of all sessions, then what has come since.
func (t *printer) next(ctx context.Context) []output.TranscriptMessage {
	first := t.trackers == nil
	more := 0
	if t.options.Follow {
		more = overlap
	}
	var lists [][]output.TranscriptMessage
	for i, s := range t.sessions {
		if i == len(t.trackers) { // it has just begun
			t.trackers = append(t.trackers, newTracker(t.options.JSON))
		}
		var list []update
		if first {
			list = t.trackers[i].last(t.messages(ctx, s), t.options.Limit, more, t.warnUnread(s))
		} else {
			list = t.trackers[i].poll(t.messages(ctx, s), t.warnUnread(s))
		}
		var entries []output.TranscriptMessage
		for _, n := range list {
			entries = append(entries, t.entry(n, s))
		}
		lists = append(lists, entries)
	}
	all := mergeByTime(lists)
	if n := t.options.Limit; first && n > 0 && len(all) > n {
		all = all[len(all)-n:]
	}
	return all
}

// transcript writes messages for people.
func (t *printer) transcript(out io.Writer) *output.Transcript {
	return output.NewTranscript(out, output.TranscriptOptions{
		TextOptions: t.Style, ShowAge: !t.options.Follow, ShowTools: t.options.tools, Full: t.options.whole,
	})
}

// entry is a message as it is told.
func (t *printer) entry(n update, s discover.Session) output.TranscriptMessage {
	e := output.TranscriptMessage{Message: n.Message, CurrentSession: s, Changed: n.changed}
	if !t.options.children {
		e.Session = ""
	} else if s.Key() != t.sessions[0].Key() {
		e.SessionLabel = t.nameOf(s)
	}
	return e
}

// nameOf is how a sub-agent's messages are marked: by its ID, on a terminal by as much of it as means this session.
func (t *printer) nameOf(s discover.Session) string {
	var ids []output.SessionID
	for _, o := range t.sessions {
		ids = append(ids, output.SessionID{Agent: string(o.Agent), ID: o.ID})
	}
	i := slices.IndexFunc(t.sessions, func(o discover.Session) bool { return o.Key() == s.Key() })
	return t.Style.ShortIDs(ids)[i]
}

// mergeByTime puts the messages of several sessions into the order of time. Those of one stay in their order.
func mergeByTime(lists [][]output.TranscriptMessage) []output.TranscriptMessage {
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
