package discover

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"agentctl/discover/native/fsread"
	"agentctl/proc"
)

// GroupEnv is the environment variable that a launch sets for the whole group: while a session lives, the
// environment of its process is the record of the group.
const GroupEnv = "AGENTCTL_GROUP"

// GroupBranchPrefix is how the branches of group launches begin: try/<group>/<name>. After the session's death its branch
// is the record of the group.
const GroupBranchPrefix = "try/"

// Environ returns those of the named variables that an agent's process was started with. It reads the group along, which all
// processes that run sessions are asked for, so that the environment is read once.
func Environ(p proc.Process, keys ...string) (map[string]string, error) {
	return p.Env(append(keys, GroupEnv)...)
}

// groupOf returns a session's launch group: from its live process, or else from its branch.
func groupOf(s *Session) string {
	for _, p := range s.AllProcesses() {
		if env, err := p.Env(GroupEnv); err == nil && env[GroupEnv] != "" {
			return env[GroupEnv]
		}
	}
	if group := GroupOfWorktree(s.Branch, s.Dir); group != "" || !strings.Contains(s.Dir, groupDir) {
		return group
	}
	return GroupOfBranch(branchAt(s.Dir))
}

// groupDir is in the names of the worktrees that group launches make: a cheap sign that git is worth asking.
const groupDir = "-try-"

// groupDirEnd ends the group's name in the name of a worktree whose branch does not hold it.
const groupDirEnd = "--"

// GroupWorktreeDir is where the worktree of a group's launch goes whose branch has a name of its own: beside the repository at top,
// with the group and the branch in its name. The directory, which agents record, is then the record of the group after the
// session's death; [GroupOfWorktree] reads it.
func GroupWorktreeDir(top, group, branch string) string {
	return top + groupDir + group + groupDirEnd + strings.ReplaceAll(branch, "/", "-")
}

// IsGroupName reports whether a group can be told from the names of its branches and worktrees.
func IsGroupName(group string) bool {
	return group != "" && !strings.Contains(group, "/") && !strings.Contains(group, groupDirEnd) && !strings.Contains(group, groupDir)
}

// GroupOfWorktree is the launch group that a worktree was made for, by its branch or by its path, which may be that of a
// directory in it; "" if it was made for none.
func GroupOfWorktree(branch, dir string) string {
	if group := GroupOfBranch(branch); group != "" {
		return group
	}
	i := strings.LastIndex(dir, groupDir)
	if i < 0 {
		return ""
	}
	name, _, _ := strings.Cut(dir[i+len(groupDir):], "/")
	group, rest, ok := strings.Cut(name, groupDirEnd)
	if !ok || rest == "" || !IsGroupName(group) {
		return ""
	}
	return group
}

// gitFileLimit bounds the two files of a worktree that name its repository and its branch, in bytes. Each holds one path.
const gitFileLimit = 64 << 10

// branchAt is the branch that a linked worktree is on, by git's own files (gitrepository-layout(5)): not every agent
// records it. It is "" for any other directory.
func branchAt(dir string) string {
	for {
		text, err := fsread.ReadFile(filepath.Join(dir, ".git"), gitFileLimit)
		if err == nil {
			git, _ := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
			if !filepath.IsAbs(git) {
				git = filepath.Join(dir, git)
			}
			head, _ := fsread.ReadFile(filepath.Join(git, "HEAD"), gitFileLimit)
			branch, _ := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
			return branch
		}
		parent := filepath.Dir(dir)
		if parent == dir || !errors.Is(err, fs.ErrNotExist) || !filepath.IsAbs(dir) {
			return ""
		}
		dir = parent
	}
}

// GroupOfBranch is the launch group that a branch was made for, "" if it was made for none.
func GroupOfBranch(branch string) string {
	if rest, ok := strings.CutPrefix(branch, GroupBranchPrefix); ok {
		if group, _, ok := strings.Cut(rest, "/"); ok {
			return group
		}
	}
	return ""
}
