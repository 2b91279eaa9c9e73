package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"syscall"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/object"
	"agentctl/internal/render"
)

type logsOptions struct {
	CommonFlags
	verb                                    string
	limit                                   int
	follow, tools, children, whole, noPager bool
}

func logsCommand(env Env) *cli.Command {
	o := &logsOptions{verb: "logs", limit: 50}
	c := messagesCommand(env, o, "show the messages of a session; with -f, follow it until it stops", "agentctl logs -f 88d1d394", "agentctl logs -n 0 --tools 88d1d394")
	c.Flags = append(c.Flags, &cli.BoolFlag{
		Name: "follow", Aliases: []string{"f"}, Usage: "follow the session until it stops; exit with the last turn's result", Destination: &o.follow,
	})
	return c
}

// peekCommand makes the command peek: logs -n 20.
func peekCommand(env Env) *cli.Command {
	return messagesCommand(env, &logsOptions{verb: "peek", limit: 20}, "show the last messages of a session", "agentctl peek 88d1d394", "agentctl peek -n 1 88d1d394 --json")
}

func messagesCommand(env Env, o *logsOptions, usage string, examples ...string) *cli.Command {
	return &cli.Command{
		Usage:     usage,
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
			return runLogs(ctx, env, arg, o)
		}),
		CustomHelpTemplate: HelpTemplate(examples...),
	}
}

func runLogs(ctx context.Context, env Env, arg string, o *logsOptions) error {
	c, calls, err := env.NewHostCall(o.verb, &o.CommonFlags, nil, []string{arg})
	if err != nil {
		return err
	}
	ctx, stop := Interruptible(ctx) // over all steps: a signal between two of them would be lost
	defer stop()
	p, doing := &logsPrinter{Call: c, options: o, all: []object.Message{}}, "asking"
	out := io.Writer(&p.text)
	if o.follow { // until the reader of stdout has closed it
		var hangup context.CancelCauseFunc
		ctx, hangup = CancelOnHangup(ctx, c.Stdout)
		defer hangup(nil)
		out, doing = ContextWriter{Context: ctx, Out: c.Stdout}, ""
	}
	p.write = render.NewTranscript(out, render.TranscriptOptions{TextOptions: c.Style, ShowAge: !o.follow, ShowTools: o.tools, Full: o.whole})
	failed := Each(ctx, c, calls, doing, func(ctx context.Context, take func(object.Message) error) error {
		return readLogs(ctx, c, arg, o, take)
	}, func(m object.Message) error { return p.take(ctx, m) })
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, syscall.EPIPE):
		return cause // the reader of stdout has closed it
	case o.follow:
		return EndOfStream(failed)
	case ctx.Err() != nil, len(p.all) == 0 && failed != nil && ExitCode(failed) != ExitPartial:
		return failed
	}
	if err := p.finish(ctx); err != nil {
		return err
	}
	return failed
}

