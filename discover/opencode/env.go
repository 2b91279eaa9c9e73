package opencode

import (
	"slices"
	"strconv"

	"agentctl/discover"
	"agentctl/proc"
)

// pidKey is set in the environment of the processes that the agent starts (SEEN 1.2.27 and later; earlier versions set no such variable).
const pidKey = "OPENCODE_PID"

// ReadMarker implements [discover.MarkerReader]. The variable names the agent's process. It does not say which of its sessions started the
// tool (1.18.33 and before).
func (Adapter) ReadMarker(getenv func(string) string) (marker discover.EnvMarker, ok bool) {
	pid, err := strconv.Atoi(getenv(pidKey))
	if err != nil || pid <= 0 {
		return discover.EnvMarker{}, false
	}
	return discover.EnvMarker{PID: pid}, true
}

// MarkerKeys returns the variables that [Adapter.ReadMarker] reads.
func (Adapter) MarkerKeys() []string { return []string{pidKey} }

// HasMarker implements [launch.Stopper]. A marker names the session's process, whichever of its sessions started p.
func (a Adapter) HasMarker(p proc.Process, s discover.Session) bool {
	env, err := p.Env(pidKey)
	if err != nil {
		return false
	}
	marker, ok := a.ReadMarker(func(key string) string { return env[key] })
	if !ok {
		return false
	}
	if pids, err := p.NamespacePIDs(); err != nil || len(pids) > 1 {
		return false // the PIDs of a container are not ours
	}
	return slices.ContainsFunc(s.Processes, func(owner proc.Process) bool {
		return owner.ID.PID == marker.PID && owner.ID != p.ID && owner.Ticks <= p.Ticks && !p.Started.Before(owner.Started)
	})
}

// ScrubbedEnv implements [launch.Adapter]. It returns the variables that the agent sets for the processes it starts (SEEN: AGENT and
// OPENCODE in all versions, OPENCODE_PID since 1.2.27, OPENCODE_RUN_ID in 1.14 and 1.15).
func (Adapter) ScrubbedEnv() []string {
	return []string{"AGENT", "OPENCODE", pidKey, "OPENCODE_RUN_ID", "OPENCODE_PROCESS_ROLE"}
}
