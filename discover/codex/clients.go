package codex

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// client is a terminal interface that shows threads of the daemon of its home.
type client struct {
	agentProcess
	// listens: it serves tools to a thread, on a TCP port of its own. It does so from its first thread on (SEEN 0.160–0.171).
	listens bool
}

// servedThread is a thread that a daemon runs.
type servedThread struct {
	daemon agentProcess
	claim  discover.Claim // names the thread as the daemon's claims do
	entry  discover.Entry // zero while nothing is stored
	// loaded is when the daemon loaded the thread; zero if that is not known.
	loaded time.Time
}

// addClient adds a terminal that is a client of the daemon.
func (c *claimBuilder) addClient(s agentProcess) {
	ports, err := s.ListenPorts()
	c.clients = append(c.clients, client{s, err == nil && len(ports) > 0})
}

// addServed adds a thread of a daemon. The daemon creates the thread's lock file when it loads the thread and removes it when it
// unloads the thread (SEEN 0.169–0.171), so that its time tells when that was. A file that a killed daemon left behind is older than the present one.
func (c *claimBuilder) addServed(s agentProcess, claim discover.Claim, t threadFiles, entry discover.Entry) {
	thread := servedThread{daemon: s, claim: claim, entry: entry}
	if t.lock != nil && c.homes.byDir(claim.Home) != nil && !t.lock.PathDiffers {
		if info, err := os.Lstat(t.lock.Path); err == nil && s.StartedBefore(info.ModTime()) {
			thread.loaded = info.ModTime()
		}
	}
	c.served = append(c.served, thread)
}

// addClients adds the claims of the terminals that are clients of daemons. Nothing that can be read here says which thread a terminal shows.
// But a terminal that has a thread has had the daemon load one since it started. Where that leaves one thread for a terminal, the
// terminal claims it; else it claims all of them, and the correlation shows that it is ambiguous. The last terminals come first: they
// have the fewest to choose from.
func (c *claimBuilder) addClients() {
	slices.SortStableFunc(c.clients, func(a, b client) int { return b.PreciseStart().Compare(a.PreciseStart()) })
	taken := map[string]bool{}
	for _, t := range c.clients {
		var fits []servedThread
		kind, detail := "birth", "the daemon has loaded the session since this terminal started, and no other that fits"
		if t.session != "" {
			kind, detail = "argv", "its command line resumes the session"
			fits = c.servedTo(t, func(s servedThread) bool { return s.claim.Session == t.session })
		} else if t.listens {
			fits = c.servedTo(t, func(s servedThread) bool {
				return !taken[s.claim.Session] && (s.loaded.IsZero() || t.StartedBefore(s.loaded))
			})
			if len(fits) > 1 {
				fits = c.narrow(t, fits)
			}
		}
		presence := t.presenceClaim()
		presence.HideIfUnlinked = len(fits) > 0 || t.overview // the thread's row is there
		c.claims = append(c.claims, presence)
		for _, s := range fits {
			taken[s.claim.Session] = taken[s.claim.Session] || len(fits) == 1 && kind == "birth"
			claim := t.claim
			claim.Session, claim.Path, claim.Home, claim.Dir = s.claim.Session, s.claim.Path, s.claim.Home, s.claim.Dir
			claim.Strength, claim.Kind, claim.Detail, claim.Client, claim.Source = discover.Weak, kind, detail, true, t.sourceName()
			c.claims = append(c.claims, claim)
		}
	}
}

// servedTo returns the threads of the daemon of a terminal's home that fit.
func (c *claimBuilder) servedTo(t client, fits func(servedThread) bool) (list []servedThread) {
	for _, s := range c.served {
		if s.daemon.UID == t.UID && s.claim.Home == t.claim.Home && fits(s) {
			list = append(list, s)
		}
	}
	return list
}

// narrow leaves out the threads that a terminal did not begin by what is stored: sub-agents, and threads in another directory, unless
// that is a worktree of Codex's own.
func (c *claimBuilder) narrow(t client, list []servedThread) []servedThread {
	dir := discover.RealPath(t.newThreadDir(t.Process))
	return slices.DeleteFunc(list, func(s servedThread) bool {
		var r storedThread
		if s.entry.Size == 0 {
			return false
		}
		ok, err := r.read(s.entry, discover.ReadOptions{}, fsread.NewBuffers(c.ctx))
		return err == nil && ok && (r.IsSubagent() || discover.RealPath(r.Dir) != dir && !isBelow(r.Dir, filepath.Join(s.claim.Home, worktreesDir)))
	})
}

// worktreesDir is the directory of a home in which Codex makes worktrees for threads (SEEN 0.169).
const worktreesDir = "worktrees"

// isBelow reports whether a path is below a directory.
func isBelow(path, dir string) bool {
	return strings.HasPrefix(discover.RealPath(path), discover.RealPath(dir)+"/")
}
