package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/object"
	"agentctl/internal/render"
)

// once prints the last messages of a session.
func (t *logsReader) once(ctx context.Context) error {
	more, err := t.addSubagents(ctx)
	if err == nil && more { // sub-agents are judged together
		err = EachResult(ctx, watch.NewWatcher(t.Scanner, t.sessions), func(r discover.Result) (bool, error) {
			t.sessions = r.Sessions
			t.unread(r.Warnings)
			return false, nil
		})
	}
	if err != nil {
		return err
	}
	entries := t.next(ctx)
	if t.endProgress(); ctx.Err() != nil {
		return ctx.Err()
	}
	if err := t.print(ctx, entries); err != nil {
		return err
	}
	if len(entries) == 0 {
		t.reportEmpty()
	}
	return t.partial
}

// reportEmpty says why nothing is printed.
func (t *logsReader) reportEmpty() {
	s := t.sessions[0]
	what := "has no messages"
	if s.Path == "" {
		what = "has nothing stored yet"
	}
	t.Report.Note(fmt.Sprintf("%s %s", SessionName(s), what))
}

func (t *logsReader) print(ctx context.Context, entries []render.TranscriptMessage) error {
	for _, e := range entries {
		if err := t.take(ctx, e); err != nil {
			return err
		}
	}
	if s := t.sessions[0]; s.Status == discover.Waiting && !t.options.JSON && !slices.ContainsFunc(entries, isWaiting) {
		obj := object.NewSession(s)
		if err := t.write.WriteWaiting(&obj); err != nil {
			return err
		}
	}
	return t.finish(ctx)
}

// follow prints the last messages of a session, then each new one, until the session stops.
func (t *logsReader) follow(ctx context.Context) error {
	if _, err := t.addSubagents(ctx); err != nil {
		return err
	}
	ctx, stop := t.following(ctx)
	defer stop()
	end := NewWaiter(Stopped, 1, func(discover.Session) error { return nil })
	for more := true; more; {
		more = false
		err := EachResult(ctx, watch.NewWatcher(t.Scanner, t.sessions), func(r discover.Result) (_ bool, err error) {
			t.sessions = r.Sessions
			t.unread(r.Warnings)
			for _, e := range t.next(ctx) {
				t.endProgress()
				if err := t.take(ctx, e); err != nil {
					return false, err
				}
			}
			if more, err = t.addSubagents(ctx); more || err != nil {
				return false, err // with the new ones
			}
			return end.Update(t.sessions[:1])
		})
		if cause := context.Cause(ctx); errors.Is(cause, syscall.EPIPE) {
			return cause // nobody reads any more
		}
		if err != nil {
			return err
		}
	}
	t.endProgress()
	if err := Conclude(t.Call.Factory, end); err != nil {
		return err
	}
	return t.partial
}
