package cli

import (
	"context"
	"iter"
	"slices"
	"sort"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
)

// logsReader reads the messages of sessions of this machine, for one run of peek or logs.
type logsReader struct {
	*logsPrinter
	// endProgress ends the progress line.
	endProgress func()
	partial     error // of what could not be read
	// sessions are those whose messages are printed, the requested one first, then its sub-agents'; trackers has the
	// state of each.
	sessions  []discover.Session
	trackers  []*tracker
	subagents *discover.SubagentTracker
}

// unread reports warnings; the command ends as partial.
func (t *logsReader) unread(list []*discover.Warning) {
	if err := t.ReportWarnings(list); err != nil {
		t.partial = err
	}
}

// warnUnread returns a function that reports an error in reading a session's transcript.
func (t *logsReader) warnUnread(s discover.Session) func(error) {
	return func(err error) { t.unread([]*discover.Warning{UnreadWarning(s, err)}) }
}

// addSubagents adds new sub-agents' sessions with --children, and reports whether there are any.
func (t *logsReader) addSubagents(ctx context.Context) (more bool, err error) {
	if !t.options.children {
		return false, nil
	}
	before := len(t.sessions)
	all, warnings, err := t.subagents.Update(ctx, t.sessions)
	t.unread(warnings)
	t.sessions = all
	return len(all) > before, err
}

// messages returns the stored messages of a session, the newest first.
func (t *logsReader) messages(ctx context.Context, s discover.Session) iter.Seq2[discover.Message, error] {
	if s.Path == "" {
		return func(func(discover.Message, error) bool) {}
	}
	return t.Scanner.Messages(ctx, s)
}

// next returns what is new: first the last messages of all sessions, then the messages since.
func (t *logsReader) next(ctx context.Context) []render.TranscriptMessage {
	first := t.trackers == nil
	more := 0
	if t.options.follow {
		more = overlap
	}
	var lists [][]render.TranscriptMessage
	for i, s := range t.sessions {
		if i == len(t.trackers) { // it has just begun
			t.trackers = append(t.trackers, newTracker(t.options.JSON))
		}
		var list []update
		if first {
			list = t.trackers[i].last(t.messages(ctx, s), t.options.limit, more, t.warnUnread(s))
		} else {
			list = t.trackers[i].poll(t.messages(ctx, s), t.warnUnread(s))
		}
		var entries []render.TranscriptMessage
		for _, n := range list {
			entries = append(entries, t.entry(n, s))
		}
		lists = append(lists, entries)
	}
	all := mergeByTime(lists)
	if n := t.options.limit; first && n > 0 && len(all) > n {
		all = all[len(all)-n:]
	}
	return all
}

func (t *logsReader) entry(n update, s discover.Session) render.TranscriptMessage {
	e := render.TranscriptMessage{Message: object.NewMessage(n.Message, s), Changed: n.changed}
	if !t.options.children {
		e.Session = ""
	} else if s.Key() != t.sessions[0].Key() {
		e.SessionLabel = t.nameOf(s)
	}
	return e
}

// nameOf names the sub-agent of a message: its ID, on a terminal a unique prefix of it.
func (t *logsReader) nameOf(s discover.Session) string {
	var ids []render.SessionID
	for _, o := range t.sessions {
		ids = append(ids, render.SessionID{Agent: string(o.Agent), ID: o.ID})
	}
	i := slices.IndexFunc(t.sessions, func(o discover.Session) bool { return o.Key() == s.Key() })
	return t.Style.ShortIDs(ids)[i]
}

// mergeByTime merges the messages of several sessions by time. The order within a session stays.
func mergeByTime(lists [][]render.TranscriptMessage) []render.TranscriptMessage {
	type placed struct {
		render.TranscriptMessage
		at string
	}
	var all []placed
	for _, list := range lists {
		at := ""
		for _, e := range list {
			at = max(at, e.Time)
			all = append(all, placed{e, at})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].at < all[j].at })
	out := make([]render.TranscriptMessage, len(all))
	for i, p := range all {
		out[i] = p.TranscriptMessage
	}
	return out
}
