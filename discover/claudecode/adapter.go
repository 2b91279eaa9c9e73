// Package claudecode is the adapter of Claude Code: it finds the agent's processes and its stored sessions, says which
// process runs which session, and launches, resumes and stops sessions.
//
// The facts that it relies on, with the versions they were seen in, are in docs/agents/claude-code.md. A session is a
// transcript projects/<slug>/<id>.jsonl below the config folder (~/.claude). Since 2.1.75 each process describes itself in
// sessions/<pid>.json, a registry entry, which counts only if that process is Claude Code and started when the entry says.
package claudecode

import (
	"errors"
	"io/fs"

	"agentctl/discover"
	"agentctl/launch"
)

// Adapter is Claude Code's [launch.Adapter]. It holds no state.
type Adapter struct{ launch.Defaults }

// New returns the adapter.
func New() Adapter { return Adapter{} }

const agentName discover.Agent = "claude-code"

// Name returns the agent's name in flags and JSON.
func (Adapter) Name() discover.Agent { return agentName }

// Program implements [discover.Program]. It returns the name that the agent is installed under.
func (Adapter) Program() string { return "claude" }

// ShortName implements [discover.ShortNamer].
func (Adapter) ShortName() string { return "cc" }

// IncludesSubagents implements [discover.SubagentTotals].
func (Adapter) IncludesSubagents(discover.ReadOptions) bool { return true }

// warning makes the error by which this package reports what it could not read: err, unless it is nil or a warning already.
func warning(path string, err error) error {
	if _, ok := errors.AsType[*discover.Warning](err); ok || err == nil {
		return err
	}
	return &discover.Warning{Agent: agentName, Path: path, Err: cause(err)}
}

// cause returns the error without the path, which a warning has already.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// StoreCommand implements [launch.StoreManager]: Claude Code has no such commands (2.1.330).
func (a Adapter) StoreCommand(action launch.StoreAction, _ discover.Session, _ launch.Environment) (launch.Command, error) {
	what := "has no command that archives or restores a session"
	if action == launch.ActionRemove {
		what = "has no command that deletes a session: it deletes what has not changed for cleanupPeriodDays, a setting in its settings.json, 30 by default"
	}
	return launch.Command{}, &launch.UnsupportedError{Agent: a.Name(), What: what}
}
