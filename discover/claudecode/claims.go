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

// Claims says which live processes run which sessions.
//
// Kinds of evidence: "registry" (exact), "tool-call" (exact: a sub-agent whose result the session waits for), "sub-agent"
// (exact: one that has not ended, as its transcript and the note beside it have it), "history" (strong: where the
// commands typed since the registered session lead, in versions whose entry stays behind), "tool-env" (strong: a running
// command was started for the session), "argv" (strong for print mode, weak for a TUI, which may have moved on), "cwd"
// (weak).
//
// Meta keys: suspended (the process is stopped by a signal), backgroundShell (idle, but a command it started still
// runs), jobId (of a background session).
func (Adapter) Claims(ctx context.Context, table *proc.Table, homes []discover.Home) ([]discover.Claim, error) {
	l := &processScan{ctx: ctx, table: table, homes: homes}
	l.findProcesses()
	var claims []discover.Claim
	for _, x := range l.processes {
		claims = append(claims, x.processClaim())
		if x.otherRoot != "" {
			claims = append(claims, slices.DeleteFunc(l.claimsWithoutRegistry(x), func(c discover.Claim) bool { return l.isStored(c.Session) })...)
			continue
		}
		switch {
		case x.registered() && keepsFirstSession(x.entry.Version):
			claims = append(claims, l.legacyClaims(x)...)
		case x.registered():
			c := l.registryClaim(x)
			children, err := x.subagentClaims(ctx, c)
			claims = append(append(claims, c), children...)
			l.warnings = append(l.warnings, err)
		case x.unreadable == "":
			claims = append(claims, l.claimsWithoutRegistry(x)...)
		}
	}
	return claims, errors.Join(append(l.warnings, ctx.Err())...)
}

// isStored reports whether a home of ours has a session by this ID. That of a process whose config folder is another one is
// not the same.
func (l *processScan) isStored(id string) bool {
	return slices.ContainsFunc(l.homes, func(h discover.Home) bool { return findTranscript(l.ctx, h.Dir, "", id) != "" })
}

// registryClaim is the claim of the process's own entry.
func (l *processScan) registryClaim(x *process) discover.Claim {
	detail := x.entry.path + ": " + x.proof
	if x.entry.Status != "" {
		detail += ", status " + x.entry.Status
	}
	id := x.entry.SessionID
	return l.sessionClaim(x, id, findTranscript(l.ctx, x.home, x.entry.Cwd, id), discover.Exact, "registry", detail)
}

// claimsWithoutRegistry collects what else ties a process without a registry entry to a session: before it registers (a dialog
// is open), where it never does (before 2.1.75, print mode before 2.1.85, a TUI inside of another session), or
// where the file was lost. The best kind of evidence found is the only one used.
func (l *processScan) claimsWithoutRegistry(x *process) []discover.Claim {
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
	return nil // later versions register as soon as they have a session
}

// sessionClaim is the claim that the process runs this session, on this evidence.
func (l *processScan) sessionClaim(x *process, id, path string, strength discover.Strength, kind, detail string) discover.Claim {
	c := x.newClaim()
	c.Session, c.Path, c.Strength, c.Kind, c.Detail = id, path, strength, kind, detail
	c.Turn = l.liveTurn(x, path)
	return c
}

// toolEnvClaim takes the session from the environment of the newest command that the process runs.
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

// nodeStartup is how soon after its start no build for node writes into a transcript: node needs longer to come up. What was
// written within that time, another process wrote, which may have ended as this one began.
const nodeStartup = 100 * time.Millisecond

// directoryClaims offers every transcript of the process's directory that was written since it started and that no
// process has registered.
func (l *processScan) directoryClaims(x *process) (claims []discover.Claim) {
	for _, t := range l.transcriptsOf(x, x.dir) {
		if !l.isRegistered(t.Path) && x.StartedBefore(t.Updated.Add(-nodeStartup)) {
			claims = append(claims, l.sessionClaim(x, t.ID, t.Path, discover.Weak, "cwd", "written in the process's directory since it started"))
		}
	}
	return claims
}

// isRegistered reports whether a live process's registry entry means this transcript.
func (l *processScan) isRegistered(path string) bool {
	for _, x := range l.processes {
		if x.registered() && transcriptPath(x.home, x.entry.Cwd, x.entry.SessionID) == path {
			return true
		}
	}
	return false
}
