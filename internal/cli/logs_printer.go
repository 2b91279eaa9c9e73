package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"syscall"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
)

// logsPrinter prints messages, of this machine or another one: as text through the pager or as a JSON array, or with --follow each as it comes.
type logsPrinter struct {
	*Call
	options *logsOptions
	text    bytes.Buffer
	write   *render.Transcript
	all     []object.Message
}

func newPrinter(c *Call, o *logsOptions) *logsPrinter {
	p := &logsPrinter{Call: c, options: o, all: []object.Message{}}
	p.writeTo(&p.text)
	return p
}

func (p *logsPrinter) writeTo(out io.Writer) {
	p.write = render.NewTranscript(out, render.TranscriptOptions{
		TextOptions: p.Style, ShowAge: !p.options.follow, ShowTools: p.options.tools, Full: p.options.whole,
	})
}

// follow has messages printed as they come. Once the reader of stdout has closed it, the context ends.
func (p *logsPrinter) following(ctx context.Context) (context.Context, func()) {
	ctx, hangup := CancelOnHangup(ctx, p.Stdout)
	p.writeTo(ContextWriter{Context: ctx, Out: p.Stdout})
	return ctx, func() { hangup(nil) }
}

// take prints a message, or keeps it for [printer.finish].
func (p *logsPrinter) take(ctx context.Context, m render.TranscriptMessage) error {
	switch {
	case p.options.JSON && p.options.follow:
		return render.JSONLine(ContextWriter{Context: ctx, Out: p.Stdout}, m.Message)
	case p.options.JSON:
		p.all = append(p.all, m.Message)
		return nil
	}
	return p.write.Write(m)
}

// finish prints what was kept.
func (p *logsPrinter) finish(ctx context.Context) error {
	if p.options.JSON {
		return render.JSONArray(p.Stdout, p.all)
	}
	return p.Page(ctx, p.text.Bytes(), p.options.noPager)
}

// fromHost prints the messages of a session of another machine.
func (p *logsPrinter) fromHost(ctx context.Context, calls []HostCall) error {
	id := ""
	if p.options.children && !p.options.JSON {
		var err error
		if id, err = requestedID(ctx, p.Call, calls); err != nil {
			return err
		}
	}
	if p.options.follow {
		var end func()
		ctx, end = p.following(ctx)
		defer end()
	}
	endProgress := p.ProgressOf(AskingHosts("asking", calls))
	defer endProgress()
	seen := map[string]bool{} // calls that were printed
	failed := EachHost(ctx, p.Factory, calls, func(m object.Message) error {
		endProgress()
		entry := render.TranscriptMessage{Message: m}
		if m.Tool != nil && p.options.follow {
			key := m.Session + "\n" + m.ID
			if len(seen) > maxRemembered {
				clear(seen)
			}
			entry.Changed, seen[key] = seen[key], true
		}
		if p.options.children && m.Session != "" && !strings.HasPrefix(m.Session, id) {
			entry.SessionLabel = render.Sanitize(m.Session)
		}
		return p.take(ctx, entry)
	})
	endProgress()
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, syscall.EPIPE):
		return cause // the reader of stdout has closed it
	case ctx.Err() != nil, p.options.follow:
		return failed
	}
	if err := p.finish(ctx); err != nil {
		return err
	}
	return failed
}

// requestedID returns the ID of the session that the argument of the call means, or its beginning. Which session a process runs, the host says.
func requestedID(ctx context.Context, c *Call, calls []HostCall) (id string, err error) {
	id, _, _ = strings.Cut(calls[0].ID(), "@")
	if !strings.HasPrefix(id, "pid:") {
		return id, nil
	}
	status := calls[0]
	status.Args = []string{"status", "--json", "--", id}
	err = Gather(ctx, c, []HostCall{status}, func(s object.Session) error {
		if s.ID != nil && s.ParentID == "" {
			id = *s.ID
		}
		return nil
	})
	if errors.Is(err, ErrPartial) {
		err = nil // the messages are asked for all the same, and say what is missing
	}
	return id, err
}

// isWaiting reports whether a message is the call that waits for the user.
func isWaiting(m render.TranscriptMessage) bool {
	return m.Tool != nil && m.Tool.State == string(discover.ToolWaiting)
}
