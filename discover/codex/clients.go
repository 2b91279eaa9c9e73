package codex

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"time"

	"agentctl/discover"
)

// client is a terminal interface that shows threads of the daemon of its home, or of the server that its arguments name (--remote).
type client struct {
	agentProcess
	// listens: it serves tools to a thread, on a TCP port of its own. It does so from its first thread on (SEEN 0.160–0.171).
	listens bool
	// fits are the threads that it may show, kind and detail say why it is the only one.
	fits         []servedThread
	kind, detail string
}

// servedThread is a thread that a daemon or another server runs.
type servedThread struct {
	server agentProcess
	claim  discover.Claim // names the thread as the daemon's claims do
	entry  discover.Entry // zero while nothing is stored
}

// addClient adds a terminal that is a client of a server.
func (c *claimBuilder) addClient(s agentProcess) {
	ports, err := s.ListenPorts()
	c.clients = append(c.clients, client{agentProcess: s, listens: err == nil && len(ports) > 0 && !s.remoteTUI})
}

// loaded is when a process loaded a thread, zero if that is not known. It creates the thread's lock file then, and removes it when it unloads
// the thread (SEEN 0.160–0.171). A file that a killed process left behind is older than the present one.
func (c *claimBuilder) loaded(s agentProcess, t threadFiles, home string) time.Time {
	if t.lock == nil || t.lock.PathDiffers || len(c.homes.byDir(home)) == 0 {
		return time.Time{}
	}
	info, err := os.Lstat(t.lock.Path)
	if err != nil || !s.StartedBefore(info.ModTime()) {
		return time.Time{}
	}
	return info.ModTime()
}

// startupTime is how long a terminal may take to have its first thread loaded: the first one copies the daemon's program and starts it (SEEN
// 0.171: 14 s on a busy machine). A terminal that asks something first may take longer.
const startupTime = 20 * time.Second

// addClients adds the claims of the terminals that are clients of daemons. Nothing that can be read here says which thread a terminal
// shows. But it has had the daemon load one, most often as it started, and the daemon unloads a thread soon after its last terminal has
// left it. A terminal claims the threads that fit; if several do, the correlation shows that it is ambiguous.
func (c *claimBuilder) addClients() {
	free := slices.DeleteFunc(slices.Clone(c.served), func(s servedThread) bool { return !s.server.isDaemon || c.isForOthers(s) })
	for i := range c.clients {
		if t := &c.clients[i]; t.session != "" {
			isNamed := func(s servedThread) bool { return s.claim.Session == t.session }
			if t.fits = t.servedTo(c.served, isNamed); len(t.fits) == 0 {
				t.session = "" // it shows another one by now, or none
				continue
			}
			t.kind, t.detail = "argv", "its command line resumes the session"
			// A thread that was loaded before was loaded for another terminal.
			free = slices.DeleteFunc(free, func(s servedThread) bool { return t.isServed(s) && isNamed(s) && t.mayHaveLoaded(s) })
		}
	}
	free = c.match(free, func(t *client, s servedThread) bool {
		return t.StartedBefore(s.claim.Since) && !t.StartedBefore(s.claim.Since.Add(-startupTime)) && c.mayBegin(t, s)
	})
	free = c.match(free, (*client).mayHaveLoaded)
	for i := range c.clients {
		t := &c.clients[i]
		claims := t.claimsFor(t.fits)
		if t.listens && t.session == "" {
			others := t.claimsFor(t.servedTo(free, t.mayHaveLoaded))
			for i := range others {
				others[i].Alternative = "another terminal may show it, or none"
			}
			claims = append(claims, others...)
		}
		if t.remoteTUI && len(claims) == 0 {
			continue // what it shows may run on another machine
		}
		presence := t.presenceClaim()
		presence.HideIfUnlinked = len(claims) > 0 || t.overview // the thread's row is there
		c.claims = append(append(c.claims, presence), claims...)
	}
}

// match gives terminals that have a thread, and of which it is not known which, the one that fits, if no other terminal has only this one
// to choose. It does so again for the terminals that are left with fewer. It returns the threads that are left.
func (c *claimBuilder) match(free []servedThread, fits func(*client, servedThread) bool) []servedThread {
	for {
		byOnly := map[string][]*client{} // by the only thread that fits
		for i := range c.clients {
			t := &c.clients[i]
			found := t.servedTo(free, func(s servedThread) bool { return fits(t, s) })
			if t.listens && len(t.fits) == 0 && t.session == "" && len(found) == 1 {
				byOnly[found[0].claim.Session] = append(byOnly[found[0].claim.Session], t)
			}
		}
		before := len(free)
		free = slices.DeleteFunc(free, func(s servedThread) bool {
			list := byOnly[s.claim.Session]
			if len(list) != 1 || !list[0].isServed(s) {
				return false
			}
			list[0].fits, list[0].kind = []servedThread{s}, "birth"
			list[0].detail = "the daemon has loaded the session since this terminal started, and no other one that fits"
			return true
		})
		if len(free) == before {
			return free
		}
	}
}

// mayHaveLoaded reports whether the daemon has loaded a thread since the terminal started, as far as that is known.
func (c *client) mayHaveLoaded(s servedThread) bool {
	return s.claim.Since.IsZero() || c.StartedBefore(s.claim.Since)
}

// claimsFor returns a terminal's claims to show the threads.
func (c *client) claimsFor(list []servedThread) (claims []discover.Claim) {
	for _, s := range list {
		claim := c.claim
		claim.Session, claim.Path, claim.Home, claim.Dir = s.claim.Session, s.claim.Path, s.claim.Home, s.claim.Dir
		claim.Strength, claim.Client, claim.Source = discover.Weak, true, c.sourceName()
		claim.Kind, claim.Detail = cmp.Or(c.kind, "birth"), cmp.Or(c.detail, "the daemon has loaded the session since this terminal started")
		claims = append(claims, claim)
	}
	return claims
}

// servedTo returns the threads that servers of the terminal's home run and that fit.
func (c *client) servedTo(list []servedThread, fits func(servedThread) bool) []servedThread {
	return slices.DeleteFunc(slices.Clone(list), func(s servedThread) bool { return !c.isServed(s) || !fits(s) })
}

// isServed reports whether a server of the terminal's home runs a thread.
func (c *client) isServed(s servedThread) bool {
	return s.server.UID == c.UID && s.claim.Home == c.claim.Home
}

// isForOthers reports whether a thread was begun for somebody else than a terminal, by what is stored: a sub-agent, or one of `exec --remote`.
func (c *claimBuilder) isForOthers(s servedThread) bool {
	r, ok := c.record(s)
	return ok && (r.IsSubagent() || r.Source != "tui" || r.Turn.Headless)
}

// mayBegin reports whether a terminal may have begun a thread in its directory, or in a worktree that Codex has made.
func (c *claimBuilder) mayBegin(t *client, s servedThread) bool {
	r, ok := c.record(s)
	dir := discover.RealPath(r.Dir)
	return !ok || discover.Within(dir, discover.RealPath(filepath.Join(s.claim.Home, worktreesDir))) || dir == discover.RealPath(t.newThreadDir())
}

// record is what is stored of a thread, if anything is. It is read only where there are terminals to tell apart.
func (c *claimBuilder) record(s servedThread) (r storedThread, ok bool) {
	if s.entry.Size == 0 || len(c.clients) == 0 {
		return r, false
	}
	ok, err := r.read(c.ctx, s.entry, readOptions{})
	return r, ok && err == nil
}
