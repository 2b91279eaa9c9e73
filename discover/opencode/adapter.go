// Package opencode reads the sessions of OpenCode (opencode.ai) and tells which live process runs which.
// docs/agents/opencode.md holds the facts it relies on, with the versions they were seen in.
//
// Sessions stand in an SQLite database (1.2 and later) or in JSON files (before); neither knows of processes. Which
// process runs a session is told by the log: every process appends to it, each line names its process by a random
// "run", and the kernel knows how far each process has written.
package opencode

import (
	"strconv"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/opencode/transcript"
	"agentctl/proc"
)

// Adapter is OpenCode as the rest of the program sees it. It has no state.
type Adapter struct{}

// New returns the adapter for OpenCode.
func New() Adapter { return Adapter{} }

const agentName discover.Agent = "opencode"

// Name is the agent's name in flags and JSON.
func (Adapter) Name() discover.Agent { return agentName }

// ShortID implements [discover.IDShortener]: a session's ID begins with the time.
func (Adapter) ShortID(string) int { return len(sessionPrefix) + transcript.IDTimeBits/4 }

// MatchesID reports whether an id is one of OpenCode's, whole.
func (Adapter) MatchesID(id string) bool { return isSessionID(id) && len(id) == idLength }

// pidKey names the variable by which the agent marks the processes it starts (SEEN 1.2.27 and later; earlier versions name
// nobody).
const pidKey = "OPENCODE_PID"

// ReadMarker names the agent's process; which of its sessions a tool is for, OpenCode does not say (1.18.33 and before).
func (Adapter) ReadMarker(getenv func(string) string) (mark discover.EnvMarker, ok bool) {
	pid, err := strconv.Atoi(getenv(pidKey))
	if err != nil || pid <= 0 {
		return discover.EnvMarker{}, false
	}
	return discover.EnvMarker{PID: pid}, true
}

// MarkerKeys are the environment keys that Mark asks for.
func (Adapter) MarkerKeys() []string { return []string{pidKey} }

// IsAgentProcess implements [discover.MarkerReader].
func (Adapter) IsAgentProcess(p proc.Process) bool { return isProgram(p) }

// newWarning makes the one warning that an unreadable thing costs.
func newWarning(path string, err error) error {
	return &discover.Warning{Agent: agentName, Path: path, Err: fsread.WithoutPath(path, err)}
}
