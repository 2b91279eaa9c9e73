package codex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/proc"
)

// Claims returns what the live Codex processes show: one presence claim for each process that runs threads or may run one, and up to
// two pieces of exact evidence for each thread, the lock that the process holds and the rollout that it has open for writing. A
// process with neither is an ephemeral run, a run in its first or last moments, or a TUI of a version without locks that nothing was
// typed into. A terminal that is a client of the daemon makes a presence claim, and claims to
// show one of the daemon's threads (see addClients). Helpers and short commands make no claim.
func (a Adapter) Claims(ctx context.Context, table *proc.Table, list []discover.Home) ([]discover.Claim, error) {
	c := a.newClaimBuilder(ctx, list)
	for p := range candidates(table, list) {
		if err := ctx.Err(); err != nil {
			return c.claims, err
		}
		c.addProcess(table, p)
	}
	c.addClients()
	return c.claims, nil
}

// ClaimsOf implements [discover.Adapter], by the threads' lock files: Codex removes them when it unloads a thread, and leaves them when it is
// killed, by SIGTERM and SIGHUP too (SEEN 0.169). A live process that holds one runs the thread, also if Claims did not examine it.
func (a Adapter) ClaimsOf(ctx context.Context, table *proc.Table, homes []discover.Home, ids map[string]bool) []discover.Claim {
	c := a.newClaimBuilder(ctx, homes)
	for _, path := range lockFiles(homes) {
		id, _ := parseLockName(filepath.Base(path))
		if !ids[id] {
			continue
		}
		holders := table.LockHolders(path)
		for _, pid := range holders {
			if p, ok := table.ByPID(pid); ok && p.Alive() {
				c.addHolder(table, p, path, id)
			}
		}
		if len(holders) == 0 {
			c.claims = append(c.claims, discover.Claim{
				Agent: agentName, Session: id, Home: filepath.Dir(filepath.Dir(path)), Strength: discover.Exact, Kind: "writer-lock",
				Detail: "no process holds " + path + ", which its process has not removed", LeftBehind: true,
			})
		}
	}
	return c.claims
}

// addHolder adds what a process shows that may hold this lock: the kernel names that of another file system's file alike. Of a process whose open
// files cannot be read, that is all that is known, and links it to no thread.
func (c *claimBuilder) addHolder(table *proc.Table, p proc.Process, path, id string) {
	before := len(c.claims)
	c.addProcess(table, p)
	if slices.ContainsFunc(c.claims[before:], func(claim discover.Claim) bool { return claim.Session == id }) {
		return
	}
	if _, err := readOpenFiles(p); err != nil && !errors.Is(err, proc.ErrGone) {
		c.addLock(c.newAgentProcess(p, invocation{}), path, fmt.Sprintf("its open files: %v", err), "its lock may be on another file of that inode")
	}
}

type claimBuilder struct {
	adapter Adapter
	ctx     context.Context // of the call that the builder lives for
	homes   homeFinder
	claims  []discover.Claim
	clients []client       // terminals of the daemons
	served  []servedThread // threads that daemons run
}

func (a Adapter) newClaimBuilder(ctx context.Context, homes []discover.Home) *claimBuilder {
	c := &claimBuilder{adapter: a, ctx: ctx}
	for _, h := range homes {
		c.homes.Add(h)
	}
	return c
}

// agentProcess is a Codex process with what all its claims have in common.
type agentProcess struct {
	proc.Process
	invocation
	claim discover.Claim
	// ofHome: it has a file of a home open, so that more than its name says that it is Codex's.
	ofHome bool
}

func (c *claimBuilder) addProcess(table *proc.Table, p proc.Process) {
	args, argsErr := p.Args()
	files, own, err := inspect(p)
	if !own || errors.Is(argsErr, proc.ErrGone) || errors.Is(err, proc.ErrGone) {
		return
	}
	var in invocation
	if argsErr == nil {
		in = invocationOf(p, args)
	}
	if in.role == helper && argsErr == nil {
		switch {
		case in.remoteTUI && err == nil:
			in.role = tui
		case len(files.threads) == 0:
			return
		default:
			in.role = server // a command that holds a thread for a moment, or a tool that has inherited it
		}
	}
	client := func() bool { return in.role == tui && !in.noDaemon && daemonRuns(table, p) }
	s := c.newAgentProcess(p, in)
	s.ofHome = files.ofHome || err != nil
	switch {
	case in.remoteTUI && in.role == tui:
		c.addClient(s)
	case err != nil && !client():
		c.addUnreadable(table, s, err)
	case err != nil:
	case s.claim.Unreadable != "" || len(files.threads) > 0 || in.mayRunThreads(files, client):
		c.addThreads(s, files)
	default:
		c.addClient(s)
	}
}

