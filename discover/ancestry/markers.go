package ancestry

import (
	"slices"

	"agentctl/discover"
	"agentctl/proc"
)

// agentMarker is an environment marker with the agent that set it.
type agentMarker struct {
	discover.EnvMarker
	agent discover.Agent
}

// sessionIDs returns the IDs that the marker names.
func (m agentMarker) sessionIDs() []string {
	return slices.DeleteFunc([]string{m.Session, m.Root}, func(id string) bool { return id == "" })
}

// names reports whether the marker names the session.
func (m agentMarker) names(s discover.Session) bool {
	return m.agent == s.Agent && slices.Contains(m.sessionIDs(), s.ID)
}

// markerKeys returns the environment variables that hold the markers of all agents.
func markerKeys(scanner *discover.Scanner) (keys []string) {
	for _, a := range scanner.Adapters {
		keys = append(keys, a.MarkerKeys()...)
	}
	return keys
}

// readMarkers returns the markers in the environment of a process. An environment that may not be read, such as another
// user's, has none.
func readMarkers(scanner *discover.Scanner, p proc.Process) (markers []agentMarker) {
	env, err := p.Env(markerKeys(scanner)...)
	if err != nil || len(env) == 0 {
		return nil
	}
	for _, a := range scanner.Adapters {
		if marker, ok := a.ReadMarker(func(key string) string { return env[key] }); ok {
			markers = append(markers, agentMarker{marker, a.Name()})
		}
	}
	return markers
}

// HasMarkedProcess reports whether any live process has a marker that names the session.
func HasMarkedProcess(scanner *discover.Scanner, table *proc.Table, s discover.Session) bool {
	for p := range table.WithEnv(markerKeys(scanner)...) {
		if p.Alive() && slices.ContainsFunc(readMarkers(scanner, p), func(m agentMarker) bool { return m.names(s) }) {
			return true
		}
	}
	return false
}

// markerProcessEnded reports whether the process has ended that had this pid when it started p. The pids of a container are
// not ours, so nothing is known of them.
func markerProcessEnded(table *proc.Table, pid int, p proc.Process) bool {
	if pids, err := p.NamespacePIDs(); err != nil || len(pids) > 1 {
		return false
	}
	starter, listed := table.ByPID(pid)
	if !listed {
		return !table.Hidden()
	}
	return !starter.Alive() || !startedBy(starter, p)
}

// startedBy reports whether p is old enough to have started the other process.
func startedBy(p, other proc.Process) bool {
	return p.Ticks <= other.Ticks && !p.Started.After(other.Started)
}
