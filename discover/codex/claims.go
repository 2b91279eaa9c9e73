package codex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"agentctl/discover"
	"agentctl/proc"
)

// Claims returns what the live Codex processes show: one presence for each that runs threads or is about to, and up
// to two pieces of exact evidence for each thread, its held lock and its rollout open for writing. A process without
// either has no thread on disk: an ephemeral run, one in its first moments, a TUI of the versions before locks that
// nothing was typed into; or it is an exec in its last moments, see over.go. TUIs that only show the daemon's threads,
// helpers and short commands make no claim.
func (a Adapter) Claims(ctx context.Context, table *proc.Table, list []discover.Home) ([]discover.Claim, error) {
	c := claimBuilder{adapter: a, ctx: ctx}
	for _, h := range list {
		c.homes.Add(h)
	}
	for p := range processes(table) {
		if err := ctx.Err(); err != nil {
			return c.claims, err
		}
		c.addProcess(table, p)
	}
	return c.claims, nil
}

type claimBuilder struct {
	adapter Adapter
	ctx     context.Context // a claimer lives as long as one call
	homes   homeFinder
	claims  []discover.Claim
}

// agentProcess is one process, with what all claims of it have in common.
type agentProcess struct {
	proc.Process
	invocation
	claim discover.Claim
}

// addProcess adds the claims of one process.
func (c *claimBuilder) addProcess(table *proc.Table, p proc.Process) {
	args, err := p.Args()
	if errors.Is(err, proc.ErrGone) {
		return
	}
	var in invocation
	if err == nil {
		if in = parseArgs(args); in.role == helper {
			return
		}
	}
	shown, err := readOpenFiles(p)
	client := func() bool { return in.role == tui && !in.noDaemon && daemonRuns(table, p) }
	switch {
	case errors.Is(err, proc.ErrGone):
	case err != nil && !client():
		c.addUnreadable(c.newAgentProcess(p, in), err)
	case err == nil && (len(shown.threads) > 0 || in.mayRunThreads(shown, client)):
		c.addThreads(c.newAgentProcess(p, in), shown)
	}
}

func (c *claimBuilder) newAgentProcess(p proc.Process, in invocation) agentProcess {
	claim := discover.Claim{
		Agent: agentName, Process: p.ID, Version: binaryVersion(p.Exe), Shared: in.role == server,
		Home: c.homes.listedHome(processHome(p)),
	}
	if shared, err := p.SharesRoot(); claim.Home == "" && err == nil && !shared {
		claim.Home = p.PathInRoot("") // none of ours, though a session may be called as one of ours
	}
	if p.State.Stopped() {
		claim.Meta = discover.Facts{{"suspended", true}}
	}
	return agentProcess{p, in, claim}
}

func (c *claimBuilder) addThreads(s agentProcess, shown openFiles) {
	threads := shown.threads
	c.claims = append(c.claims, s.presenceClaim())
	var begun, unborn []discover.Claim
	for _, t := range threads {
		claims, stored := c.threadClaims(s, t, len(threads) == 1)
		if stored {
			begun = append(begun, claims...)
		} else {
			unborn = append(unborn, claims...)
		}
	}
	c.claims = append(c.claims, begun...)
	// An exec has one thread of its own: any other is a sub-agent's, which its first record says some milliseconds later.
	if s.role != exec || len(begun) == 0 {
		c.claims = append(c.claims, unborn...)
	}
	if len(threads) == 0 {
		c.addArgvClaim(s)
		c.addEndedExec(s, shown)
	}
}

// addUnreadable adds what can be said of a process whose open files may not be read.
func (c *claimBuilder) addUnreadable(s agentProcess, err error) {
	claim := s.presenceClaim()
	claim.Unreadable = fmt.Sprintf("its open files: %v", err)
	claim.HideIfUnlinked = false
	c.claims = append(c.claims, claim)
	c.addArgvClaim(s)
}

// mayRunThreads reports whether a process that holds no thread's files may have one all the same. A TUI may be either
// kind: where its descriptors do not tell, it is the daemon's client if its home has a daemon.
func (in invocation) mayRunThreads(shown openFiles, client func() bool) bool {
	if in.role != tui || in.noDaemon {
		return true
	}
	if shown.descriptorsNamed {
		return shown.watchesFiles
	}
	return !client()
}

// presenceClaim says that the process is there. What it says of the turn counts for its own row, which it has while no thread is
// named, and while nothing is stored of that turn.
func (s agentProcess) presenceClaim() discover.Claim {
	claim := s.claim
	claim.Strength, claim.Kind = discover.Exact, "process"
	claim.Detail = fmt.Sprintf("runs %s", cmp.Or(s.Exe, s.Name))
	claim.Source, claim.Dir, claim.Turn = s.sourceName(), s.newThreadDir(s.Process), s.initialTurn()
	claim.HideIfUnlinked = s.role == server
	return claim
}

