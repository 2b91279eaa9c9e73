package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/internal/terminal"
	"agentctl/launch"
	"agentctl/lock/githooks"
	"agentctl/proc"
)

// view is a content of the pane: commands of this program, whose output is shown one after another.
type view struct {
	key, name string
	// long says for the help what it shows.
	long string
	// commands are those for a session, which the argument means.
	commands func(argument string, s *object.Session) [][]string
	// general: the commands are about no session, but about all hosts of the table.
	general bool
	// interval is how often the content is refreshed even if nothing seems to have changed.
	interval time.Duration
	// newestLast: the end of the content is shown.
	newestLast bool
	// begin finds the line with which the shown part begins; "" for the first.
	begin func(line string) bool
}

// views are the contents by their keys.
func views() []view {
	one := func(args ...string) func(string, *object.Session) [][]string {
		return func(argument string, _ *object.Session) [][]string {
			return [][]string{append(slices.Clone(args), argument)}
		}
	}
	return []view{
		{key: "Enter", name: "peek", long: "show or hide its last messages", commands: one("peek", "-n", "50"), interval: 30 * time.Second, newestLast: true},
		{key: "i", name: "status", long: "show or hide its facts", commands: one("status"), interval: 5 * time.Second},
		{key: "t", name: "processes", long: "show or hide its processes, with their ports", commands: one("status"), interval: 3 * time.Second, begin: func(line string) bool { return strings.HasPrefix(line, "PID ") }},
		{key: "e", name: "evidence", long: "show or hide the evidence for its status", commands: one("status", "--explain"), interval: 10 * time.Second, begin: func(line string) bool { return strings.HasPrefix(line, "why:") }},
		{key: "o", name: "orphans", long: "show or hide what stopped sessions have left running", general: true, interval: 10 * time.Second, commands: func(string, *object.Session) [][]string {
			return [][]string{{"list", "--orphans"}}
		}},
		{key: "w", name: "worktrees and locks", long: "show or hide the locks, and the worktrees of its repository", interval: 10 * time.Second, commands: func(_ string, s *object.Session) [][]string {
			switch {
			case !isLocal(s.Host): // both commands refuse that, and say how to ask there
				return [][]string{{"locks", "--host", s.Host}, {"worktree", "list", "--host", s.Host}}
			case s.CWD == "":
				return [][]string{{"locks"}}
			}
			return [][]string{{"locks"}, {"worktree", "list", s.CWD}}
		}},
		{key: "u", name: "usage", long: "show or hide tokens and limits of the last days", general: true, interval: time.Minute, commands: func(string, *object.Session) [][]string {
			return [][]string{{"usage", "--since", "7d"}, {"usage", "--limits"}}
		}},
	}
}

// content is what a pane is to show: the commands, the width, and the state of the session.
type content struct {
	view     string
	commands [][]string
	width    int
	state    string
}

func (c content) same(o content) bool {
	return c.view == o.view && c.width == o.width && slices.EqualFunc(c.commands, o.commands, slices.Equal[[]string])
}

// pane is the part of the screen that shows what commands print. Its content is made in the background.
type pane struct {
	wake chan struct{}

	mu        sync.Mutex
	wanted    content
	loaded    content
	lines     []string
	loadedAt  time.Time
	notBefore time.Time
}

// want asks for a content, and returns its lines. known is false until there are any.
func (p *pane) want(c content, interval time.Duration, now time.Time) (lines []string, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = c
	fresh := p.loaded.same(c) && p.loaded.state == c.state && now.Sub(p.loadedAt) < interval
	if !fresh && (!p.loaded.same(c) || !now.Before(p.notBefore)) {
		select {
		case p.wake <- struct{}{}:
		default: // it is asked for already
		}
	}
	return p.lines, p.loaded.same(c)
}

// load produces the wanted contents until ctx ends.
func (p *pane) load(ctx context.Context, r runner, changed func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		}
		p.mu.Lock()
		c := p.wanted
		p.mu.Unlock()
		began := time.Now()
		lines := r.print(ctx, c)
		took := time.Since(began)
		p.mu.Lock()
		p.loaded, p.lines, p.loadedAt = c, lines, time.Now()
		p.notBefore = p.loadedAt.Add(max(panePause, paneShare*took))
		p.mu.Unlock()
		changed()
	}
}

// print returns what the commands of a content print, with the command line of each if there are several.
func (r runner) print(ctx context.Context, c content) (lines []string) {
	for i, args := range c.commands {
		if i > 0 {
			lines = append(lines, "", "$ "+r.commandLine(args))
		}
		out, exit := r.capture(ctx, c.width, args)
		lines = append(lines, out...)
		switch {
		case exit != 0:
			lines = append(lines, fmt.Sprintf("exit %d", exit))
		case len(out) == 0:
			lines = append(lines, "nothing")
		}
	}
	return lines
}

