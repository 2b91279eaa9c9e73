package launch

import (
	"context"
	"time"

	"agentctl/discover"
	"agentctl/lock"
)

// Planner makes the plans of one caller's launches.
type Planner struct {
	// Scanner finds sessions, and knows the caller's process.
	Scanner *discover.Scanner
	// Getenv and Environ are the caller's environment, Now is its clock.
	Getenv  func(string) string
	Environ []string
	Now     func() time.Time
	// Strict: an idle session counts as a conflict.
	Strict bool
	// Force: no session and no lock is a conflict. A session to resume must still be stopped.
	Force bool
}

// Plan is what a launch will start, and where. It holds the kernel lock of the workspace until [Plan.Release], so that no other
// launch finds the workspace free before the session shows itself.
type Plan struct {
	Agent Adapter
	// Request is what was asked for. Its directory is where the agent will work: of a session that has moved, where the agent
	// will find it.
	Request     Request
	Spec        Spec
	Environment Environment
	// Scanner finds sessions in the homes that the agent's environment names.
	Scanner *discover.Scanner
	// Activity is who was at work when the plan was made; nil if nobody had to be looked for.
	Activity *lock.Activity
	// Conflicts are the sessions and locks in the workspace. UnreadLocks is an error that names the declared locks that cannot be
	// read. Both are nil if the plan did not look for them.
	Conflicts   *lock.Conflicts
	UnreadLocks error

	flock *lock.Flock // nil if it is not held
}

// Plan decides how a request is carried out. It starts nothing, and never returns nil. With an error the
// plan holds no lock; Activity and Conflicts are what was found so far. Errors: those of [Adapter.Spec], [*discover.UntrustedError], [*OccupiedError], [*LiveError].
func (l Planner) Plan(ctx context.Context, a Adapter, r Request) (*Plan, error) {
	p := &Plan{Agent: a, Request: r, Environment: NewEnvironment(l.Environ, l.Scanner.Adapters, r.Variables...)}
	scanner := *l.Scanner
	scanner.HomeSources = func(a discover.Agent) discover.HomeSources {
		sources := l.Scanner.HomeSources(a)
		sources.Getenv = p.Environment.Getenv
		return sources
	}
	p.Scanner = &scanner
	if r.Resume != nil { // no command is started with the paths of a home that is not ours
		if err := r.Resume.CheckTrust("resume"); err != nil {
			return p, err
		}
	}
	var err error
	if p.Spec, err = a.Spec(r, p.Environment); err != nil {
		return p, err
	}
	if r.Moved && p.Spec.Dir != r.Dir {
		return p, &UnsupportedError{Agent: a.Name(), What: "continues this session only in " + p.Spec.Dir}
	}
	p.Request.Dir = p.Spec.Dir
	workspace, err := lock.WorkspaceOf(p.Spec.Dir)
	if err != nil || l.Force && r.Resume == nil {
		return p, err
	}
	if p.flock, err = LockWorkspace(ctx, p.Scanner, workspace); err != nil {
		return p, err
	}
	if err = p.checkFree(ctx, l, workspace); err != nil {
		p.Release()
	}
	return p, err
}

// Release frees the lock of the workspace. From then on the session itself is what keeps others out.
func (p *Plan) Release() {
	p.flock.Release()
	p.flock = nil
}
