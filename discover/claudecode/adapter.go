// Package claudecode reads Claude Code: which processes run which of its sessions, and what its transcripts say.
//
// The facts it relies on, with the versions they were seen in, are in docs/agents/claude-code.md. A session is a
// transcript projects/<slug>/<id>.jsonl below the config folder (~/.claude); since 2.1.75 each running process
// describes itself in sessions/<pid>.json, which is believed only of a process that is Claude Code and was born
// when the file says.
package claudecode

import "agentctl/discover"

// Adapter is Claude Code's [discover.Adapter] and [discover.MarkerReader]. It holds no state.
type Adapter struct{}

// New returns the adapter.
func New() Adapter { return Adapter{} }

const agentName discover.Agent = "claude-code"

// Name is the agent's name in flags and JSON.
func (Adapter) Name() discover.Agent { return agentName }

// Program implements [discover.Program]: the name the agent is installed under.
func (Adapter) Program() string { return "claude" }

// ShortName implements [discover.ShortNamer].
func (Adapter) ShortName() string { return "cc" }

// IncludesSubagents implements [discover.SubagentTotals].
func (Adapter) IncludesSubagents(discover.ReadOptions) bool { return true }

// warning is the one shape in which this package reports what it could not read.
func warning(path string, err error) error {
	return &discover.Warning{Agent: agentName, Path: path, Err: err}
}
