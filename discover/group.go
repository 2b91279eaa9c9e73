package discover

import "strings"

// GroupKey is the environment variable that a launch sets for the whole group: while a session lives, the
// environment of its process is the record of the group.
const GroupKey = "AGENTCTL_GROUP"

// GroupBranches is how the branches of group launches begin: try/<group>/<name>. After the session's death its branch
// is the record of the group.
const GroupBranches = "try/"

// groupOf reads a session's launch group: from its live process, or else from its branch.
func groupOf(s Session) string {
	for _, p := range s.Processes {
		if env, err := p.Env(GroupKey); err == nil && env[GroupKey] != "" {
			return env[GroupKey]
		}
	}
	return GroupOfBranch(s.Branch)
}

// GroupOfBranch is the launch group that a branch was made for, "" if it was made for none.
func GroupOfBranch(branch string) string {
	if rest, ok := strings.CutPrefix(branch, GroupBranches); ok {
		if group, _, ok := strings.Cut(rest, "/"); ok {
			return group
		}
	}
	return ""
}
