package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/discover/ancestry"
	"agentctl/internal/config"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/lock"
	"agentctl/proc"
)

// Find finds the sessions that an argument means. If it fails, it reports the warnings, which may be the reason.
func (c *Call) Find(ctx context.Context, arg string, options discover.ReadOptions) (discover.Result, error) {
	working, done := c.StartWork(ctx, "looking for "+render.Sanitize(arg))
	defer done()
	r, err := c.Scanner.Find(working, arg, c.Agents, options)
	if working.Err() != nil {
		err = working.Err()
	}
	if err != nil {
		_ = c.ReportWarnings(r.Warnings)
	}
	return r, err
}

// FindOne is [Call.Find] of an argument that must mean one session, as pid:N may not.
func (c *Call) FindOne(ctx context.Context, arg string, options discover.ReadOptions) (discover.Session, discover.Result, error) {
	r, err := c.Find(ctx, arg, options)
	if err != nil {
		return discover.Session{}, r, err
	}
	if len(r.Sessions) > 1 {
		_ = c.ReportWarnings(r.Warnings) // the error says how it ends
		return discover.Session{}, r, &discover.AmbiguousError{Arg: arg, Candidates: r.Sessions, Total: len(r.Sessions)}
	}
	return r.Sessions[0], r, nil
}

// sinceBoot is the --since that means when the machine has started.
const sinceBoot = "boot"

// SinceTime returns the time of --since, or of the configuration.
func (c *Call) SinceTime(verb, flag string) (time.Time, error) {
	if flag == sinceBoot {
		return proc.BootTime()
	}
	at, err := config.ParseSince(cmp.Or(flag, string(c.Config.Since)), c.Style.Now)
	if err != nil {
		return at, UsageError(verb, "--since: %v, or boot", err)
	}
	return at, nil
}

// HintLeftOut hints at what a time window leaves out, unless all of it is "", and at what includes it.
func (c *Call) HintLeftOut(includedBy string, what ...string) {
	what = slices.DeleteFunc(what, func(s string) bool { return s == "" })
	if len(what) > 0 {
		c.Report.Hint("left out: " + strings.Join(what, ", ") + "; " + includedBy + " includes everything")
	}
}

// OlderSessions describes so many sessions that a time window leaves out; "" for none.
func OlderSessions(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 older session"
	}
	return render.Count(int64(n)) + " older sessions"
}

// SessionObjects converts sessions to their JSON objects.
func SessionObjects(sessions []discover.Session) []object.Session {
	return convert(sessions, object.NewSession)
}

// convert returns what a function makes of each element of a list.
func convert[T, U any](list []T, to func(T) U) []U {
	out := make([]U, len(list))
	for i, v := range list {
		out[i] = to(v)
	}
	return out
}

// Scope has the flags that select sessions by directory and launch group. A session must match all of them.
type Scope struct{ dir, repo, Group string }

// Flags returns --cwd, --repo and --group. verb begins their help texts ("only", "select").
func (s *Scope) Flags(verb string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "cwd", Usage: verb + " sessions in the git worktree that contains `DIR`; if it is in none, in exactly that directory", Destination: &s.dir},
		&cli.StringFlag{Name: "repo", Usage: verb + " sessions in any worktree of the git repository that contains `DIR`", Destination: &s.repo},
		&cli.StringFlag{Name: "group", Usage: verb + " sessions of the launch group `G`", Destination: &s.Group},
	}
}

// Match returns the condition of the flags; nil if none is set.
func (s Scope) Match(verb string) (func(discover.Session) bool, error) {
	var conditions []func(discover.Session) bool
	if s.dir != "" {
		workspace, err := lock.WorkspaceOf(s.dir)
		if err != nil {
			return nil, UsageError(verb, "--cwd: %v", err)
		}
		conditions = append(conditions, func(s discover.Session) bool { return workspace.Contains(s.Dir) })
	}
	if s.repo != "" {
		repo, err := lock.RepositoryOf(s.repo)
		if err != nil {
			return nil, UsageError(verb, "--repo: %s: %v", s.repo, err)
		}
		conditions = append(conditions, func(s discover.Session) bool { return repo.Contains(s.Dir) })
	}
	if s.Group != "" {
		conditions = append(conditions, func(o discover.Session) bool { return o.Group == s.Group })
	}
	if len(conditions) == 0 {
		return nil, nil
	}
	return func(s discover.Session) bool {
		return !slices.ContainsFunc(conditions, func(meets func(discover.Session) bool) bool { return !meets(s) })
	}, nil
}