// threadClaims makes the claims about one thread, and reports whether anything is stored of it. Of one that nothing was written
// of yet, the process says how it stands.
func (c *claimBuilder) threadClaims(s agentProcess, t threadFiles, only bool) (claims []discover.Claim, begun bool) {
	claim := s.claim
	claim.Session, claim.Strength = t.id, discover.Exact
	stored, ok, known := c.locate(s, &claim, t)
	if !known {
		return nil, false
	}
	if only || !ok {
		claim.Source = s.sourceName() // of several, some may be sub-agents, which their records tell
	}
	if !ok {
		claim.Dir = s.newThreadDir(s.Process)
	}
	begun = ok && stored.Size > 0
	if !begun && c.homes.byDir(claim.Home) != nil { // of a home that is not opened, nobody knows
		claim.Turn = s.initialTurn()
	}
	// The details are what a person can check, in lsof or below /proc/PID/fd.
	if f := t.lock; f != nil {
		claim.Kind, claim.Detail = "writer-lock", fmt.Sprintf("holds an exclusive flock on %s (fd %d)", f.Path, f.FD)
		claims = append(claims, claim)
	}
	if f := t.rollout; f != nil {
		claim.Kind, claim.Detail = "rollout-fd", fmt.Sprintf("has %s open for writing (fd %d)", f.Path, f.FD)
		claims = append(claims, claim)
	}
	return claims, begun
}

// locate finds the thread's rollout as the store names it, and sets the claim's home and path. The thread is not known if it
// only has the ID of a session that is stored here.
func (c *claimBuilder) locate(s agentProcess, claim *discover.Claim, t threadFiles) (e discover.Entry, stored, known bool) {
	if claim.Home == s.PathInRoot("") {
		return c.locateInMountNamespace(s, claim, t)
	}
	ref := discover.Ref{ID: t.id}
	for _, f := range []*proc.OpenFile{t.lock, t.rollout} {
		switch {
		case f == nil:
			continue
		case f.PathDiffers:
			return c.locateInMountNamespace(s, claim, t)
		}
		dir, path, ok := c.homes.homeOfFile(f.Path)
		if !ok {
			return discover.Entry{}, false, true // nothing of a home is opened that is not listed
		}
		claim.Home = dir
		if f == t.rollout {
			ref.Path = path
		}
	}
	// What cannot be read here, whoever lists the store reports: once is enough.
	found, _ := c.adapter.Entries(c.ctx, c.homes.byDir(claim.Home), discover.EntryFilter{Refs: []discover.Ref{ref}})
	if len(found) == 0 {
		return discover.Entry{}, false, true
	}
	claim.Path = found[0].Path
	return found[0], true, true
}

// addArgvClaim adds the session that the command line resumes, for as long as nothing better tells.
func (c *claimBuilder) addArgvClaim(s agentProcess) {
	if s.session == "" {
		return
	}
	claim := s.claim
	claim.Session, claim.Strength = s.session, discover.Weak
	claim.Kind, claim.Detail = "argv", "its command line resumes the session"
	switch _, ok, known := c.locate(s, &claim, threadFiles{id: s.session}); {
	case !known:
		return
	case !ok:
		claim.Dir = s.newThreadDir(s.Process)
	}
	c.claims = append(c.claims, claim)
}

// sourceName says how a session is used by the role of the process that runs it, which is not always how it began.
func (in invocation) sourceName() string {
	switch {
	case in.role == exec:
		return "exec"
	case in.role == tui, in.isDaemon:
		return "tui"
	}
	return "" // another server's threads are started by whoever its clients are
}

// initialTurn is what the role says of a thread that has no record: an exec process lives as long as its turn, anything else
// waits for the first prompt.
func (in invocation) initialTurn() *discover.Turn {
	if in.role == exec {
		return &discover.Turn{State: discover.TurnOpen}
	}
	return &discover.Turn{State: discover.TurnNone}
}

// newThreadDir is where a new thread of the process works, "" where its clients say so.
func (in invocation) newThreadDir(p proc.Process) string {
	if in.role != exec && in.role != tui {
		return ""
	}
	if filepath.IsAbs(in.dir) {
		return in.dir
	}
	cwd, err := p.Cwd()
	if err != nil {
		return ""
	}
	return filepath.Join(cwd, in.dir)
}

// daemonRuns reports whether the daemon that serves the TUIs of p's home is alive.
func daemonRuns(table *proc.Table, p proc.Process) bool {
	home := discover.RealPath(processHome(p))
	for q := range processes(table) {
		args, err := q.Args()
		if err == nil && parseArgs(args).isDaemon && q.UID == p.UID && discover.RealPath(processHome(q)) == home {
			return true
		}
	}
	return false
}
