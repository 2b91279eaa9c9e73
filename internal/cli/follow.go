package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/output"
)

// once prints the last messages of a session.
func (t *telling) once(ctx context.Context) error {
	more, err := t.gather(ctx)
	if err == nil && more { // sub-agents are judged together
		err = each(ctx, watch.NewWatcher(t.world, t.sessions), func(r discover.Result) (bool, error) {
			t.sessions = r.Sessions
			t.unread(r.Warnings)
			return false, nil
		})
	}
	if err != nil {
		return err
	}
	entries := t.next(ctx)
	if t.quiet(); ctx.Err() != nil {
		return ctx.Err()
	}
	if err := t.print(ctx, entries); err != nil {
		return err
	}
	if len(entries) == 0 {
		t.nothing()
	}
	return t.partial
}

// nothing says why nothing is printed.
func (t *telling) nothing() {
	s := t.sessions[0]
	what := "has no messages"
	if s.Path == "" {
		what = "has nothing stored yet"
	}
	t.report.note(fmt.Sprintf("%s %s", idOf(s), what))
}

func (t *telling) print(ctx context.Context, entries []output.TranscriptMessage) error {
	if t.options.json {
		return output.JSONArrayFunc(t.Stdout, entries, func(e output.TranscriptMessage) output.Message { return output.NewMessage(e.Message, e.CurrentSession) })
	}
	var b bytes.Buffer
	text := t.transcript(&b)
	for _, e := range entries {
		if err := text.Write(e); err != nil {
			return err
		}
	}
	s := t.sessions[0]
	shown := slices.ContainsFunc(entries, func(e output.TranscriptMessage) bool { return e.Tool != nil && e.Tool.State == discover.ToolWaiting })
	if s.Status == discover.Waiting && !shown {
		if err := text.WriteWaiting(s); err != nil {
			return err
		}
	}
	if t.options.noPager {
		_, err := t.Stdout.Write(b.Bytes())
		return err
	}
	return t.page(ctx, b.Bytes())
}

// follow prints the last messages of a session, and then what comes, until it stops.
func (t *telling) follow(ctx context.Context) error {
	if _, err := t.gather(ctx); err != nil {
		return err
	}
	ctx, hangup := readable(ctx, t.Stdout)
	defer hangup(nil)
	write := t.writer(ctx)
	end := newWaiting(untilStopped, 1, func(discover.Session) error { return nil })
	for more := true; more; {
		more = false
		err := each(ctx, watch.NewLowLatencyWatcher(t.world, t.sessions), func(r discover.Result) (_ bool, err error) {
			t.sessions = r.Sessions
			t.unread(r.Warnings)
			for _, e := range t.next(ctx) {
				t.quiet()
				if err := write(e); err != nil {
					return false, err
				}
			}
			if more, err = t.gather(ctx); more || err != nil {
				return false, err // with the new ones
			}
			return end.see(t.sessions[:1])
		})
		if cause := context.Cause(ctx); errors.Is(cause, syscall.EPIPE) {
			return cause // nobody reads any more
		}
		if err != nil {
			return err
		}
	}
	t.quiet()
	if err := t.conclude(end); err != nil {
		return err
	}
	return t.partial
}

// writer prints one message at a time.
func (t *telling) writer(ctx context.Context) func(output.TranscriptMessage) error {
	out := impatient{ctx, t.Stdout}
	if t.options.json {
		return func(e output.TranscriptMessage) error {
			return output.JSONLine(out, output.NewMessage(e.Message, e.CurrentSession))
		}
	}
	return t.transcript(out).Write
}
