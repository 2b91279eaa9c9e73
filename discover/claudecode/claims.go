package claudecode

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// Claims returns which live processes run which sessions.
//
// Kinds of evidence:
//
//   - "registry" (exact): the process's registry entry
//   - "tool-call" (exact): a sub-agent whose result the session waits for
//   - "sub-agent" (exact): a sub-agent that has not ended, by its transcript and metadata
//   - "history" (strong): the commands typed since the registered session lead to the session, in versions whose registry entry keeps the first one
//   - "team" (exact): a sub-agent that is a teammate in the session's team
//   - "team" (strong): the transcript of a teammate, by its names for both
//   - "tool-env" (strong): a command of the process was started for the session
//   - "argv" (strong in print mode, weak for a TUI, which may have changed its session since)
//   - "cwd" (weak): the transcript was written in the process's directory
//
// Meta keys: suspended (a signal has stopped the process), backgroundShell (idle, but a command that it started still
// runs), jobId (of a background session).
func (Adapter) Claims(ctx context.Context, table *proc.Table, homes []discover.Home) ([]discover.Claim, error) {
	l := &processScan{ctx: ctx, table: table, homes: homes}
	l.findProcesses()
	var claims []discover.Claim
	for _, x := range l.processes {
		found := l.sessionClaims(x)
		claims = append(append(claims, x.processClaim(found)), found...)
	}
	return claims, errors.Join(append(l.warnings, ctx.Err())...)
}

// sessionClaims returns the claims about the sessions that a process runs.
func (l *processScan) sessionClaims(x *process) []discover.Claim {
	switch {
	case x.otherRoot != "":
		return slices.DeleteFunc(l.claimsWithoutRegistry(x), func(c discover.Claim) bool { return l.isStored(c.Session) })
	case x.registered() && keepsFirstSession(x.entry.Version):
		return l.legacyClaims(x)
	case x.registered():
		return l.withSubagents(x, l.registryClaim(x))
	case x.unreadable == "":
		return l.claimsWithoutRegistry(x)
	}
	return nil
}

// withSubagents returns a claim, followed by those for the sub-agents of its session.
func (l *processScan) withSubagents(x *process, c discover.Claim) []discover.Claim {
	children, err := x.subagentClaims(l.ctx, c)
	l.warnings = append(l.warnings, err)
	return append([]discover.Claim{c}, children...)
}

// isStored reports whether one of the homes has a session with this ID. A process whose config folder is in another root
// directory runs a different one.
func (l *processScan) isStored(id string) bool {
	return slices.ContainsFunc(l.homes, func(h discover.Home) bool { return findTranscript(l.ctx, h.Dir, "", id) != "" })
}

// registryClaim returns the claim that the process's registry entry makes.
func (l *processScan) registryClaim(x *process) discover.Claim {
	detail := x.entry.path + ": " + x.proof
	if x.entry.Status != "" {
		detail += ", status " + x.entry.Status
	}
	id := x.entry.SessionID
	return l.sessionClaim(x, id, findTranscript(l.ctx, x.home, x.entry.Cwd, id), discover.Exact, "registry", detail)
}

// claimsWithoutRegistry returns claims for a process without a registry entry: before it registers (a dialog is open), if
// it never does (before 2.1.75, print mode before 2.1.85, a TUI inside of another session, a teammate), or if the file
// was lost. Only the best kind of evidence is used.
func (l *processScan) claimsWithoutRegistry(x *process) []discover.Claim {
	if x.cmdline.isTeammate() {
		return l.teammateClaim(x)
	}
	if c, ok := l.toolEnvClaim(x); ok {
		return []discover.Claim{c}
	}
	if id := x.cmdline.namedSession(); id != "" {
		strength := discover.Weak
		if x.cmdline.print {
			strength = discover.Strong
		}
		return []discover.Claim{l.sessionClaim(x, id, findTranscript(l.ctx, x.home, x.dir, id), strength, "argv", "the command line names the session")}
	}
	if isNodeBuild(x.Process) {
		return l.directoryClaims(x)
	}
	return nil // native builds register as soon as they have a session
}

// sessionClaim returns the claim that the process runs this session, with this evidence.
func (l *processScan) sessionClaim(x *process, id, path string, strength discover.Strength, kind, detail string) discover.Claim {
	c := x.newClaim()
	c.Session, c.Path, c.Strength, c.Kind, c.Detail = id, path, strength, kind, detail
	c.Turn = l.liveTurn(x, path)
	return c
}

// toolEnvClaim returns the claim that the environment of the process's newest command makes.
func (l *processScan) toolEnvClaim(x *process) (discover.Claim, bool) {
	for _, child := range slices.Backward(l.toolCommands(x)) {
		env, err := child.Env(markerKey, sessionKey)
		if err != nil {
			continue
		}
		if mark, ok := New().ReadMarker(func(key string) string { return env[key] }); ok && mark.Session != "" {
			return l.sessionClaim(x, mark.Session, findTranscript(l.ctx, x.home, x.dir, mark.Session), discover.Strong, "tool-env",
				fmt.Sprintf("its command, %s, has %s", child.ID, sessionKey)), true
		}
	}
	return discover.Claim{}, false
}

// nodeStartup is less than a node build needs to start before it writes into a transcript. What was written within that
// time after the start, another process wrote, which may have ended just then.
const nodeStartup = 100 * time.Millisecond

// directoryClaims returns a claim for each transcript of the process's directory that was written since the process started
// and that no process has registered.
func (l *processScan) directoryClaims(x *process) (claims []discover.Claim) {
	for _, t := range l.transcriptsOf(x, x.dir) {
		if !l.isRegistered(t.Path) && x.StartedBefore(t.Updated.Add(-nodeStartup)) {
			claims = append(claims, l.sessionClaim(x, t.ID, t.Path, discover.Weak, "cwd", "written in the process's directory since it started"))
		}
	}
	return claims
}

// isRegistered reports whether the registry entry of a live process names this transcript.
func (l *processScan) isRegistered(path string) bool {
	for _, x := range l.processes {
		if x.registered() && transcriptPath(x.home, x.entry.Cwd, x.entry.SessionID) == path {
			return true
		}
	}
	return false
}
