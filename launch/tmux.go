package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"agentctl/discover"
	"agentctl/proc"
)

// Tmux is a session of tmux in which agents are started, each in a window of its own.
type Tmux struct {
	// Path is the program, Session the name of the session. It is created if there is none.
	Path, Session string
	Environment   Environment
}

const (
	// liveInterval is how often a session that was started in a window is looked for.
	liveInterval = 250 * time.Millisecond
	// settleTime is how long a session must be live if no evidence is exact: a terminal of Codex names its session in its arguments, and
	// then nothing does until its daemon has started and loaded it (SEEN 0.171: some seconds).
	settleTime = 10 * time.Second
)

// OpenWindow starts the agent of an interactive plan in a new window, and returns once the session to resume is live. The plan's lock is
// held until then, so that nobody else resumes the session meanwhile. Errors: [*AgentFailedError] if the process ends before,
// [ErrSessionTimeout] after ctx's deadline: then the agent goes on.
func (p *Plan) OpenWindow(ctx context.Context, t Tmux, title string) (discover.Session, error) {
	before := *p.Request.Resume
	args := slices.Concat([]string{"-d", "-P", "-F", "#{pane_pid}", "-n", cmp.Or(windowName(title), string(p.Agent.Name())), "--"}, p.windowCommand())
	session := "=" + t.Session
	run := func(words ...string) (string, error) { // tmux starts the command where its client is
		return t.Environment.Output(ctx, p.Spec.Dir, nil, append([]string{t.Path}, words...)...)
	}
	create := append([]string{"new-session", "-s", t.Session}, args...)
	open := append([]string{"new-window", "-t", session + ":"}, args...)
	command := open
	if _, err := run("has-session", "-t", session); err != nil {
		command = create
	}
	out, err := run(command...)
	if err != nil && strings.Contains(err.Error(), "duplicate session") { // somebody else has created it meanwhile
		out, err = run(open...)
	}
	if err != nil {
		return before, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(out))
	if err != nil {
		return before, fmt.Errorf("tmux printed no pid: %q", out)
	}
	pane, err := proc.Inspect(pid)
	var since time.Time // it is live by other than exact evidence
	for err == nil {
		now, _ := Reread(ctx, p.Scanner, before)
		switch live := now.Status.Live() && len(now.Processes) > 0; {
		case live && (now.HasExactEvidence() || !since.IsZero() && time.Since(since) >= settleTime):
			return now, nil
		case !live:
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return before, ErrSessionTimeout
			}
			return before, ctx.Err()
		case <-time.After(liveInterval):
		}
		if q, gone := proc.Inspect(pid); gone != nil || q.ID != pane.ID {
			err = proc.ErrGone
		}
	}
	return before, &AgentFailedError{Agent: p.Agent.Name(), Message: "it ended in its window"}
}

// windowCommand is the command line of a window. It has the environment of the server of tmux, in which markers of an agent may be: these are
// removed. What names the agent's home, and what the plan sets, is as here.
func (p *Plan) windowCommand() []string {
	command := []string{"env"}
	for _, a := range p.Scanner.Adapters {
		for _, name := range AdapterOf(p.Scanner.Adapters, a.Name()).ScrubbedEnv() {
			if !strings.HasSuffix(name, "*") {
				command = append(command, "-u", name)
			}
		}
	}
	keys := []string{"HOME", "PATH"}
	p.Agent.Homes(discover.HomeSources{Getenv: func(key string) string {
		keys = append(keys, key)
		return p.Environment.Getenv(key)
	}}, proc.EmptyTable())
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if value := p.Environment.Getenv(key); value != "" {
			command = append(command, key+"="+value)
		}
	}
	return slices.Concat(command, p.Request.Variables, p.Spec.Env, p.Spec.Args)
}

// windowNameLimit is how many characters a window's name has.
const windowNameLimit = 30

// windowName makes the name of a window of a title. tmux expands formats in it, which can run commands: what begins one is removed.
func windowName(title string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == '#' || r == '%' || r == ':' || r == '.':
			return -1
		case !unicode.IsPrint(r):
			return ' '
		}
		return r
	}, title)
	return strings.TrimSpace(discover.Truncate(strings.TrimSpace(name), windowNameLimit))
}
