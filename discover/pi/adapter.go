// Package pi reads the sessions of Pi (@earendil-works/pi-coding-agent), and finds the live processes that run them. docs/agents/pi.md
// holds the facts that it relies on, with the versions they were seen in.
//
// A session is one append-only file of JSON lines. Pi opens it for each line that it appends, so no process holds it: it is tied to a
// process by what the process's tools have in their environment, by what the process prints, or by times.
package pi

import (
	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
)

// Adapter implements [launch.Adapter] for Pi. It has no state.
type Adapter struct{ launch.Defaults }

// New returns the adapter.
func New() Adapter { return Adapter{} }

const agentName discover.Agent = "pi"

// Name is the agent's name in flags and JSON.
func (Adapter) Name() discover.Agent { return agentName }

// Program implements [discover.Adapter].
func (Adapter) Program() string { return programName }

const programName = "pi"

// ShortID implements [discover.Adapter]. Pi's own IDs begin with the time (UUIDs of version 7, SEEN 0.84, 1.5); --session-id takes any.
func (Adapter) ShortID(id string) int { return storage.ShortUUIDLen(id) }

// MatchesID implements [discover.Adapter]. A user may give a session any ID; those that Pi makes are not unlike those of other agents.
func (Adapter) MatchesID(id string) bool {
	return storage.IsUUID(id, false) && storage.UUIDVersion(id) == '7'
}

// warning returns the warning about a path that could not be read.
func warning(path string, err error) error { return discover.NewWarning(agentName, path, err) }

const (
	// newestTried is the newest version in docs/support.md.
	newestTried = "1.5.2"
	// oldestSupported is the oldest version that is launched and resumed. Stored sessions of older ones are read.
	oldestSupported = "0.84.1"
)

// Tried implements [discover.Adapter].
func (Adapter) Tried() discover.Tried {
	return discover.Tried{
		Newest: newestTried, ProgramVersion: func(path string) string { return installedVersion(path).String() },
		UnknownKinds: discover.UnknownLineKinds(knownKinds, kindOf),
	}
}

// installedVersion returns the version of an installed program, from the package that it is in: .../pi-coding-agent/dist/cli.js (0.84),
// .../dist/bundle/cli.js (1.5); zero if that does not tell.
func installedVersion(program string) storage.Version {
	_, version := storage.NPMPackage(program, 3, func(name string) bool {
		return name == "@earendil-works/pi-coding-agent" || name == "@mariozechner/pi-coding-agent"
	})
	return version
}