// invocationOf is the command line of a process of Codex's. Where the program has a name that is not Codex's, its arguments may mean
// anything: without a terminal it is no terminal interface, but a server for whoever started it.
func invocationOf(p proc.Process, args []string) invocation {
	if r := roleOfProgram(cmp.Or(p.Exe, p.Name)); r != helper {
		return invocation{role: r, isMCP: strings.Contains(filepath.Base(p.Exe), "mcp")}
	}
	in := parseArgs(args)
	if in.role == tui && !isCodex(p) {
		if tty, err := p.TTY(); err == nil && tty == "" {
			in.role = server
		}
	}
	return in
}

func (c *claimBuilder) newAgentProcess(p proc.Process, in invocation) agentProcess {
	claim := discover.Claim{
		Agent: agentName, Process: p.ID, Version: binaryVersion(p.Exe), Shared: in.role == server,
		Home: discover.ListedHome(processHome(p), c.homes.List()),
	}
	claim.Unreadable = storage.ParseVersion(claim.Version).BelowFloor(oldestSupported)
	if shared, err := p.SharesRoot(); claim.Home == "" && err == nil && !shared {
		claim.Home = p.PathInRoot("") // no home of ours: its threads may have the IDs of ours
	}
	return agentProcess{Process: p, invocation: in, claim: claim}
}

func (c *claimBuilder) addThreads(s agentProcess, files openFiles) {
	threads := files.threads
	c.claims = append(c.claims, s.presenceClaim())
	var storedClaims, otherClaims []discover.Claim // of threads with records, and without
	for _, t := range threads {
		claims, stored := c.threadClaims(s, t, len(threads) == 1)
		if stored || t.hasRecords() {
			storedClaims = append(storedClaims, claims...)
		} else {
			otherClaims = append(otherClaims, claims...)
		}
	}
	c.claims = append(c.claims, storedClaims...)
	// An exec runs one thread for its user. Any other thread is a sub-agent's; its first record says so some milliseconds later.
	if s.role != exec || len(storedClaims) == 0 {
		c.claims = append(c.claims, otherClaims...)
	}
	if len(threads) == 0 {
		c.addArgvClaim(s)
	}
}

// hasRecords reports whether the rollout that the process writes has records, wherever it is.
func (t threadFiles) hasRecords() bool {
	if t.rollout == nil {
		return false
	}
	info, err := os.Stat(cmp.Or(t.rollout.Proc, t.rollout.Path))
	return err == nil && info.Size() > 0
}

// addUnreadable adds the claims of a process whose open files cannot be read, as another user's. The kernel says whose lock is on a file, by the
// inode alone.
func (c *claimBuilder) addUnreadable(table *proc.Table, s agentProcess, err error) {
	claim := s.presenceClaim()
	claim.Unreadable, claim.HideIfUnlinked = fmt.Sprintf("its open files: %v", err), false
	c.claims = append(c.claims, claim)
	c.addArgvClaim(s)
	for _, path := range lockFiles(c.homes.List()) {
		if slices.Contains(table.LockHolders(path), s.ID.PID) {
			c.addLock(s, path, claim.Unreadable, "")
		}
	}
}

// addLock adds the claim that a process runs the thread whose lock it holds, though its open files, for this reason, do not show that;
// alternative: see [discover.Claim].
func (c *claimBuilder) addLock(s agentProcess, path, why, alternative string) {
	claim := s.claim
	claim.Home = filepath.Dir(filepath.Dir(path))
	claim.Session, _ = parseLockName(filepath.Base(path))
	claim.Unreadable, claim.Strength, claim.Alternative = why, discover.Strong, alternative
	claim.Kind, claim.Detail = "writer-lock", "the kernel lists its lock on the inode of "+path
	if _, _, known := c.locate(s, &claim, threadFiles{id: claim.Session}); known {
		c.claims = append(c.claims, claim)
	}
}

// mayRunThreads reports whether a process without a thread's files may run one. Where the descriptors of a TUI do not show whether it
// is a client of the daemon, it is one if its home has a daemon.
func (in invocation) mayRunThreads(files openFiles, client func() bool) bool {
	if in.role != tui || in.noDaemon {
		return true
	}
	if files.descriptorsNamed {
		return files.watchesFiles
	}
	return !client()
}

// presenceClaim says that the process is alive. Its turn counts for the process's own row, while it has no thread, and for a thread
// of whose turn nothing is stored.
func (a agentProcess) presenceClaim() discover.Claim {
	claim := a.claim
	claim.Strength, claim.Kind = discover.Exact, "process"
	claim.Detail = fmt.Sprintf("runs %s", cmp.Or(a.Exe, a.Name))
	claim.Source, claim.Dir, claim.Turn = a.sourceName(), a.newThreadDir(), a.liveTurn()
	claim.HideIfUnlinked, claim.NameOnly = a.role == server && claim.Unreadable == "", !a.ofHome
	return claim
}

