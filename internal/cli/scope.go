package cli

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/discover/ancestry"
	"agentctl/discover/search"
	"agentctl/lock"
)

// ChosenAgents returns the agents that the values of --adapter name.
func (f Factory) ChosenAgents(values []string) ([]discover.Agent, error) {
	words, err := SplitWords("agent", values, f.AgentNames())
	var out []discover.Agent
	for _, w := range words {
		out = append(out, discover.Agent(w))
	}
	return out, err
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

// OtherUsers reports whether the session is another user's, whose processes this user may not signal.
func (f Factory) OtherUsers(r discover.Result, s discover.Session) bool {
	self, ok := r.Table.ByPID(f.PID)
	return ok && self.UID != 0 && len(s.Processes) > 0 && s.Processes[0].UID != self.UID
}

func Roles() []string {
	return []string{string(search.User), string(search.Assistant), string(search.Tool)}
}
