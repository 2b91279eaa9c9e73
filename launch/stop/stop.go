// Package stop ends sessions and reports what became of them. It knows no agent: the agent's adapter says how the agent
// ends ([launch.Adapter]).
//
// A call has three stages, and each stage has one type. A plan says what will be done about one session, and why; it is
// made from one snapshot, before anything is sent. An execution carries the plan out and records what was sent. A
// verification is what the session is then: it is read again, and found by its identity.
//
// An execution has steps. If the session's process serves other sessions, or would be started again, the agent is asked to
// interrupt the session; then the clients that show it are ended, and the agent is asked to close it. Otherwise the descendants of the process are recorded, the process gets the agent's stop
// signals, and once it has ended, the tools that it leaves behind are ended. Every process is signalled through a handle
// of its identity, so no signal reaches another process that has got its pid.
package stop

import (
	"context"
	"sync"
	"syscall"
	"time"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// Options say how far to go.
type Options struct {
	// Timeout is how long an agent may take: to end by the signals that ask it to, which share the time, or in its own way.
	Timeout time.Duration
	// Force also signals processes that serve other sessions, kills what does not end, and ends what stopped sessions
	// have left behind.
	Force bool
	// DryRun only says what would be done.
	DryRun bool
	// Host is the environment in which an agent's own commands run.
	Host launch.Environment
}

// Outcome is what became of a session.
type Outcome string

// The outcomes.
const (
	// Stopped: no process runs it any more, and its tools are gone.
	Stopped Outcome = "stopped"
	// AlreadyStopped: no process ran it.
	AlreadyStopped Outcome = "already_stopped"
	// Released: it is in no turn, no client shows it and its tools are gone; a process that serves other sessions too keeps it open.
	Released Outcome = "released"
	// Running: it still runs.
	Running Outcome = "running"
	// Refused: it was not done, because it is not known which process runs the session, because the agent must not be asked, or
	// because the process serves other sessions and the agent cannot end this one, or has not accepted the request to.
	Refused Outcome = "refused"
	// Failed: it could not be done.
	Failed Outcome = "failed"
	// Planned: nothing was done; it is what would have been tried.
	Planned Outcome = "planned"
)

// Role is what a signalled process is to the session.
type Role string

// The roles.
const (
	RoleAgent  Role = "agent"
	RoleClient Role = "client" // it shows the session, which another process runs
	RoleTool   Role = "tool"
)

// SentSignal is a signal that was sent.
type SentSignal struct {
	Process proc.ID
	Signal  syscall.Signal
	Role    Role
}

// Result is what became of one session.
type Result struct {
	// Before is the session as it was chosen, After as it is now; nil if there is nothing left to see of it.
	Before  discover.Session
	After   *discover.Session
	Outcome Outcome
	// Message says more, "" if there is nothing to say.
	Message string
	// Request is what became of the request to the agent, Signalled are the signals that were sent.
	Request   Request
	Signalled []SentSignal
	// LeftBehind are the processes that an earlier process of the session has left behind, with what those have started: they
	// are ended with the session's tools.
	LeftBehind []proc.ID
	// Survived are its processes that live all the same.
	Survived []proc.ID
}

// Sessions stops the chosen sessions, all at the same time. Each has its result, in their order. If ctx ends, nothing more
// is done, and the results say what was. The error is about the process table; nothing was done then.
func Sessions(ctx context.Context, scanner *discover.Scanner, chosen []discover.Session, o Options) ([]Result, error) {
	snapshot, err := scanner.List(ctx, discover.SessionFilter{Subagents: true, Thorough: true})
	if err != nil {
		return nil, err
	}
	r := &run{Options: o, scanner: scanner, snapshot: snapshot, agents: map[proc.ID]*agentProcess{}}
	r.planAll(ctx, chosen)
	return r.carryOut(ctx), nil
}

// EndOrphans ends the processes that [FindOrphans] finds, by SIGTERM; with [Options.Force], by SIGKILL after the timeout. There
// is one result a session. If ctx ends, nothing more is done, and the results say what was.
func EndOrphans(ctx context.Context, scanner *discover.Scanner, o Options, agents []discover.Agent) ([]Result, discover.Result, error) {
	r := &run{Options: o, scanner: scanner, orphans: true, only: agents}
	now, err := r.findOrphans(ctx)
	if err != nil {
		return nil, now, err
	}
	return r.carryOut(ctx), now, nil
}

// carryOut carries out the plans, unless it is a dry run. It is the only place that makes a [Result].
func (r *run) carryOut(ctx context.Context) (results []Result) {
	if !r.DryRun {
		r.execute(ctx)
	}
	for _, x := range r.executions {
		result := Result{Before: x.plan.session, LeftBehind: x.plan.leftBehind}
		if r.DryRun {
			x.preview(&result)
		} else {
			x.describe(&result)
		}
		results = append(results, result)
	}
	return results
}

// run is one call of [Sessions] or [EndOrphans]: what its executions share.
type run struct {
	Options
	// scanner knows our own process, which is no tool to be ended, nor is any that it runs below.
	scanner *discover.Scanner
	// snapshot is the state before anything was done.
	snapshot   discover.Result
	executions []*execution
	agents     map[proc.ID]*agentProcess // the processes of the sessions
	// orphans: only processes that ended sessions have left behind are ended.
	orphans bool
	only    []discover.Agent // whose orphans; empty: those of all agents
}

// each runs a function for all executions at the same time.
func (r *run) each(do func(*execution)) {
	var wg sync.WaitGroup
	for _, x := range r.executions {
		wg.Go(func() { do(x) })
	}
	wg.Wait()
}

// adapterOf returns the adapter of an agent.
func (r *run) adapterOf(agent discover.Agent) launch.Adapter {
	return launch.AdapterOf(r.scanner.Adapters, agent)
}

const (
	// minPollInterval and maxPollInterval bound the time between two reads of a session that was asked to end.
	minPollInterval = 50 * time.Millisecond
	maxPollInterval = 500 * time.Millisecond
	// toolGracePeriod is how long tools may take to end after SIGTERM before they are killed.
	toolGracePeriod = 2 * time.Second
	// maxToolScans limits how often tools are searched and ended. A process that starts its successor whenever it is ended
	// must not keep us busy forever.
	maxToolScans = 20
	// killTimeout is how long the kernel may take to end a killed process: one that waits for a disk takes as long as that
	// does.
	killTimeout = 5 * time.Second
	// finalReadTimeout bounds the last read of the state after the caller's context has ended.
	finalReadTimeout = 2 * time.Second
)
