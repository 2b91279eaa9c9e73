package discover

import (
	"context"
	"errors"
	"iter"
	"slices"

	"agentctl/proc"
)

// hidden makes the claim that names the session around the process with this pid where nothing else does: the nearest
// ancestor that is an agent does not show what it has open, or none can be seen, but the first process of what can be is
// an agent's sandbox. Whoever is in there has been marked by the agent.
func (w *Scanner) hidden(r Result, pid int, getenv func(string) string) (Claim, bool) {
	for p := range around(r.Table, pid) {
		own := r.runBy(p.ID.PID)
		switch _, above := r.Table.ByPID(p.Parent); {
		case len(own) == 1 && own[0].ID == "" && own[0].Status == Unknown:
			return w.mark(own[0].Agent, p, getenv, "mark", "what the process has open may not be read; it has marked this one with the session")
		case len(own) > 0 || w.isAgent(p):
			return Claim{}, false
		case !above:
			return w.sandbox(p, getenv)
		}
	}
	return Claim{}, false
}

// around yields the ancestors of a process; itself, where none of them can be seen.
func around(table *proc.Table, pid int) iter.Seq[proc.Process] {
	return func(yield func(proc.Process) bool) {
		for p := range table.Ancestors(pid) {
			if pid = 0; !yield(p) {
				return
			}
		}
		if p, ok := table.ByPID(pid); ok {
			yield(p)
		}
	}
}

// errInSandbox: what runs cannot be told from what does not.
var errInSandbox = errors.New("inside an agent's sandbox other sessions cannot be seen")

// sealed reports whether a table shows the inside of an agent's sandbox only: a pid namespace whose first process is the
// sandbox, or from which the agent cannot be seen that has marked us as in one.
func (w *Scanner) sealed(table *proc.Table) bool {
	if first, ok := table.ByPID(1); ok && w.sandboxer(first) != "" {
		return true
	}
	if w.encloser(func(a Agent) func(string) string { return w.HomeSources(a).Getenv }) == "" {
		return false
	}
	for p := range table.Ancestors(w.PID) {
		if w.isAgent(p) {
			return false
		}
	}
	return true
}

// encloser is the agent in whose sandbox an environment is, each agent's as it is given; "" if it is in none.
func (w *Scanner) encloser(environment func(Agent) func(string) string) Agent {
	for agent, e := range AdaptersWith[SandboxDetector](w.Adapters) {
		if getenv := environment(agent); getenv != nil && e.InSandbox(getenv) {
			return agent
		}
	}
	return ""
}

// sandboxer is the agent whose sandbox a process is, "" if it is none.
func (w *Scanner) sandboxer(p proc.Process) Agent {
	for agent, s := range AdaptersWith[Sandboxer](w.Adapters) {
		if s.IsSandbox(p) {
			return agent
		}
	}
	return ""
}

// sandbox makes the claim of a process that is an agent's sandbox, by that process's own environment, or in one, by ours.
func (w *Scanner) sandbox(p proc.Process, ours func(string) string) (Claim, bool) {
	const detail = "from which nothing outside can be seen, marked with the session"
	if a := w.sandboxer(p); a != "" {
		return w.mark(a, p, func(key string) string {
			env, _ := p.Env(key) // what may not be read has no mark
			return env[key]
		}, "sandbox", "it is the agent's sandbox, "+detail)
	}
	if a := w.encloser(func(Agent) func(string) string { return ours }); a != "" {
		return w.mark(a, p, ours, "sandbox", "it is in the agent's sandbox, "+detail)
	}
	return Claim{}, false
}

// mark makes the claim of the session that an environment names.
func (w *Scanner) mark(agent Agent, p proc.Process, getenv func(string) string, kind, detail string) (Claim, bool) {
	m, ok := AdapterWith[MarkerReader](w.Adapters, agent)
	if !ok {
		return Claim{}, false
	}
	left, ok := m.ReadMarker(getenv)
	return Claim{
		Agent: agent, Process: p.ID, Session: left.Session, Strength: Strong, Kind: kind, Detail: detail,
		Turn: &Turn{State: TurnOpen}, // one of its tools runs: this
	}, ok && left.Session != ""
}

// reveal adds a claim of a session that is looked up in the store by its name alone. That so much is hidden is no news
// then.
func (l *scan) reveal(ctx context.Context, c Claim) {
	found := l.listEntries(ctx, map[Agent][]Home{c.Agent: l.homes[c.Agent]}, func(Agent) EntryFilter {
		return EntryFilter{Refs: []Ref{{ID: c.Session}}, Subagents: true}
	})
	if all := slices.Concat(found...); len(all) == 1 {
		c.Path, c.Home = all[0].Path, all[0].Home
	}
	l.claims = append(l.claims, c)
	l.readRecords(ctx, found, ReadOptions{})
	l.warnings = slices.DeleteFunc(l.warnings, func(warning *Warning) bool {
		return warning.Path == c.Process.String() || errors.Is(warning, errInSandbox)
	})
}