// FindAll finds the sessions that the arguments mean, without duplicates.
func (c *Call) FindAll(ctx context.Context, args []string) (all discover.Result, err error) {
	for _, arg := range args {
		r, err := c.Scanner.Find(ctx, arg, c.Agents, discover.ReadOptions{})
		all.Warnings = append(all.Warnings, r.Warnings...)
		if err != nil {
			return all, err
		}
		for _, s := range r.Sessions {
			if !discover.ContainsSession(all.Sessions, s) {
				all.Sessions = append(all.Sessions, s)
			}
		}
	}
	return all, nil
}

// Selected lists the live sessions of a scope, with stopped the stopped ones too; without sub-agents' sessions and those
// that the command runs inside.
func (c *Call) Selected(ctx context.Context, verb string, in Scope, stopped bool) (discover.Result, error) {
	match, err := in.Match(verb)
	if err != nil {
		return discover.Result{}, err
	}
	r, err := c.Scanner.List(ctx, discover.SessionFilter{Agents: c.Agents, IncludeStopped: stopped, Subagents: true})
	if err != nil {
		return r, err
	}
	around := ancestry.FindEnclosing(c.Scanner, r, c.PID, c.Getenv)
	r.Sessions = slices.DeleteFunc(slices.Clone(r.Sessions), func(s discover.Session) bool {
		return s.IsSubagent() || match != nil && !match(s) || around.Contains(s)
	})
	return r, nil
}

// Choose returns the sessions of the arguments or, if there are none, those of [Call.Selected] that match. partial says that a selection may have missed
// some. If one of the arguments means no session, the error says so.
func (c *Call) Choose(
	ctx context.Context, verb string, args []string, in Scope, stopped bool, matches func(discover.Session) bool,
) (chosen []discover.Session, partial, err error) {
	if len(args) > 0 {
		r, err := c.FindAll(ctx, args)
		_ = c.ReportWarnings(r.Warnings) // what becomes of these sessions is looked up again
		return r.Sessions, nil, err
	}
	r, err := c.Selected(ctx, verb, in, stopped)
	if err != nil {
		return nil, nil, err
	}
	chosen = slices.DeleteFunc(r.Sessions, func(s discover.Session) bool { return c.OtherUsers(r, s) || !matches(s) })
	return chosen, c.ReportWarnings(r.Warnings), nil
}

// OtherUsers reports whether the session is another user's, whose processes this user may not signal.
func (env Env) OtherUsers(r discover.Result, s discover.Session) bool {
	self, ok := r.Table.ByPID(env.PID)
	return ok && self.UID != 0 && len(s.Processes) > 0 && s.Processes[0].UID != self.UID
}

// Statuses are the statuses of sessions.
func Statuses() []string {
	return []string{
		string(discover.Running), string(discover.Waiting), string(discover.Idle),
		string(discover.Stopped), string(discover.Unknown),
	}
}

// statusWords are the words that --status takes: statuses, and outcomes of stopped sessions.
func statusWords() []string {
	return append(Statuses(), string(discover.Interrupted), string(discover.Failed), string(discover.Completed))
}

// selectStatuses adds the words of --status to a filter.
func selectStatuses(filter *discover.SessionFilter, values []string) error {
	words, err := SplitWords("status", values, statusWords())
	for _, w := range words {
		if slices.Contains(Statuses(), w) {
			filter.Statuses = append(filter.Statuses, discover.Status(w))
			filter.IncludeStopped = filter.IncludeStopped || w == string(discover.Stopped)
		} else {
			filter.Outcomes, filter.IncludeStopped = append(filter.Outcomes, discover.Outcome(w)), true
		}
	}
	return err
}
