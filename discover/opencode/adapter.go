// Package opencode reads the sessions of OpenCode (opencode.ai) and finds the live processes that run them. docs/agents/opencode.md holds
// the facts that it relies on, with the versions they were seen in.
//
// Sessions are in an SQLite database (1.2 and later) or in JSON files (before). Neither names processes. The log shows which process runs
// which session: every process appends to it, each line has the random "run" of its process, and the kernel knows the offset up to which
// each process has written.
package opencode

import (
	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/launch"
)

// Adapter implements [launch.Adapter] for OpenCode. It has no state.
type Adapter struct{ launch.Defaults }

// New returns the adapter for OpenCode.
func New() Adapter { return Adapter{} }

const agentName discover.Agent = "opencode"

// Name returns the agent's name in flags and JSON.
func (Adapter) Name() discover.Agent { return agentName }

// IncludesSubagents implements [discover.SubagentTotals].
func (Adapter) IncludesSubagents(discover.ReadOptions) bool { return true }

// ShortID implements [discover.IDShortener]. A session's ID begins with the time.
func (Adapter) ShortID(string) int { return len(sessionPrefix) + idTimeBits/4 }

// MatchesID implements [discover.IDMatcher].
func (Adapter) MatchesID(id string) bool { return isSessionID(id) && len(id) == idLength }

// newWarning returns the warning about a path that could not be read.
func newWarning(path string, err error) error {
	return &discover.Warning{Agent: agentName, Path: path, Err: fsread.WithoutPath(path, err)}
}

// warningUnlessGone returns the warning about a path that could not be read; nil if there is no error, or if the path does not exist.
func warningUnlessGone(path string, err error) error {
	if err == nil || fsread.IsNotExist(err) {
		return nil
	}
	return newWarning(path, err)
}
