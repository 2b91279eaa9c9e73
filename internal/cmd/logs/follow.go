package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/cmdutil"
	"agentctl/internal/cmdutil/await"
	"agentctl/internal/output"
)

// once prints the last messages of a session.
func (t *printer) once(ctx context.Context) error {
	more, err := t.addSubagents(ctx)
	if err == nil && more { // sub-agents are judged together
		err = cmdutil.EachResult(ctx, watch.NewWatcher(t.Scanner, t.sessions), func(r discover.Result) (bool, error) {
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
func (t *printer) reportEmpty() {
	s := t.sessions[0]
	what := "has no messages"
	if s.Path == "" {
		what = "has nothing stored yet"
	}
	t.Report.Note(fmt.Sprintf("%s %s", cmdutil.SessionName(s), what))
}

func (t *printer) print(ctx context.Context, entries []output.TranscriptMessage) error {
	if t.options.JSON {
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
	return t.Page(ctx, b.Bytes(), t.options.noPager)
}

// follow prints the last messages of a session, then each new one, until the session stops.
func (t *printer) follow(ctx context.Context) error {
	if _, err := t.addSubagents(ctx); err != nil {
		return err
	}
	ctx, hangup := cmdutil.CancelOnHangup(ctx, t.Stdout)
	defer hangup(nil)
	write := t.writer(ctx)
	end := await.NewWaiter(await.Stopped, 1, func(discover.Session) error { return nil })
	for more := true; more; {
		more = false
		err := cmdutil.EachResult(ctx, watch.NewWatcher(t.Scanner, t.sessions), func(r discover.Result) (_ bool, err error) {
			t.sessions = r.Sessions
			t.unread(r.Warnings)
			for _, e := range t.next(ctx) {
				t.endProgress()
				if err := write(e); err != nil {
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
	if err := await.Conclude(t.Call.Factory, end); err != nil {
		return err
	}
	return t.partial
}

func (t *printer) writer(ctx context.Context) func(output.TranscriptMessage) error {
	out := cmdutil.ContextWriter{Context: ctx, Out: t.Stdout}
	if t.options.JSON {
		return func(e output.TranscriptMessage) error {
			return output.JSONLine(out, output.NewMessage(e.Message, e.CurrentSession))
		}
	}
	return t.transcript(out).Write
}
