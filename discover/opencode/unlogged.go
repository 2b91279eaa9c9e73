package opencode

import (
	"fmt"
	"slices"
	"time"

	"agentctl/discover"
)

// OpenCode 1.17 and later collects the lines of its log for a second before it writes them (READ 1.18.33: a batched logger; SEEN: up to two
// seconds on a busy machine). A session that a process has begun or continued since then is in the store, but not yet in the log.
const (
	// maxFlushDelay is how long a turn or session may be missing in the log. It is several times what was seen: if it were too short, a second
	// process could start in a live session. A stopped session whose process died before it wrote the log looks live for as long.
	maxFlushDelay = 10 * time.Second
	// flushSlack is how much later than the turn's time in the store its first line in the log may be: the terminal interface stores a prompt
	// before it begins the turn.
	flushSlack = 2 * time.Second
)

// maxStartup is how long a headless process may take to store its session (4.3 s SEEN on a busy machine).
const maxStartup = 30 * time.Second

// isUnlogged reports whether the log names no session of a process that may run one. It has logged nothing so far, logs only errors, or
// shares its log with another process (before 1.17).
func (p *loggedProcess) isUnlogged() bool {
	return len(p.sessions) == 0 && (p.mode == modeRun || p.mode == modeTUI && !p.hasLog)
}

// unloggedSince returns since when the process may have begun or continued sessions that the log does not name; zero if it cannot have. A
// headless run has only one session. The log of a version that is not supported says nothing.
func (scan *processScan) unloggedSince(p *loggedProcess) time.Time {
	switch {
	case p.foreign:
	case p.isUnlogged(), p.isOutdated():
		return p.Started.Add(-clockSlack)
	case p.mode != modeRun && p.writesSharedLog:
		return scan.now.Add(-maxFlushDelay)
	}
	return time.Time{}
}

// unloggedClaims returns claims for the sessions that the process may have begun or continued without a line in the log. They are weak:
// another process may have, or one that ended before it wrote its log. The sub-agents of claimed sessions are claimed too.
func (scan *processScan) unloggedClaims(p *loggedProcess, base discover.Claim, logged []discover.Claim) []discover.Claim {
	if scan.unloggedSince(p).IsZero() || p.mode == modeRun && len(logged) > 0 {
		return nil
	}
	base.Additional = p.mode != modeRun
	all := slices.Clip(logged)
	for _, s := range p.stored.children("") {
		if !isClaimed(all, s.ID) && scan.mayBeUnlogged(p, s) && scan.mayHaveStarted(p, s) {
			c := base
			c.Strength, c.Kind = discover.Weak, "log-late"
			c.Detail = fmt.Sprintf("begun at %s, after what the process last wrote into its log", s.lastStart().Format(time.RFC3339Nano))
			if s.inFirstRun() && p.mode == modeServer {
				c.Alternative = "a headless run that is gone may have begun it"
			}
			all = scan.addClaim(all, c, p, s.ID)
		}
	}
	fits := func(s *session) bool { return scan.mayBeUnlogged(p, s) }
	all = scan.addChildren(all, p, fits, func(c *discover.Claim) { c.Additional, c.Strength = true, min(c.Strength, discover.Strong) })
	return all[len(logged):]
}

// mayBeUnlogged reports whether the session's newest turn is too new for the process's log, and the log does not tie it to another process.
func (scan *processScan) mayBeUnlogged(p *loggedProcess, s *session) bool {
	began := s.lastStart()
	newest, logged := p.history.newest[s.ID]
	isOthers := logged && newest.run != p.run && !newest.at.Before(began.Add(-flushSlack))
	return p.StartedBefore(began) && began.After(scan.unloggedSince(p)) && !p.lastFlush.After(began.Add(flushSlack)) && !isOthers
}

// mayHaveStarted reports whether the process may have started the session's newest turn, by the kind of both and the directory. A terminal
// interface runs the sessions of its directory, but not the first turn of one that `opencode run` created. A server runs sessions of any
// directory, unless a live headless run fits the session.
func (scan *processScan) mayHaveStarted(p *loggedProcess, s *session) bool {
	inDir := p.dir != "" && discover.RealPath(p.dir) == discover.RealPath(s.Dir)
	switch p.mode {
	case modeTUI:
		return inDir && !s.inFirstRun()
	case modeRun:
		return inDir && (p.resumes || s.inFirstRun() && p.StartedBefore(s.Created) && s.Created.Before(p.PreciseStart().Add(maxStartup)))
	}
	return !slices.ContainsFunc(scan.processes, func(run *loggedProcess) bool {
		return run.mode == modeRun && run.isUnlogged() && run.home == p.home && scan.mayBeUnlogged(run, s) && scan.mayHaveStarted(run, s)
	})
}
