package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/launch"
	"agentctl/lock"
)

// What became of a session that was to be resumed.
const (
	resumeDone    = "resumed"
	resumePlanned = "planned"
	resumeRefused = "refused" // nothing was started
	resumeFailed  = "failed"
)

// manyOptions has the flags of resume that are about several sessions.
type manyOptions struct {
	interrupted, last, yes, dryRun bool
	since, tmux                    string
	repo                           string
	jobs                           int
}

// usualJobs is how many sessions are resumed at the same time: each starts an agent, which takes a second of a processor or two.
const usualJobs = 4

// usualMessage is what sessions that were cut off are told if the user says nothing.
const usualMessage = "You were interrupted. Check what is done already, and go on."

func (m *manyOptions) flags() []cli.Flag {
	m.jobs = usualJobs
	return []cli.Flag{
		&cli.BoolFlag{Name: "interrupted", Usage: "resume the sessions whose process ended in the middle of a turn (list --status interrupted)", Destination: &m.interrupted},
		&cli.StringFlag{Name: "since", Usage: "with --interrupted: only those active since `WHEN`, as for list; boot: those that were cut off when the machine went down, or since", Destination: &m.since},
		&cli.BoolFlag{Name: "last", Usage: "resume the stopped session with the newest activity", Destination: &m.last},
		&cli.StringFlag{Name: "repo", Usage: "with --interrupted and --last: only sessions in any worktree of the git repository that contains `DIR`; --cwd selects too", Destination: &m.repo},
		&OptionalValueFlag{StringFlag: cli.StringFlag{Name: "tmux", Usage: "resume each in its own terminal: a window of the tmux session `NAME`, as in --tmux=work (default: agentctl)", Destination: &m.tmux}, Default: "agentctl", IsArgument: func(string) bool { return true }},
		&cli.IntFlag{Name: "jobs", Usage: "resume at most `N` sessions at the same time", Value: usualJobs, Destination: &m.jobs},
		&cli.BoolFlag{Name: "yes", Usage: "do not ask; needed with --interrupted where stdin or stdout is not a terminal", Destination: &m.yes},
		&cli.BoolFlag{Name: "dry-run", Usage: "only say what would be resumed", Destination: &m.dryRun},
	}
}

// isMany reports whether the command line is about several sessions, or may be. Several IDs without a message of -p need --tmux.
func (r *resumeOptions) isMany(args []string) bool {
	return r.interrupted || r.tmux != "" || r.dryRun || len(args) > 1 && !r.None()
}

