// Package codex reads the sessions of OpenAI's Codex CLI, which calls them threads, and finds the live processes that run them.
// docs/agents/codex.md holds the facts that it relies on, with the versions they were seen in.
//
// A thread is one append-only "rollout" file of JSON lines. The process that runs a thread keeps the rollout open for writing. Since
// 0.147 it also holds an exclusive flock on a file named after the thread. The kernel drops both when the process ends: they are
// exact evidence. The lock files themselves and the databases outlive their processes and are no evidence. Codex's SQLite files
// are an index made from the rollouts. They can lag behind, miss a deletion, or stay wrong after a crash, so they are not read.
package codex

import (
	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
)

// Adapter implements [launch.Adapter] for Codex. It has no state.
type Adapter struct{ launch.Defaults }

// New returns the adapter for Codex.
func New() Adapter { return Adapter{} }

const agentName discover.Agent = "codex"

// Name is the agent's name in flags and JSON.
func (Adapter) Name() discover.Agent { return agentName }

// ShortID implements [discover.Adapter]. A thread's ID is a UUID that begins with the time (version 7, SEEN 0.42–0.169).
func (Adapter) ShortID(id string) int { return storage.ShortUUIDLen(id) }

// IncludesSubagents implements [discover.Adapter]. Totals of tokens include them: their rollouts are read.
func (Adapter) IncludesSubagents(options discover.ReadOptions) bool {
	return includesSubagents(options)
}

func includesSubagents(options discover.ReadOptions) bool { return options.Tokens || options.Full }

// MatchesID implements [discover.Adapter]. A thread's ID is a UUID of version 7.
func (Adapter) MatchesID(id string) bool {
	_, ok := threadCreated(id)
	return ok && isThreadID(id)
}

// warn returns the warning about a path that could not be read.
func warn(path string, err error) error {
	return &discover.Warning{Agent: agentName, Path: path, Err: storage.WithoutPath(path, err)}
}
