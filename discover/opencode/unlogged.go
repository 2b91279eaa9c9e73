package opencode

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// OpenCode 1.17 and later collects the lines of its log for a second before it writes them (READ 1.18.33: a batched logger;
// SEEN: up to two seconds on a busy machine). A session that a process began, or went on with, since its last flush is
// therefore in the store before the log can name it.
const (
	// maxFlushDelay is how long a process may leave a turn or session out of the log. It is several times what was seen, because
	// too short a time lets a second process into a live session; a stopped session whose own process died before its flush
	// looks live for as long.
	maxFlushDelay = 10 * time.Second
	// flushSlack is how much later than the store's time of a turn the log's first line about it may be: the terminal stores
	// a prompt before the turn's loop begins.
	flushSlack = 2 * time.Second
)

// delaysLog reports whether the process may run sessions that the log does not name yet. A headless run is no such
// process: it has one session, which is known by other evidence.
func (sub *loggedProcess) delaysLog() bool {
	return sub.mode != modeRun && sub.writesSharedLog && !sub.foreign
}

// lastStart is when the session's newest turn was asked for, or the session was made.
func (s *session) lastStart() time.Time {
	if s.Turn.Began.After(s.Created) {
		return s.Turn.Began
	}
	return s.Created
}

// inFirstRun reports whether the session's turn is the one that `opencode run` made it for.
func (s *session) inFirstRun() bool { return s.headless && s.lastStart().Sub(s.Created) < flushSlack }

// unloggedClaims are the claims for the sessions that the process may have begun or gone on with since it last wrote its log.
// They are weak: another process fits as well, or one that is gone and did not get to write. Sub-agents go with the
// session that they work for.
func (s *evidence) unloggedClaims(sub *loggedProcess, lib *homeSessions, base discover.Claim, have []discover.Claim) []discover.Claim {
	if !sub.delaysLog() {
		return nil
	}
	base.Additional = true
	all := slices.Clip(have)
	ids := slices.Sorted(maps.Keys(lib.sessions))
	for _, id := range ids {
		st := lib.sessions[id]
		if st.Parent != "" || isClaimed(all, id) || !s.mayBeUnlogged(sub, st) || !s.mayHaveStarted(sub, st) {
			continue
		}
		c := base
		c.Strength, c.Kind = discover.Weak, "log-late"
		c.Detail = fmt.Sprintf("begun at %s, after what the process last wrote into its log", st.lastStart().Format(time.RFC3339Nano))
		if st.inFirstRun() && sub.mode == modeServer && !s.hasRunClients() {
			c.Alternative = "a headless run that is gone may have begun it"
		}
		all = s.addClaim(all, c, sub, lib, id)
	}
	for i := 0; i < len(all); i++ {
		for _, id := range ids {
			if st := lib.sessions[id]; st.Parent == all[i].Session && !isClaimed(all, id) && s.mayBeUnlogged(sub, st) {
				c := all[i]
				c.Turn, c.Additional, c.Strength = nil, true, min(c.Strength, discover.Strong)
				c.Kind, c.Detail = "parent", "sub-agent of "+all[i].Session
				all = s.addClaim(all, c, sub, lib, id)
			}
		}
	}
	return all[len(have):]
}

// mayBeUnlogged reports whether the session's newest turn is too new for the log of this process, and the log ties it to no
// other process.
func (s *evidence) mayBeUnlogged(sub *loggedProcess, st *session) bool {
	begun := st.lastStart()
	last, logged := sub.history.newest[st.ID]
	others := logged && last.run != sub.run && !last.at.Before(begun.Add(-flushSlack))
	return sub.StartedBefore(begun) && s.now.Sub(begun) < maxFlushDelay && !sub.lastFlush.After(begun.Add(flushSlack)) && !others
}

// mayHaveStarted reports whether the session is of a kind and in a place that the process may run. A terminal runs the
// sessions of its directory; the first turn of one that `opencode run` made is not its own. A server runs those of any
// directory, unless a live headless run fits the session.
func (s *evidence) mayHaveStarted(sub *loggedProcess, st *session) bool {
	if sub.mode == modeTUI {
		return sub.dir != "" && discover.RealPath(sub.dir) == discover.RealPath(st.Dir) && !st.inFirstRun()
	}
	return !slices.ContainsFunc(s.processes, func(o *loggedProcess) bool {
		return o.mode == modeRun && o.home == sub.home && st.inFirstRun() && o.needsInference() && o.fits(st)
	})
}

// hasRunClients reports whether a live process asks a server for headless turns (`run --attach`).
func (s *evidence) hasRunClients() bool {
	for p := range s.table.WithExe(isProgramName) {
		if args, err := p.Args(); err == nil && len(args) > 0 && isRunClient(p, args[1:]) {
			return true
		}
	}
	return false
}

func isRunClient(p proc.Process, args []string) bool {
	c := parseArgs(args)
	return p.Alive() && isProgram(p) && c.name == "run" && c.mode == modeNone
}