// checkMany refuses flags that do not go together, and takes the message from the arguments.
func (r *resumeOptions) checkMany(ids []string, terminal bool) ([]string, error) {
	if n := len(ids) - 1; r.tmux == "" && r.None() && (r.interrupted && n == 0 || !r.interrupted && n == 1) {
		ids, r.Prompt, r.Literal = ids[:n], ids[n], true
	}
	switch {
	case r.interrupted && (len(ids) > 0 || r.last):
		return nil, UsageError("resume", "--interrupted selects the sessions, and takes a message at most; to name a tmux session, use --tmux=NAME")
	case !r.interrupted && r.since != "":
		return nil, UsageError("resume", "--since needs --interrupted")
	case !r.interrupted && len(ids) == 0:
		return nil, UsageError("resume", "resume needs the ID of a session, --last or --interrupted")
	case r.tmux != "" && (!r.None() || r.Wait || r.Output != ""):
		return nil, UsageError("resume", "--tmux opens terminals; it takes no message, --wait and --output")
	case strings.Trim(r.tmux, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "":
		return nil, UsageError("resume", "--tmux=%s: the name of a tmux session has letters, digits, - and _ only", r.tmux)
	case r.fork || r.onCreate != "" || r.onComplete != "" || r.maxTime > 0 || r.Output != "":
		return nil, UsageError("resume", "--fork, --output, --max-time, --on-create and --on-complete are for one session")
	case r.jobs < 1:
		return nil, UsageError("resume", "--jobs must be 1 or more")
	case r.interrupted && !r.yes && !r.dryRun && (r.JSON || !terminal):
		return nil, UsageError("resume", "--interrupted needs --yes when not on a terminal, and with --json; --dry-run shows what it would resume")
	}
	if r.None() && r.tmux == "" {
		r.Prompt, r.Literal = usualMessage, true
	}
	return ids, nil
}

// runResumeMany resumes the sessions of the IDs, or those that were cut off.
func runResumeMany(ctx context.Context, env Env, ids []string, o *resumeOptions) error {
	ids, err := o.checkMany(ids, env.Terminal && !env.OnHosts(ids...))
	if err != nil {
		return err
	}
	c, calls, err := env.NewHostCall("resume", &o.CommonFlags, nil, ids)
	if err != nil {
		return err
	}
	if !o.None() { // it is read once; names of files are relative to the current directory
		text, err := o.Text(ctx, env, "resume", ".")
		if err != nil {
			return err
		}
		o.PromptOptions = PromptOptions{Prompt: text, Literal: true}
	}
	ctx, end := Interruptible(ctx)
	defer end()
	for i := range calls {
		if calls[i], err = o.WithPrompt(ctx, env, "resume", calls[i]); err != nil {
			return err
		}
	}
	results := []object.ResumeResult{}
	failed := Each(ctx, c, calls, "resuming on", func(ctx context.Context, take func(object.ResumeResult) error) error {
		m := &resumeMany{Starter: Starter{Call: c, StartOptions: &o.StartOptions}, o: o, take: take}
		return m.run(ctx, ids)
	}, func(r object.ResumeResult) error {
		results = append(results, r)
		name, words := object.HostPrefix(r.Host)+r.ID, r.Result
		if r.Message != "" {
			words += ": " + r.Message
		}
		switch {
		case !c.Quiet || c.JSON:
		case r.Result == resumeRefused, r.Result == resumeFailed:
			c.Report.Failure(name + " " + words)
		default:
			_, err := fmt.Fprintln(c.Stdout, render.Sanitize(name))
			return err
		}
		return printResult(c, r, func(*object.ResumeResult) (string, string) { return name, words })
	})
	return printedResults(c, results, failed)
}

// resumeMany resumes several sessions of this machine.
type resumeMany struct {
	Starter
	o    *resumeOptions
	take func(object.ResumeResult) error

	mu     sync.Mutex
	failed bool // some could not be resumed
	err    error
}

func (m *resumeMany) run(ctx context.Context, ids []string) error {
	chosen, refused, partial, err := m.choose(ctx, ids)
	if err != nil {
		return err
	}
	if len(chosen)+len(refused) == 0 {
		m.Report.Note("no session was cut off")
		return partial
	}
	if m.o.interrupted && !m.o.yes && !m.o.dryRun && len(chosen) > 0 {
		err := m.Confirm(ctx, "resume these?", "nothing was resumed", func(w io.Writer) error {
			return render.SessionTable(w, SessionObjects(chosen), m.Style)
		})
		if err != nil {
			return err
		}
	}
	defer m.Progress("resuming")()
	for _, r := range refused {
		m.report(r)
	}
	var jobs errgroup.Group
	jobs.SetLimit(m.o.jobs)
	for _, list := range byWorkspace(chosen) { // those of one workspace one after the other: the newest first
		jobs.Go(func() error {
			for i, s := range list {
				if ctx.Err() == nil {
					m.report(m.resume(ctx, s, list[:i]))
				}
			}
			return nil
		})
	}
	_ = jobs.Wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case m.err == nil && m.failed:
		return ErrPartial // each result says why
	}
	return cmp.Or(m.err, partial)
}

func (m *resumeMany) report(r object.ResumeResult) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failed = m.failed || r.Result == resumeRefused || r.Result == resumeFailed
	m.err = cmp.Or(m.err, m.take(r))
}

// choose finds the sessions: those of the IDs, or those that were cut off in a turn. refused are those of the latter that went on in a
// copy. partial says that some may be missing.
func (m *resumeMany) choose(ctx context.Context, ids []string) (chosen []discover.Session, refused []object.ResumeResult, partial, err error) {
	working, done := m.StartWork(ctx, "looking for the sessions")
	defer done()
	if !m.o.interrupted {
		r, err := m.FindAll(working, ids)
		_ = m.ReportWarnings(r.Warnings)
		if errors.Is(err, discover.ErrNotFound) && m.o.tmux != "" {
			err = &Failure{errorNamed("not_found"), err.Error(), "to name a tmux session, use --tmux=NAME", nil}
		}
		return r.Sessions, nil, nil, err
	}
	filter := discover.SessionFilter{Agents: m.Agents, IncludeStopped: true, Full: true, SinceBoot: m.o.since == sinceBoot}
	if filter.Since, err = m.SinceTime("resume", m.o.since); err != nil {
		return nil, nil, nil, err
	}
	match, err := Scope{dir: m.o.dir, repo: m.o.repo}.Match("resume")
	if err != nil {
		return nil, nil, nil, err
	}
	r, err := m.Scanner.List(working, filter)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, s := range r.Sessions {
		if s.CutOff() == nil || s.ID == "" || match != nil && !match(s) || m.OtherUsers(r, s) {
			continue
		}
		copied := slices.IndexFunc(r.Sessions, func(o discover.Session) bool {
			return o.Agent == s.Agent && o.ForkedFrom == s.ID && o.Created.After(s.Updated)
		})
		if copied >= 0 {
			refused = append(refused, m.refuse(s, "it went on in its copy "+r.Sessions[copied].ID))
			continue
		}
		chosen = append(chosen, s)
	}
	return chosen, refused, m.ReportWarnings(r.Warnings), nil
}

