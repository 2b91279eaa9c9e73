// Package codex reads the sessions of OpenAI's Codex CLI, which calls them threads, and tells which live process
// runs which. docs/agents/codex.md holds the facts it relies on, with the versions they were seen in.
//
// A thread is one append-only "rollout" file of JSON lines. The process that runs it keeps that file open for
// writing and, since 0.147, holds an exclusive flock on a file named after the thread. Both marks are the kernel's
// and vanish with the process, so they are exact evidence; the lock files and databases themselves outlive their
// owners and are none. Codex's SQLite files are an index made from the rollouts, which can be behind, ahead of a
// deletion or wrong for ever after a crash: they are not read.
package codex

import (
	"agentctl/discover"
	"agentctl/discover/codex/transcript"
	"agentctl/discover/native"
	"agentctl/discover/native/fsread"
)

// Adapter is Codex as the rest of the program sees it. It has no state.
type Adapter struct{}

// New returns the adapter for Codex.
func New() Adapter { return Adapter{} }

const agentName discover.Agent = "codex"

// Name is the agent's name in flags and JSON.
func (Adapter) Name() discover.Agent { return agentName }

// ShortID implements [discover.Shortener]: a thread's ID is a UUID that begins with the time (version 7, SEEN 0.42–0.169).
func (Adapter) ShortID(id string) int { return native.ShortUUIDLen(id) }

// IncludesSubagents implements [discover.SubagentTotals]: the sub-agents' rollouts have to be read for it, too.
func (Adapter) IncludesSubagents(want discover.ReadOptions) bool { return includesSubagents(want) }

func includesSubagents(want discover.ReadOptions) bool { return want.Tokens || want.Full }

// MatchesID reports whether an id tells when it was made (UUID version 7), as those of threads do.
func (Adapter) MatchesID(id string) bool {
	_, ok := transcript.ThreadCreated(id)
	return ok && transcript.IsThreadID(id)
}

// warn makes the one warning that an unreadable thing costs.
func warn(path string, err error) error {
	return &discover.Warning{Agent: agentName, Path: path, Err: fsread.WithoutPath(path, err)}
}
