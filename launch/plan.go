package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/lock"
	"agentctl/proc"
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
	// Force: no session and no lock is a conflict. A session to resume must still be stopped, as far as is known.
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
// plan holds no lock; Activity and Conflicts are what was found so far. Errors: those of [Adapter.Spec], [*discover.UntrustedError], [*OccupiedError], [*LiveError],
// [*PossiblyLiveError].
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

// OccupiedError says that sessions or locks keep the agent out of its workspace.
type OccupiedError struct {
	Locks []lock.Lock
	// Flocked: the lock is a kernel lock, of a process that is no launch or has not released it in time.
	Flocked bool
}

func (e *OccupiedError) Error() string { return e.Locks[0].Dir + " is not free" }

// ChangedError says that the session to resume has changed since it was read.
type ChangedError struct{ Session discover.Session }

func (e *ChangedError) Error() string {
	return "the session " + e.Session.ID + " has changed meanwhile"
}

// checkUnchanged returns a [*ChangedError] if the session to resume has changed, and must not have.
func (p *Plan) checkUnchanged(ctx context.Context) error {
	if !p.Request.Unchanged {
		return nil
	}
	before := *p.Request.Resume
	if now, known := Reread(ctx, p.Scanner, before); !known || now.Status != discover.Stopped || !now.Updated.Equal(before.Updated) {
		return &ChangedError{now}
	}
	return nil
}

// LiveError says that the session to resume is live.
type LiveError struct{ Session discover.Session }

func (e *LiveError) Error() string { return "the session " + e.Session.ID + " is live" }

// LockWorkspace takes the kernel lock of the workspace. It waits for other calls of this program that hold it for a moment: launches,
// until their session is proven, and calls that remove sessions. Any other holder, and one of those when ctx has ended, is an
// [*OccupiedError].
func LockWorkspace(ctx context.Context, scanner *discover.Scanner, w *lock.Workspace) (*lock.Flock, error) {
	for {
		limited, cancel := context.WithTimeout(ctx, lock.FlockTimeout)
		held, err := lock.FlockWorkspace(limited, w.Top)
		cancel()
		if !errors.Is(err, lock.ErrFlocked) {
			return held, err
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err()
		}
		table, err := scanner.ReadTable(context.WithoutCancel(ctx), false)
		if err != nil {
			return nil, err
		}
		found := &lock.Conflicts{Workspace: w}
		found.AddHolders(table, true)
		self, _ := table.ByPID(scanner.PID)
		if ctx.Err() != nil || !isBrief(self, found.Locks[0]) {
			return nil, &OccupiedError{Locks: found.Locks, Flocked: true}
		}
	}
}

// isBrief reports whether this program holds a lock only for a moment, as all of its commands do but `lock`, and that to check one. It
// assumes so if the holder cannot be seen.
func isBrief(self proc.Process, l lock.Lock) bool {
	if len(l.Holders) == 0 {
		return true
	}
	holder := l.Holders[0]
	args, err := holder.Args()
	if errors.Is(err, proc.ErrGone) || err == nil && len(args) == 0 {
		return true // it has ended, and holds nothing
	}
	return err == nil && holder.Exe == self.Exe && (l.Shared || verbOf(args) != "lock")
}

// verbOf returns the verb of a command line of this program. It follows --asked if another machine asks.
func verbOf(args []string) string {
	args = args[1:]
	if len(args) > 0 && args[0] == "--asked" {
		args = args[1:]
	}
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// checkFree returns a [*LiveError] or [*PossiblyLiveError] if the session to resume is live, or may be, and an [*OccupiedError] if another one works in the
// workspace or somebody has locked it, be it the caller.
func (p *Plan) checkFree(ctx context.Context, l Planner, w *lock.Workspace) (err error) {
	if p.Activity, err = lock.ReadActivity(ctx, p.Scanner, l.Getenv, l.Now); err != nil {
		return err
	}
	if err := cmp.Or(p.checkResumable(l.Force), p.checkUnchanged(ctx)); err != nil || l.Force {
		return err
	}
	p.Conflicts, p.UnreadLocks = p.Activity.FindConflicts(w, l.Strict)
	if all := p.Conflicts.All(); len(all) > 0 {
		return &OccupiedError{Locks: all}
	}
	return nil
}

// PossiblyLiveError says that a process may run the session to resume, though nothing shows that.
type PossiblyLiveError struct {
	Session discover.Session // to resume
	Process proc.Process
}

func (e *PossiblyLiveError) Error() string {
	return fmt.Sprintf("the session %s may be live in %s", e.Session.ID, e.Process.ID)
}

// checkResumable returns a [*LiveError] if the session to resume is live and, unless forced, a [*PossiblyLiveError] if it may be.
func (p *Plan) checkResumable(force bool) (possible error) {
	if p.Request.Resume == nil || p.Request.Fork {
		return nil
	}
	r := *p.Request.Resume
	for _, s := range p.Activity.Sessions {
		switch same := s.MayBeSame(r) && s.Status.Live(); {
		case same && !s.MayRunAny:
			return &LiveError{s}
		case !force && s.MayRunAny && (same || s.Agent == r.Agent && s.ProcessHome() == r.Home && s.Dir == r.Dir):
			possible = &PossiblyLiveError{r, s.Processes[0]}
		}
	}
	return possible
}

// Member is one agent to launch: the only one, or a member of a group.
type Member struct {
	Adapter Adapter
	// Model is the agent's own name of a model; "" leaves it to the agent.
	Model string
	// Branch is the branch of its worktree, Base where a new branch starts; "" where the group decides.
	Branch, Base string
	// Name is the member's own name within the group; see [NameMembers].
	Name string
}

// NameMembers gives each member its name: the agent's, with the model's if the agent occurs twice, and a number if that is
// still ambiguous.
func NameMembers(members []Member) {
	times := map[discover.Agent]int{}
	for _, m := range members {
		times[m.Adapter.Name()]++
	}
	var taken []string
	for i := range members {
		m := &members[i]
		name := m.ShortName()
		if model := m.shortModel(); times[m.Adapter.Name()] > 1 && model != "" {
			name += "-" + model
		}
		m.Name = name
		for n := 2; slices.Contains(taken, m.Name); n++ {
			m.Name = fmt.Sprintf("%s-%d", name, n)
		}
		taken = append(taken, m.Name)
	}
}

// ShortName is the agent's name for a branch.
func (m Member) ShortName() string {
	return cmp.Or(m.Adapter.ShortName(), string(m.Adapter.Name()))
}

// shortModel is a model's name for a branch: its family's, or the last part of its own; "" if the member has none.
func (m Member) shortModel() string {
	if m.Model == "" {
		return ""
	}
	for _, family := range m.Adapter.ModelFamilies() {
		if strings.Contains(m.Model, family) {
			return family
		}
	}
	short := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, path.Base(m.Model))
	return strings.Trim(short, "-")
}