// byWorkspace splits sessions by the workspace that they worked in.
func byWorkspace(list []discover.Session) (split [][]discover.Session) {
	at := map[string]int{}
	for _, s := range list {
		key := s.Dir
		if w, err := lock.WorkspaceOf(s.Dir); err == nil {
			key = w.Top
		}
		if _, known := at[key]; !known {
			at[key], split = len(split), append(split, nil)
		}
		split[at[key]] = append(split[at[key]], s)
	}
	return split
}

func (m *resumeMany) refuse(s discover.Session, why string) object.ResumeResult {
	return object.ResumeResult{ID: s.ID, Adapter: string(s.Agent), Result: resumeRefused, Message: why, Session: new(object.NewSession(s))}
}

// resume resumes one session. before are those of its workspace that came before it.
func (m *resumeMany) resume(ctx context.Context, s discover.Session, before []discover.Session) object.ResumeResult {
	full, adapter, err := findStored(ctx, m.Call, s.Argument())
	if err != nil {
		return m.refuse(s, err.Error())
	}
	req, err := m.o.request(ctx, m.Call, full)
	if err != nil {
		return m.refuse(full, err.Error())
	}
	if req.Unchanged = m.o.interrupted; req.Unchanged && full.CutOff() == nil {
		return m.refuse(full, "it went on meanwhile")
	}
	req.Interactive = m.o.tmux != ""
	result := object.ResumeResult{ID: full.ID, Adapter: string(full.Agent), Result: resumeDone}
	switch {
	case m.o.dryRun && len(before) > 0:
		return m.refuse(full, before[0].ID+" would work in its directory first")
	case m.o.dryRun:
		var plan *launch.Plan
		if plan, err = m.Plan(ctx, adapter, req); err == nil {
			plan.Release()
		}
		result.Result = resumePlanned
	case m.o.tmux != "":
		full, err = m.openWindow(ctx, adapter, req)
		result.Window = m.o.tmux
	default:
		var started *Launched
		if started, err = m.Start(ctx, adapter, req, nil); started != nil {
			defer started.Close()
			if err == nil && m.o.Wait {
				err = started.WaitForEnd(ctx)
			}
			started.Refresh(context.WithoutCancel(ctx), discover.ReadOptions{})
			if full = started.Session; err != nil {
				result.Result = resumeFailed
			}
		}
	}
	changed := (*launch.ChangedError)(nil)
	switch {
	case errors.As(err, &changed):
		return m.refuse(changed.Session, "it went on meanwhile")
	case err != nil && result.Result != resumeFailed:
		return m.refuse(full, err.Error())
	case err != nil:
		result.Message = err.Error()
	}
	if full.ID != "" {
		result.Session = new(object.NewSession(full))
	}
	return result
}

func (m *resumeMany) openWindow(ctx context.Context, adapter launch.Adapter, req launch.Request) (discover.Session, error) {
	limited, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	environment := launch.Environment{Environ: m.Environ}
	path, err := environment.LookPath("tmux")
	if err != nil {
		return *req.Resume, NotInstalledError("there is no tmux in PATH")
	}
	plan, err := m.Plan(limited, adapter, req)
	if err != nil {
		return *req.Resume, err
	}
	defer plan.Release()
	s := *req.Resume
	return plan.OpenWindow(limited, launch.Tmux{Path: path, Session: m.o.tmux, Environment: environment}, cmp.Or(s.Title, s.Prompt, string(s.Agent)))
}

// lastStopped returns the argument that means the stopped session with the newest activity.
func lastStopped(ctx context.Context, c *Call, o *resumeOptions) (string, error) {
	match, err := Scope{dir: o.dir, repo: o.repo}.Match("resume")
	if err != nil {
		return "", err
	}
	working, done := c.StartWork(ctx, "looking for the session")
	defer done()
	r, err := c.Scanner.List(working, discover.SessionFilter{
		Agents: c.Agents, IncludeStopped: true, Statuses: []discover.Status{discover.Stopped}, Condition: match, Limit: 1,
	})
	if err != nil {
		return "", err
	}
	_ = c.ReportWarnings(r.Warnings)
	if len(r.Sessions) == 0 {
		return "", NotFoundError("no stopped session matches")
	}
	return r.Sessions[0].Argument(), nil
}
