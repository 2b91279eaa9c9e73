package cli

import (
	"cmp"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/lock"
)

// statuses are the words that --status takes.
func statuses() []string {
	return []string{
		string(discover.Running), string(discover.Waiting), string(discover.Idle),
		string(discover.Stopped), string(discover.Unknown),
	}
}

// selection checks the flags of list and says what they mean. Asking for stopped sessions, or for a window of time,
// is asking for --all.
func (c *call) selection(o *listOptions) (discover.SessionFilter, error) {
	sel := discover.SessionFilter{
		Agents: c.agents, IncludeStopped: o.all || o.since != "", Limit: o.limit, Subagents: o.children, Tokens: o.tokens,
	}
	if o.limit < 0 {
		return sel, badUsage("list", "-n must be 0 or more")
	}
	words, err := split("status", o.statuses.Value(), statuses())
	if err != nil {
		return sel, err
	}
	for _, w := range words {
		sel.Statuses = append(sel.Statuses, discover.Status(w))
		sel.IncludeStopped = sel.IncludeStopped || discover.Status(w) == discover.Stopped
	}
	if sel.Since, err = c.since("list", o.since); err != nil {
		return sel, err
	}
	sel.Condition, err = o.scope.match("list")
	if o.quiet {
		sel.Condition = withID(sel.Condition)
	}
	return sel, err
}

// since is the time that --since says, or the configuration.
func (c *call) since(verb, flag string) (time.Time, error) {
	at, err := config.ParseSince(cmp.Or(flag, string(c.Since)), c.look.Now)
	if err != nil {
		return at, badUsage(verb, "--since: %v", err)
	}
	return at, nil
}

// withID is a condition that only sessions with an ID meet; and may be nil.
func withID(and func(discover.Session) bool) func(discover.Session) bool {
	return func(s discover.Session) bool { return s.ID != "" && (and == nil || and(s)) }
}

func (env Env) chosenAgents(values []string) ([]discover.Agent, error) {
	words, err := split("agent", values, env.agentNames())
	var out []discover.Agent
	for _, w := range words {
		out = append(out, discover.Agent(w))
	}
	return out, err
}

// scope are the flags that select sessions by where they work and by their launch group; a session must meet all of them.
type scope struct{ dir, repo, group string }

// flags returns --cwd, --repo and --group; verb says what becomes of the sessions ("only", "select").
func (s *scope) flags(verb string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "cwd", Usage: verb + " sessions in the git worktree that contains `DIR`; if it is in none, in exactly that directory", Destination: &s.dir},
		&cli.StringFlag{Name: "repo", Usage: verb + " sessions in any worktree of the git repository that contains `DIR`", Destination: &s.repo},
		&cli.StringFlag{Name: "group", Usage: verb + " sessions of the launch group `G`", Destination: &s.group},
	}
}

// match is the condition on a finished session; nil if there is none.
func (s scope) match(verb string) (func(discover.Session) bool, error) {
	var conditions []func(discover.Session) bool
	if s.dir != "" {
		place, err := lock.WorkspaceOf(s.dir)
		if err != nil {
			return nil, badUsage(verb, "--cwd: %v", err)
		}
		conditions = append(conditions, func(s discover.Session) bool { return place.Contains(s.Dir) })
	}
	if s.repo != "" {
		repo, err := lock.RepositoryOf(s.repo)
		if err != nil {
			return nil, badUsage(verb, "--repo: %s: %v", s.repo, err)
		}
		conditions = append(conditions, func(s discover.Session) bool { return repo.Contains(s.Dir) })
	}
	if s.group != "" {
		conditions = append(conditions, func(o discover.Session) bool { return o.Group == s.group })
	}
	if len(conditions) == 0 {
		return nil, nil
	}
	return func(s discover.Session) bool {
		return !slices.ContainsFunc(conditions, func(meets func(discover.Session) bool) bool { return !meets(s) })
	}, nil
}
