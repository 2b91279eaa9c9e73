package claudecode

import (
	"context"
	"errors"

	"agentctl/discover"
	"agentctl/proc"
)

// Claims returns which live processes run which sessions.
//
// Kinds of evidence:
//
//   - "registry" (exact; weak for a version that is not supported): the process's registry entry
//   - "tool-call" (exact): a sub-agent whose result the session waits for
//   - "sub-agent" (exact): a sub-agent that has not ended, by its transcript and metadata
//   - "team" (exact): a sub-agent that is a teammate in the session's team
//   - "team" (strong): the transcript of a teammate, by its names for both
//   - "argv" (strong in print mode, weak for a TUI, which may have changed its session since)
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

// sessionClaims returns the claims about the sessions that a process runs. Without a registry entry, the process has not registered
// yet (a dialog is open), never does (a teammate, a TUI inside of another session), or its entry is out of sight.
func (l *processScan) sessionClaims(x *process) []discover.Claim {
	switch {
	case x.registered():
		c := l.registryClaim(x)
		if x.outdated {
			c.Strength = discover.Weak // it may have changed its session since
			return []discover.Claim{c}
		}
		return l.withSubagents(x, c)
	case x.unreadable != "", x.otherRoot != "": // in another root directory, a session may have the ID of one of ours
		return nil
	case x.cmdline.isTeammate():
		return l.teammateClaim(x)
	}
	id := x.cmdline.namedSession()
	if id == "" {
		return nil
	}
	strength := discover.Weak
	if x.cmdline.print {
		strength = discover.Strong
	}
	return []discover.Claim{l.sessionClaim(x, id, findTranscript(l.ctx, x.home, x.dir, id), strength, "argv", "the command line names the session")}
}

// withSubagents returns a claim, followed by those for the sub-agents of its session.
func (l *processScan) withSubagents(x *process, c discover.Claim) []discover.Claim {
	children, err := x.subagentClaims(l.ctx, c)
	l.warnings = append(l.warnings, err)
	return append([]discover.Claim{c}, children...)
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

// sessionClaim returns the claim that the process runs this session, with this evidence.
func (l *processScan) sessionClaim(x *process, id, path string, strength discover.Strength, kind, detail string) discover.Claim {
	c := x.newClaim()
	c.Session, c.Path, c.Strength, c.Kind, c.Detail = id, path, strength, kind, detail
	c.Turn = x.liveTurn(l.ctx, path)
	return c
}
