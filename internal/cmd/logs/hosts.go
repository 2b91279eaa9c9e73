package logs

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"syscall"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
)

// runOnHost prints the messages of a session of another machine.
func runOnHost(ctx context.Context, c *cmdutil.Call, arg string, o *options) error {
	calls, err := c.HostCalls(c.Config, []string{arg}, nil, false)
	if err != nil {
		return err
	}
	ctx, stop := cmdutil.Interruptible(ctx)
	defer stop()
	p := hostPrinter{printer: &printer{Call: c, options: o}, seen: map[string]bool{}}
	if o.children && !o.JSON {
		if p.id, err = requestedID(ctx, c, calls); err != nil {
			return err
		}
	}
	ctx, hangup := cmdutil.CancelOnHangup(ctx, c.Stdout)
	defer hangup(nil)
	var text bytes.Buffer
	p.text = p.transcript(&text)
	if o.follow {
		p.text = p.transcript(cmdutil.ContextWriter{Context: ctx, Out: c.Stdout})
	}
	endProgress := c.ProgressOf(cmdutil.AskingHosts("asking", calls))
	defer endProgress()
	partial := cmdutil.EachHost(ctx, c.Factory, calls, func(host string, m output.Message) error {
		endProgress()
		return p.take(ctx, host, m)
	})
	endProgress()
	if cause := context.Cause(ctx); errors.Is(cause, syscall.EPIPE) {
		return cause // the reader of stdout has closed it
	}
	switch {
	case ctx.Err() != nil, o.follow:
		return partial
	case o.JSON:
		err = output.JSONArray(c.Stdout, p.all)
	default:
		err = c.Page(ctx, text.Bytes(), o.noPager)
	}
	if err != nil {
		return err
	}
	return partial
}

// requestedID returns the ID of the session that the argument of the call means, or its beginning. Which session a process runs, the host says.
func requestedID(ctx context.Context, c *cmdutil.Call, calls []cmdutil.HostCall) (id string, err error) {
	id, _, _ = strings.Cut(calls[0].ID(), "@")
	if !strings.HasPrefix(id, "pid:") {
		return id, nil
	}
	status := calls[0]
	status.Args = []string{"status", "--json", "--", id}
	err = cmdutil.Gather(ctx, c, []cmdutil.HostCall{status}, func(_ string, s output.Session) error {
		if s.ID != nil && s.ParentID == "" {
			id = *s.ID
		}
		return nil
	})
	if errors.Is(err, cmdutil.ErrPartial) {
		err = nil // the messages are asked for all the same, and say what is missing
	}
	return id, err
}

// hostPrinter prints messages that come from another machine.
type hostPrinter struct {
	*printer
	// id is that of the requested session, or its beginning: with --children, the messages of all others have a label.
	id   string
	text *output.Transcript
	all  []output.Message
	// seen has the calls that were printed.
	seen map[string]bool
}

// take prints a message, or keeps it for the array of --json.
func (p *hostPrinter) take(ctx context.Context, from string, m output.Message) error {
	parsed, err := output.ParseMessage(&m)
	if err != nil {
		return cmdutil.BadAnswer(err)
	}
	m.Host = from
	switch {
	case p.options.JSON && p.options.follow:
		return output.JSONLine(cmdutil.ContextWriter{Context: ctx, Out: p.Stdout}, m)
	case p.options.JSON:
		p.all = append(p.all, m)
		return nil
	}
	session := discover.UnknownSession()
	entry := output.TranscriptMessage{Message: parsed, CurrentSession: session}
	if m.Tool != nil {
		key := m.Session + "\n" + m.ID
		entry.Changed = p.options.follow && p.seen[key]
		entry.CurrentSession.WaitingFor = m.Tool.WaitingFor
		if len(p.seen) > maxRemembered {
			clear(p.seen)
		}
		p.seen[key] = true
	}
	if p.options.children && m.Session != "" && !strings.HasPrefix(m.Session, p.id) {
		entry.SessionLabel = output.Sanitize(m.Session)
	}
	return p.text.Write(entry)
}