// readLogs passes on the messages of a session of this machine.
func readLogs(ctx context.Context, c *Call, arg string, o *logsOptions, take func(object.Message) error) error {
	r, err := c.Find(ctx, arg, discover.ReadOptions{})
	if err != nil {
		return err
	}
	if r.Sessions, err = onlyOne(arg, r.Sessions); err != nil {
		_ = c.ReportWarnings(r.Warnings) // the error says how it ends
		return err
	}
	t := &logsReader{Call: c, options: o, take: take, sessions: r.Sessions, subagents: c.Scanner.TrackSubagents()}
	t.unread(r.Warnings)
	if o.follow {
		return t.follow(ctx)
	}
	defer c.Progress("reading " + render.Sanitize(arg))()
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

// logsPrinter prints messages: as text through the pager or as a JSON array, or with --follow each as it arrives.
type logsPrinter struct {
	*Call
	options   *logsOptions
	text      bytes.Buffer
	write     *render.Transcript
	all       []object.Message
	subagents []render.SessionID // that have messages
}

// take prints a message with --follow, or keeps it for [logsPrinter.finish].
func (l *logsPrinter) take(ctx context.Context, m object.Message) error {
	switch {
	case !l.options.follow:
		l.all = append(l.all, m)
		return nil
	case l.options.JSON:
		return render.JSONLine(ContextWriter{Context: ctx, Out: l.Stdout}, m)
	}
	l.know(m)
	return l.print(m)
}

// know remembers the sub-agent of a message, so that its short ID is unique.
func (l *logsPrinter) know(m object.Message) {
	if id := (render.SessionID{Agent: m.Adapter, ID: m.Session}); m.Subagent && !slices.Contains(l.subagents, id) {
		l.subagents = append(l.subagents, id)
	}
}

// print prints a message as text, a sub-agent's with its ID, on a terminal a unique prefix of that.
func (l *logsPrinter) print(m object.Message) error {
	entry := render.TranscriptMessage{Message: m}
	if m.Subagent {
		i := slices.Index(l.subagents, render.SessionID{Agent: m.Adapter, ID: m.Session})
		entry.SessionLabel = l.Style.ShortIDs(l.subagents)[i]
	}
	return l.write.Write(entry)
}

// finish prints what was kept.
func (l *logsPrinter) finish(ctx context.Context) error {
	if l.options.JSON {
		return render.JSONArray(l.Stdout, l.all)
	}
	for _, m := range l.all {
		l.know(m)
	}
	if err := PrintEach(l.all, l.print); err != nil {
		return err
	}
	return l.Page(ctx, l.text.Bytes(), l.options.noPager)
}

// logsReader reads the messages of sessions of this machine, for one run of peek or logs.
type logsReader struct {
	*Call
	options *logsOptions
	take    func(object.Message) error
	partial error // of what could not be read
	// sessions are those whose messages are read, the requested one first, then its sub-agents'; trackers has the
	// state of each.
	sessions  []discover.Session
	trackers  []*tracker
	subagents *discover.SubagentTracker
}

// unread reports warnings; the command ends as partial.
func (l *logsReader) unread(list []*discover.Warning) {
	if err := l.ReportWarnings(list); err != nil {
		l.partial = err
	}
}

// warnUnread returns a function that reports an error in reading a session's transcript.
func (l *logsReader) warnUnread(s discover.Session) func(error) {
	return func(err error) { l.unread([]*discover.Warning{UnreadWarning(s, err)}) }
}

// addSubagents adds new sub-agents' sessions with --children, and reports whether there are any.
func (l *logsReader) addSubagents(ctx context.Context) (more bool, err error) {
	if !l.options.children {
		return false, nil
	}
	before := len(l.sessions)
	all, warnings, err := l.subagents.Update(ctx, l.sessions)
	l.unread(warnings)
	l.sessions = all
	return len(all) > before, err
}

// next returns what is new: first the last messages of all sessions, then the messages since.
func (l *logsReader) next(ctx context.Context) []object.Message {
	first := l.trackers == nil
	more := 0
	if l.options.follow {
		more = overlap
	}
	var lists [][]object.Message
	for i, s := range l.sessions {
		if i == len(l.trackers) { // it has just begun
			l.trackers = append(l.trackers, newTracker(l.options.JSON))
		}
		var list []update
		if first {
			list = l.trackers[i].last(l.Scanner.Messages(ctx, s), l.options.limit, more, l.warnUnread(s))
		} else {
			list = l.trackers[i].poll(l.Scanner.Messages(ctx, s), l.warnUnread(s))
		}
		lists = append(lists, convert(list, func(n update) object.Message { return l.message(n, s) }))
	}
	all := mergeByTime(lists)
	if n := l.options.limit; first && n > 0 && len(all) > n {
		all = all[len(all)-n:]
	}
	return all
}

func (l *logsReader) message(n update, s discover.Session) object.Message {
	m := object.NewMessage(n.Message, s)
	if m.Changed = n.changed; l.options.children {
		m.Adapter, m.Subagent = string(s.Agent), s.Key() != l.sessions[0].Key()
	} else {
		m.Session = ""
	}
	return m
}

// mergeByTime merges the messages of several sessions by time. The order within a session stays.
func mergeByTime(lists [][]object.Message) []object.Message {
	type placed struct {
		object.Message
		at string
	}
	var all []placed
	for _, list := range lists {
		at := ""
		for _, m := range list {
			at = max(at, m.Time)
			all = append(all, placed{m, at})
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	return convert(all, func(p placed) object.Message { return p.Message })
}

// once prints the last messages of a session.
func (l *logsReader) once(ctx context.Context) error {
	more, err := l.addSubagents(ctx)
	if err == nil && more { // sub-agents are judged together
		w := watch.NewWatcher(l.Scanner, l.sessions)
		defer w.Close()
		var r discover.Result
		r, err = w.Next(ctx)
		l.sessions = r.Sessions
		l.unread(r.Warnings)
	}
	if err != nil {
		return err
	}
	messages := l.next(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s := l.sessions[0]
	waits := s.Status == discover.Waiting && !slices.ContainsFunc(messages, func(m object.Message) bool {
		return m.Tool != nil && m.Tool.State == string(discover.ToolWaiting)
	})
	switch n := len(messages); {
	case n == 0:
		l.reportEmpty(waits)
	case waits:
		messages[n-1].WaitingFor = cmp.Or(s.WaitingFor, "the user")
	}
	return cmp.Or(PrintEach(messages, l.take), l.partial)
}

// reportEmpty says why nothing is printed.
func (l *logsReader) reportEmpty(waits bool) {
	s := l.sessions[0]
	what := "has no messages"
	if s.Path == "" {
		what = "has nothing stored yet"
	}
	if waits {
		what += ", and waits for " + render.Sanitize(cmp.Or(s.WaitingFor, "the user"))
	}
	l.Report.Note(fmt.Sprintf("%s %s", SessionName(s), what))
}

// follow prints the last messages of a session, then each new one, until the session stops.
func (l *logsReader) follow(ctx context.Context) error {
	if _, err := l.addSubagents(ctx); err != nil {
		return err
	}
	end := NewWaiter(Stopped, 1, func(discover.Session) error { return nil })
	for more := true; more; {
		more = false
		err := EachResult(ctx, watch.NewWatcher(l.Scanner, l.sessions), func(r discover.Result) (_ bool, err error) {
			l.sessions = r.Sessions
			l.unread(r.Warnings)
			if err := PrintEach(l.next(ctx), l.take); err != nil {
				return false, err
			}
			if more, err = l.addSubagents(ctx); more || err != nil {
				return false, err // with the new ones
			}
			return end.Update(l.sessions[:1])
		})
		if err != nil {
			return err
		}
	}
	if err := end.Conclude(l.Call.Env); err != nil {
		return err
	}
	return l.partial
}