// runner runs commands of this program.
type runner struct {
	verb func(ctx context.Context, env Env, args ...string) int
	env  Env
	// arguments are added to each command line.
	arguments []string
	// hosts are the flags that name the hosts of the table; commands about no session take them.
	hosts []string
}

// complete adds the arguments that all commands have, before a -- that ends the flags.
func (r runner) complete(args []string) []string {
	end := slices.Index(args, "--")
	if end < 0 {
		end = len(args)
	}
	return slices.Concat(args[:end], r.arguments, args[end:])
}

// commandLine is how a command line is shown, such that a shell understands it.
func (r runner) commandLine(args []string) string {
	words := []string{Program}
	for _, arg := range r.complete(args) {
		words = append(words, quoted(arg))
	}
	return render.Sanitize(strings.Join(words, " "))
}

// quoted quotes a word for a shell if it needs to be.
func quoted(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@=,+~") == "" {
		return word
	}
	return githooks.ShellQuote(word)
}

// capture runs a command in this process and returns what it prints for a terminal of this width, and its exit code. Its stdin is empty.
func (r runner) capture(ctx context.Context, width int, args []string) (lines []string, exit int) {
	var out bytes.Buffer
	f := r.env
	const noPager = 1 << 30 // lines of the terminal: more than any text has
	f.Stdin, f.Stdout, f.Stderr = strings.NewReader(""), &out, &out
	f.Width, f.Height, f.StderrWidth, f.Terminal = width, noPager, 0, false
	exit = r.verb(ctx, f, r.complete(args)...)
	text := strings.TrimRight(out.String(), "\n")
	if text == "" {
		return nil, exit
	}
	return strings.Split(text, "\n"), exit
}

