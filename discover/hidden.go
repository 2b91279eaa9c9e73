package discover

import (
	"context"
	"errors"
	"slices"

	"agentctl/proc"
)

// hidden makes the claim that names the session around the process with this pid where nothing else does: the nearest
// ancestor that is an agent does not show what it has open, or none can be seen, but the first process of what can be is
// an agent's sandbox. Whoever is in there has been marked by the agent.
func (w *World) hidden(r Result, pid int, getenv func(string) string) (Claim, bool) {
	for p := range r.Table.Ancestors(pid) {
		own := r.runBy(p.ID.PID)
		switch _, above := r.Table.PID(p.Parent); {
		case len(own) == 1 && own[0].ID == "" && own[0].Status == Unknown:
			i := slices.IndexFunc(w.Adapters, func(a Adapter) bool { return a.Name() == own[0].Agent })
			return mark(w.Adapters[i], p, getenv, "mark", "what the process has open may not be read; it has marked this one with the session")
		case len(own) > 0:
			return Claim{}, false
		case !above:
			return w.sandbox(p)
		}
	}
	return Claim{}, false
}

// errSealed: what runs cannot be told from what does not.
var errSealed = errors.New("inside of an agent's sandbox nothing outside of it can be seen, so that who is at work there cannot be told")

// sealed reports whether a table shows the inside of an agent's sandbox only: a pid namespace, and its first process.
func (w *World) sealed(table *proc.Table) bool {
	first, ok := table.PID(1)
	return ok && w.sandboxer(first) != nil
}

// sandboxer is the adapter whose agent's sandbox a process is, nil if it is none.
func (w *World) sandboxer(p proc.Process) Adapter {
	for _, a := range w.Adapters {
		if s, ok := a.(Sandboxer); ok && s.Sandboxes(p) {
			return a
		}
	}
	return nil
}

// sandbox makes the claim of a process that is an agent's sandbox, by that process's own environment.
func (w *World) sandbox(p proc.Process) (Claim, bool) {
	a := w.sandboxer(p)
	if a == nil {
		return Claim{}, false
	}
	getenv := func(key string) string {
		env, _ := p.Env(key) // what may not be read has no mark
		return env[key]
	}
	return mark(a, p, getenv, "sandbox", "it is the agent's sandbox, from which nothing outside can be seen, marked with the session")
}

// mark makes the claim of the session that an environment names.
func mark(a Adapter, p proc.Process, getenv func(string) string, kind, detail string) (Claim, bool) {
	m, ok := a.(Marker)
	if !ok {
		return Claim{}, false
	}
	left, ok := m.Mark(getenv)
	return Claim{
		Agent: a.Name(), Process: p.ID, Session: left.Session, Strength: Strong, Kind: kind, Detail: detail,
		Turn: &Turn{State: TurnOpen}, // one of its tools runs: this
	}, ok && left.Session != ""
}

// reveal adds a claim of a session that is looked up in the store by its name alone. That so much is hidden is no news
// then.
func (l *look) reveal(ctx context.Context, c Claim) {
	found := l.entries(ctx, map[Agent][]Home{c.Agent: l.homes[c.Agent]}, func(Agent) Query {
		return Query{Refs: []Ref{{ID: c.Session}}, Children: true}
	})
	if all := slices.Concat(found...); len(all) == 1 {
		c.Path, c.Home = all[0].Path, all[0].Home
	}
	l.claims = append(l.claims, c)
	l.read(ctx, found, Want{})
	l.warnings = slices.DeleteFunc(l.warnings, func(warning *Warning) bool {
		return warning.Path == c.Process.String() || errors.Is(warning, errSealed)
	})
}
