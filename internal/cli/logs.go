package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"sort"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
)

type logsOptions struct {
	CommonFlags
	verb                                    string
	limit                                   int
	follow, tools, children, whole, noPager bool
}

func logsCommand(f Env) *cli.Command {
	o := &logsOptions{verb: "logs", limit: 50}
	c := logsNewCommand(f, o, "show the messages of a session; with -f, follow it until it stops", "agentctl logs -f 88d1d394", "agentctl logs -n 0 --tools 88d1d394")
	c.Flags = append(c.Flags, &cli.BoolFlag{
		Name: "follow", Aliases: []string{"f"}, Usage: "follow the session until it stops; exit with the last turn's result", Destination: &o.follow,
	})
	return c
}

// NewPeek makes the command peek: logs -n 20.
func NewPeek(f Env) *cli.Command {
	return logsNewCommand(f, &logsOptions{verb: "peek", limit: 20}, "show the last messages of a session", "agentctl peek 88d1d394", "agentctl peek -n 1 88d1d394 --json")
}

func logsNewCommand(f Env, o *logsOptions, usage string, examples ...string) *cli.Command {
	return &cli.Command{
		Usage:     usage,
		UsageText: "agentctl " + o.verb + " [FLAGS] ID",
		ArgsUsage: "ID",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "n", Usage: "show at most `N` messages, the newest; 0 shows all", Value: o.limit, Destination: &o.limit},
			&cli.BoolFlag{Name: "tools", Usage: "also show the input and output of tool calls", Destination: &o.tools},
			&cli.BoolFlag{Name: "children", Usage: "include sub-agents' messages, each with its session's ID", Destination: &o.children},
			&cli.BoolFlag{Name: "no-trunc", Usage: "do not shorten anything", Destination: &o.whole},
			&cli.BoolFlag{Name: "no-pager", Usage: "do not use a pager", Destination: &o.noPager},
			AdapterFlag(&o.AdapterNames),
			JSONFlag(&o.JSON),
			NoColorFlag(&o.NoColor),
		},
		Action: WithArgument("the ID of a session", func(ctx context.Context, arg string) error {
			if o.limit < 0 {
				return UsageError(o.verb, "-n must be 0 or more")
			}
			return runLogs(ctx, f, arg, o)
		}),
		CustomHelpTemplate: HelpTemplate(examples...),
	}
}

func runLogs(ctx context.Context, f Env, arg string, o *logsOptions) error {
	c, err := f.NewCall(o.verb, &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	calls, err := c.Calls([]string{arg}, nil, false)
	if err != nil {
		return err
	}
	ctx, stop := Interruptible(ctx) // over all steps: a signal between two of them would be lost
	defer stop()
	p := newPrinter(c, o)
	if calls != nil {
		return p.fromHost(ctx, calls)
	}
	endProgress := f.Progress("looking for " + render.Sanitize(arg))
	defer endProgress()
	r, err := c.Scanner.Find(ctx, arg, c.Agents, discover.ReadOptions{})
	if err == nil {
		r.Sessions, err = onlyOne(arg, r.Sessions)
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		endProgress()
		_ = f.ReportWarnings(r.Warnings) // the error says how it ends
		return err
	}
	t := &logsReader{logsPrinter: p, endProgress: endProgress, sessions: r.Sessions, subagents: c.Scanner.TrackSubagents()}
	t.unread(r.Warnings)
	if o.follow {
		return t.follow(ctx)
	}
	return t.once(ctx)
}

// onlyOne returns the only session that is not a sub-agent's, where an argument means all sessions of a process.
func onlyOne(arg string, sessions []discover.Session) ([]discover.Session, error) {
	own := sessions
	if len(sessions) > 1 {
		own = slices.DeleteFunc(slices.Clone(sessions), discover.Session.IsSubagent)
	}
	if len(own) != 1 {
		return nil, &discover.AmbiguousError{Arg: arg, Candidates: sessions, Total: len(sessions)}
	}
	return own, nil
}

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

// following has messages printed as they come, until the context ends. Once the reader of stdout has closed it, the context ends.
func (p *logsPrinter) following(ctx context.Context) (context.Context, func()) {
	ctx, hangup := CancelOnHangup(ctx, p.Stdout)
	p.writeTo(ContextWriter{Context: ctx, Out: p.Stdout})
	return ctx, func() { hangup(nil) }
}

// take prints a message, or keeps it for [logsPrinter.finish].
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
	failed := EachHost(ctx, p.Env, calls, func(m object.Message) error {
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