// foreground runs a command as a process of its own, which has the terminal. If it fails, the user can read why.
func (r runner) foreground(ctx context.Context, args []string) {
	in, out := r.env.Stdin.(*os.File), r.env.Stdout.(*os.File) //nolint:forcetypeassert // top has checked it
	path, err := r.env.Executable()
	if err == nil {
		cmd := exec.Command(path, r.complete(args)...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = in, out, r.env.Stderr, r.env.Environ
		err = proc.RunJob(ctx, cmd, false, GracePeriod)
	}
	if err != nil && ctx.Err() == nil {
		const end = "; Enter returns to agentctl top "
		text := r.commandLine(args) + ": " + ErrorText(err)
		_, _ = out.WriteString("\n")
		terminal.WaitEnter(ctx, in, out, func(columns int) string { return render.Truncate(text, max(0, columns-len(end))) + end })
	}
}

// report is what a command that acted has printed, in the pane.
type report struct {
	commandLine string
	lines       []string
	running     bool
}

// act runs commands beside the screen, one after another, and shows in the pane what they print. Other actions may run at the same
// time: a message waits until it is read. t.mu is held.
func (t *topModel) act(commands ...[]string) {
	if !slices.ContainsFunc(t.reports, func(r *report) bool { return r.running }) {
		t.reports = nil
	}
	t.scroll = 0
	begin := func(args []string) *report {
		r := &report{commandLine: t.runner.commandLine(args), running: true}
		t.reports = append(t.reports, r)
		return r
	}
	shown := begin(commands[0])
	t.table.start(func() {
		for i, args := range commands {
			lines, exit := t.runner.capture(t.ctx, reportWidth, args)
			t.mu.Lock()
			shown.lines, shown.running = append(lines, fmt.Sprintf("exit %d", exit)), false
			if i+1 < len(commands) {
				shown = begin(commands[i+1])
			}
			t.mu.Unlock()
			t.table.notify()
		}
	})
}

// reportWidth is the width for which reports are printed. Their lines are wrapped to the pane when they are drawn.
const reportWidth = 400

// confirmation ends a question that y answers.
const confirmation = "? [y/N] "

// enterConfirmation ends a question that only Enter answers.
const enterConfirmation = "? [Enter, or another key] "

func (t *topModel) askStop() {
	rows := slices.DeleteFunc(slices.Clone(t.targets()), func(r row) bool { return r.s.Status == string(discover.Stopped) })
	if len(rows) == 0 {
		t.notice = "there is no live session to stop"
		return
	}
	args := append([]string{"stop"}, t.arguments(rows)...)
	t.prompt = &prompt{confirm: true, done: func(string) { t.act(args) }}
	if len(rows) == 1 {
		t.prompt.label = "stop " + t.describe(rows[0]) + confirmation
		return
	}
	t.prompt.label = fmt.Sprintf("stop these %d sessions", len(rows)) + confirmation
	asked := &report{commandLine: t.runner.commandLine(args)}
	for _, r := range rows {
		asked.lines = append(asked.lines, t.describe(r))
	}
	t.reports, t.scroll = []*report{asked}, 0
	t.prompt.cancelled = func() { t.reports = nil }
}

// describe names a session by its agent, directory and title.
func (t *topModel) describe(r row) string {
	text := r.s.Adapter + " in " + cmp.Or(t.call.Style.ShortDir(r.s.CWD), "an unknown directory")
	if title := cmp.Or(r.s.Title, r.s.Prompt); title != "" {
		text += ": " + title
	}
	return render.Sanitize(object.HostPrefix(r.s.Host) + text)
}

// askAnswer shows the open request of the selected session, and asks whether it is to be answered with a word, or for the text that answers its question.
// Only the very request that is shown is answered.
func (t *topModel) askAnswer(word string) {
	i := t.index()
	if i < 0 || t.rows[i].s.Status != string(discover.Waiting) {
		t.notice = "the session waits for no answer"
		return
	}
	id := t.arguments(t.rows[i : i+1])[0]
	t.reports, t.scroll = []*report{{commandLine: t.runner.commandLine([]string{"answer", id}), running: true}}, 0
	shown := t.reports[0]
	t.table.start(func() {
		out, _ := t.runner.capture(t.ctx, reportWidth, []string{"answer", "--json", id})
		var r object.Request
		i := slices.IndexFunc(out, func(line string) bool { // the first request; others are warnings, or the error
			r = object.Request{}
			return json.Unmarshal([]byte(line), &r) == nil && r.Kind != "" && r.Check() == nil
		})
		if i >= 0 {
			var text strings.Builder
			_ = render.Request(&text, &r, t.call.Style) // a builder returns no error
			out = strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
		}
		t.mu.Lock()
		shown.lines, shown.running = out, false
		if i >= 0 && r.Unanswerable == "" && t.prompt == nil && slices.Contains(t.reports, shown) {
			t.promptAnswer(id, &r, word)
		}
		t.mu.Unlock()
		t.table.notify()
	})
}

// promptAnswer asks for the answer to a request that is shown. t.mu is held.
func (t *topModel) promptAnswer(id string, r *object.Request, word string) {
	give := func(text string) { t.act([]string{"answer", "--request", r.ID, "--", id, text}) }
	switch len(r.Questions) {
	case 0:
		t.prompt = &prompt{label: "answer " + word + enterConfirmation, confirm: true, enter: true, done: func(string) { give(word) }}
	case 1:
		t.prompt = &prompt{label: "answer: ", done: func(text string) {
			if t.notice = "nothing was answered"; strings.TrimSpace(text) != "" {
				t.notice = ""
				give(text)
			}
		}}
	default:
		t.notice = "it asks several questions: answer them by the command line, or attach"
	}
}

func (t *topModel) askMessage() {
	rows := t.targets()
	if len(rows) == 0 {
		t.notice = "there is no session to send a message to"
		return
	}
	to, receiver := t.arguments(rows), fmt.Sprintf("%d sessions", len(rows))
	if len(rows) == 1 {
		s := rows[0].s
		if err := t.checkSend(rows[0]); err != nil {
			t.notice = render.Sanitize(err.Error())
			return
		}
		host := object.HostPrefix(s.Host)
		id := render.SessionID{Agent: s.Adapter, ID: strings.TrimPrefix(s.Name(), host)}
		receiver = fmt.Sprint(s.Adapter, " ", host, t.call.Style.ShortIDs([]render.SessionID{id})[0])
	}
	t.prompt = &prompt{label: "message to " + receiver + ": ", done: func(text string) {
		if strings.TrimSpace(text) == "" {
			t.notice = "nothing was sent"
			return
		}
		var commands [][]string
		for _, id := range to {
			commands = append(commands, []string{"send", "--", id, text})
		}
		t.act(commands...)
	}}
}

// checkSend says why a session of this machine takes no message now; nil if it takes one, or if that is not known.
func (t *topModel) checkSend(r row) error {
	last, _ := t.table.Last()
	for _, s := range last.Sessions {
		if keyOf(s) == r.key && s.Status != discover.Unknown {
			return launch.AdapterOf(t.call.Adapters, s.Agent).CheckSend(s, launch.NewEnvironment(t.call.Environ, t.call.Adapters))
		}
	}
	return nil
}

// attach gives the terminal to the session, or to what leads there.
func (t *topModel) attach() terminal.Request {
	i := t.index()
	if i < 0 {
		t.notice = "there is no session to attach to"
		return terminal.Request{}
	}
	args := append([]string{"attach"}, t.arguments(t.rows[i:i+1])...)
	t.notice = t.runner.commandLine(args)
	return terminal.Request{Run: func(ctx context.Context) {
		t.runner.foreground(ctx, args)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.notice = "" // the footer has the keys again
	}}
}