// threadClaims makes the claims about one thread and reports whether anything of it is stored. While nothing is, the claims say how
// its turn stands.
func (c *claimBuilder) threadClaims(s agentProcess, t threadFiles, only bool) (claims []discover.Claim, stored bool) {
	claim := s.claim
	if claim.Session, claim.Strength = t.id, discover.Exact; claim.Unreadable != "" {
		claim.Strength = discover.Weak // nobody has checked what this version does
	}
	entry, ok, known := c.locate(s, &claim, t)
	if !known {
		return nil, false
	}
	if s.role != exec { // an exec runs its thread from its start to its end
		claim.Since = c.loaded(s, t, claim.Home)
	}
	if only || !ok {
		claim.Source = s.sourceName() // of several threads, some may be sub-agents: their records say so
	}
	if !ok {
		claim.Dir = s.newThreadDir()
	}
	stored = ok && entry.Size > 0
	if !stored && len(c.homes.byDir(claim.Home)) > 0 { // what is stored in an unlisted home is unknown
		claim.Turn = s.liveTurn()
	}
	// The user can check the details with lsof or in /proc/PID/fd.
	if s.role == server {
		c.served = append(c.served, servedThread{server: s, claim: claim, entry: entry})
	}
	if f := t.lock; f != nil {
		claim.Kind, claim.Detail = "writer-lock", fmt.Sprintf("holds an exclusive flock on %s (fd %d)", f.Path, f.FD)
		claims = append(claims, claim)
	}
	if f := t.rollout; f != nil {
		claim.Kind, claim.Detail = "rollout-fd", fmt.Sprintf("has %s open for writing (fd %d)", f.Path, f.FD)
		claims = append(claims, claim)
	}
	return claims, stored
}

// locate finds the thread's rollout in the store and sets the claim's home and path. known is false if the process's thread and the
// stored session only have the same ID.
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
			return discover.Entry{}, false, true // nothing is opened in a home that is not listed
		}
		claim.Home = dir
		if f == t.rollout {
			ref.Path = path
		}
	}
	// Whoever lists the store reports what cannot be read here; once is enough.
	found, _ := c.adapter.Entries(c.ctx, c.homes.byDir(claim.Home), discover.EntryFilter{Refs: []discover.Ref{ref}})
	if len(found) == 0 {
		return discover.Entry{}, false, true
	}
	claim.Path = found[0].Path
	return found[0], true, true
}

// addArgvClaim adds the session that the command line resumes, for as long as there is no better evidence.
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
		claim.Dir = s.newThreadDir()
	}
	c.claims = append(c.claims, claim)
}

// sourceName is the source of the session by the role of the process that runs it. The session may have stored in another way.
func (in invocation) sourceName() string {
	switch {
	case in.role == exec:
		return "exec"
	case in.role == tui, in.isDaemon:
		return "tui"
	}
	return "" // the clients of a server decide
}

// newThreadDir is the directory in which the process begins a thread, "" if its clients decide.
func (a agentProcess) newThreadDir() string {
	if a.role != exec && a.role != tui {
		return ""
	}
	if filepath.IsAbs(a.dir) {
		return a.dir
	}
	cwd, err := a.Cwd()
	if err != nil {
		return ""
	}
	return filepath.Join(cwd, a.dir)
}

// daemonRuns reports whether the daemon that runs the threads of the TUIs of p's home is alive.
func daemonRuns(table *proc.Table, p proc.Process) bool {
	home := discover.RealPath(processHome(p))
	for q := range table.Candidates(proc.Signs{Name: mentionsCodex}) {
		if q.Alive() && isCodex(q) && readArgs(q).isDaemon && q.UID == p.UID && discover.RealPath(processHome(q)) == home {
			return true
		}
	}
	return false
}

// locateInMountNamespace is locate for a process with a mount namespace of its own, in which a path may name a different file. A
// stored session of the thread's ID is the thread only if the process has that session's rollout open, or the thread's lock in the
// same home, by device and inode. If there is such a session and it is another file, known is false: no claim may name it.
// Otherwise the claim names a home below the process's root.
func (c *claimBuilder) locateInMountNamespace(s agentProcess, claim *discover.Claim, t threadFiles) (e discover.Entry, stored, known bool) {
	known = true
	for _, h := range c.homes.List() {
		found, _ := c.adapter.Entries(c.ctx, []discover.Home{h}, discover.EntryFilter{Refs: []discover.Ref{{ID: t.id}}})
		lock := t.lock != nil && discover.SameFile(filepath.Join(h.Dir, locksDir, filepath.Base(t.lock.Path)), t.lock.Proc)
		for _, e := range found {
			if lock || t.rollout != nil && discover.SameFile(e.Path, t.rollout.Proc) {
				claim.Home, claim.Path = h.Dir, e.Path
				return e, true, true
			}
			known = false
		}
	}
	claim.Home = s.PathInRoot("")
	for _, f := range []*proc.OpenFile{t.rollout, t.lock} {
		if f != nil && f.PathDiffers {
			claim.Home = s.PathInRoot(homeOfPath(f.Path))
			break
		}
	}
	return discover.Entry{}, false, known
}
