package cli

import (
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
func (env Env) selection(o *listOptions, s settings) (discover.Select, error) {
	sel := discover.Select{
		All: o.all || o.since != "", Limit: o.limit, Children: o.children, Tokens: o.tokens,
	}
	if o.limit < 0 {
		return sel, badUsage("list", "-n is %d, which is no number of sessions", o.limit)
	}
	var err error
	if sel.Agents, err = env.chosenAgents(o.adapters.Value()); err != nil {
		return sel, err
	}
	words, err := split("status", o.statuses.Value(), statuses())
	if err != nil {
		return sel, err
	}
	for _, w := range words {
		sel.Statuses = append(sel.Statuses, discover.Status(w))
		sel.All = sel.All || discover.Status(w) == discover.Stopped
	}
	since := string(s.Since)
	if o.since != "" {
		since = o.since
	}
	if sel.Since, err = config.ParseSince(since, s.look.Now); err != nil {
		return sel, badUsage("list", "--since: %v", err)
	}
	sel.Match, err = match("list", o.dir, o.group)
	if o.quiet {
		sel.Match = withID(sel.Match)
	}
	return sel, err
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

// match is the condition of --cwd and --group on a finished session; nil if there is none.
func match(verb, dir, group string) (func(discover.Session) bool, error) {
	if dir == "" && group == "" {
		return nil, nil
	}
	in := func(string) bool { return true }
	if dir != "" {
		place, err := lock.At(dir)
		if err != nil {
			return nil, badUsage(verb, "--cwd: %v", err)
		}
		in = place.Has
	}
	return func(s discover.Session) bool { return (group == "" || s.Group == group) && in(s.Dir) }, nil
}
