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
	l := &look{ctx: ctx, table: table, homes: homes}
	l.gather()
	var claims []discover.Claim
	for _, x := range l.processes {
		claims = append(claims, x.presence())
		if x.behind != "" {
			claims = append(claims, slices.DeleteFunc(l.byTrace(x), func(c discover.Claim) bool { return l.stores(c.Session) })...)
			continue
		}
		switch {
		case x.registered() && staysBehind(x.entry.Version):
			claims = append(claims, l.early(x)...)
		case x.registered():
			c := l.byRegistry(x)
			children, err := x.children(ctx, c)
			claims = append(append(claims, c), children...)
			l.warnings = append(l.warnings, err)
		case x.unreadable == "":
			claims = append(claims, l.byTrace(x)...)
		}
	}
	return claims, errors.Join(append(l.warnings, ctx.Err())...)
}

// stores reports whether a home of ours has a session by this ID. That of a process whose config folder is another one is
// not the same.
func (l *look) stores(id string) bool {
	return slices.ContainsFunc(l.homes, func(h discover.Home) bool { return locate(l.ctx, h.Dir, "", id) != "" })
}

// byRegistry is the claim of the process's own entry.
func (l *look) byRegistry(x *process) discover.Claim {
	detail := x.entry.path + ": " + x.proof
	if x.entry.Status != "" {
		detail += ", status " + x.entry.Status
	}
	id := x.entry.SessionID
	return l.trace(x, id, locate(l.ctx, x.home, x.entry.Cwd, id), discover.Exact, "registry", detail)
}

// byTrace collects what else ties a process without a registry entry to a session: before it registers (a dialog
// is open), where it never does (before 2.1.75, print mode before 2.1.85, a TUI inside of another session), or
// where the file was lost. The best kind of evidence found is the only one used.
func (l *look) byTrace(x *process) []discover.Claim {
	if c, ok := l.byTool(x); ok {
		return []discover.Claim{c}
	}
	if id := x.command.named(); id != "" {
		strength := discover.Weak
		if x.command.print {
			strength = discover.Strong
		}
		return []discover.Claim{l.trace(x, id, locate(l.ctx, x.home, x.dir, id), strength, "argv", "the command line names the session")}
	}
	if nodeBuild(x.Process) {
		return l.byDirectory(x)
	}
	return nil // later versions register as soon as they have a session
}

// trace is the claim that the process runs this session, on this evidence.
func (l *look) trace(x *process, id, path string, strength discover.Strength, kind, detail string) discover.Claim {
	c := x.claim()
	c.Session, c.Path, c.Strength, c.Kind, c.Detail = id, path, strength, kind, detail
	c.Turn = l.turn(x, path)
	return c
}

// byTool takes the session from the environment of the newest command that the process runs.
func (l *look) byTool(x *process) (discover.Claim, bool) {
	for _, child := range slices.Backward(l.toolChildren(x)) {
		env, err := child.Env(markKey, sessionKey)
		if err != nil {
			continue
		}
		if mark, ok := New().ReadMarker(func(key string) string { return env[key] }); ok && mark.Session != "" {
			return l.trace(x, mark.Session, locate(l.ctx, x.home, x.dir, mark.Session), discover.Strong, "tool-env",
				fmt.Sprintf("its command, %s, has %s", child.ID, sessionKey)), true
		}
	}
	return discover.Claim{}, false
}

// firstLine is how soon after its start no build for node writes into a transcript: node needs longer to come up. What was
// written within that time, another process wrote, which may have ended as this one began.
const firstLine = 100 * time.Millisecond

// byDirectory offers every transcript of the process's directory that was written since it started and that no
// process has registered.
func (l *look) byDirectory(x *process) (claims []discover.Claim) {
	for _, t := range l.transcripts(x, x.dir) {
		if !l.isRegistered(t.Path) && x.StartedBefore(t.Updated.Add(-firstLine)) {
			claims = append(claims, l.trace(x, t.ID, t.Path, discover.Weak, "cwd", "written in the process's directory since it started"))
		}
	}
	return claims
}

// isRegistered reports whether a live process's registry entry means this transcript.
func (l *look) isRegistered(path string) bool {
	for _, x := range l.processes {
		if x.registered() && transcriptPath(x.home, x.entry.Cwd, x.entry.SessionID) == path {
			return true
		}
	}
	return false
}
