// Package copilot is the adapter of GitHub Copilot CLI: it finds the agent's processes and its stored sessions, says which process runs
// which session, and launches, resumes, stops and removes sessions.
//
// The facts that it relies on, with the versions they were seen in, are in docs/agents/copilot.md. A session is a folder
// session-state/<id>/ below ~/.copilot, with all records in its events.jsonl. Since 1.0.89, a process holds a lock on a file in the
// folder of each session that it has loaded.
package copilot

import (
	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
)

// Adapter is Copilot CLI's [launch.Adapter]. It holds no state.
type Adapter struct{ launch.Defaults }

// New returns the adapter.
func New() Adapter { return Adapter{} }

const agentName discover.Agent = "copilot"

// Name returns the agent's name in flags and JSON.
func (Adapter) Name() discover.Agent { return agentName }

// Program implements [discover.Adapter]. It returns the name that the agent is installed under.
func (Adapter) Program() string { return "copilot" }

// IncludesSubagents implements [discover.Adapter]: sub-agents have their records in the session's file.
func (Adapter) IncludesSubagents(discover.ReadOptions) bool { return true }

// MatchesID implements [discover.Adapter]. A session has a random UUID, or any UUID that its user has chosen.
func (Adapter) MatchesID(id string) bool { return isUUID(id) }

// ShortID implements [discover.Adapter].
func (Adapter) ShortID(id string) int { return storage.ShortUUIDLen(id) }

func isUUID(s string) bool { return storage.IsUUID(s, true) }

// warning returns the warning about a path that could not be read.
func warning(path string, err error) error { return discover.NewWarning(agentName, path, err) }

const (
	// newestTried is the newest version in docs/support.md.
	newestTried = "1.0.102"
	// oldestSupported is the oldest version whose processes are understood. Stored sessions of older ones are read.
	oldestSupported = "1.0.82"
)

// Tried implements [discover.Adapter].
func (Adapter) Tried() discover.Tried {
	return discover.Tried{
		Newest: newestTried, ProgramVersion: func(path string) string { return installedVersion(path).String() },
		UnknownKinds: discover.UnknownLineKinds(knownTypes, typeOf),
	}
}

// installedVersion returns the version of an installed program, from the package.json beside it; zero if that does not tell. npm's
// launcher is in a package of its own, of the same version. A program may load a newer version of itself from its cache.
func installedVersion(program string) storage.Version {
	_, version := storage.NPMPackage(program, 1, func(string) bool { return true })
	return version
}
