package discover

import "strings"

// GroupKey is the environment variable that a launch sets for the whole group: while a session lives, the
// environment of its process is the record of the group.
const GroupKey = "AGENTCTL_GROUP"

// groupOf reads a session's launch group: from its live process, or after death from the branch that the launch made
// for it, try/<group>/<name>.
func groupOf(s Session) string {
	for _, p := range s.Processes {
		if env, err := p.Env(GroupKey); err == nil && env[GroupKey] != "" {
			return env[GroupKey]
		}
	}
	if rest, ok := strings.CutPrefix(s.Branch, "try/"); ok {
		if group, _, ok := strings.Cut(rest, "/"); ok {
			return group
		}
	}
	return ""
}
