package discover

import (
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentctl/discover/storage"
	"agentctl/proc"
	"agentctl/proc/multiplexer"
)

// Session is a record with its status, as every verb shows it.
type Session struct {
	// Record is never nil. Sessions share it: copy it before a change.
	*Record
	Status     Status
	Outcome    Outcome // "" unless stopped
	WaitingFor string  // "" unless waiting
	// WaitingOn is the call that needs the user; nil unless waiting, or where it is not known.
	WaitingOn *WaitingOn
	Error     string // the agent's own text, when the last turn failed; on live rows too
	// Reason is why it has its status, as a sentence.
	Reason string
	// Processes run the session now, oldest first; more than one where the agent allows it.
	Processes []proc.Process
	// Clients show the session to a user while Processes run it: the terminals of a server's session, oldest first, as far as
	// evidence ties them to it.
	Clients []proc.Process
	// Group is the launch group, from the live process's environment or the recorded branch, else the session's team.
	Group string
	// Shared: the processes serve other sessions as well, or can.
	Shared bool
	// NameOnly: nothing but the name and the arguments of a program says that one of the processes is the agent's. It must not be
	// signalled.
	NameOnly bool
	// MayRunAny: one of the processes may as well run another session that is stored in its home for its directory; see [Claim.MayRunAny].
	MayRunAny bool
	// Trust is how far the session's home is trusted. The zero value is the least.
	Trust Trust
	// Copy: it is stored in another file too, which is the session; see docs/design.md.
	Copy bool
	// Evidence is everything that was considered, the accepted evidence first.
	Evidence []Evidence
	// Host is the machine whose agentctl has answered; "" for a session that was read here.
	Host string

	table *proc.Table // has the processes; nil without any
}

// UnknownSession is a session of which nothing is known, not even a name.
func UnknownSession() Session { return Session{Record: &Record{}} }

// Evidence is one claim, and whether the correlation accepted it.
type Evidence struct {
	Claim
	Accepted bool
	// Why says why it was accepted or rejected.
	Why string
}

// AllProcesses returns the session's processes as a user meets them: first the clients that show it, then those that run it.
func (s Session) AllProcesses() []proc.Process { return slices.Concat(s.Clients, s.Processes) }

// ProcessStarted returns when the first of [Session.AllProcesses] started; the zero time if that is not known.
func (s Session) ProcessStarted() time.Time {
	for _, p := range s.AllProcesses() {
		return p.Started
	}
	return time.Time{}
}

// LastActivity returns the time of the newest record, or else of the start of the session or its process. The age of a server says
// nothing about one of its sessions.
func (s Session) LastActivity() time.Time {
	if at := s.lastActivity(); !at.IsZero() || s.Shared && s.ID != "" && len(s.Clients) == 0 {
		return at
	}
	return s.ProcessStarted()
}

// Released reports whether the session is only kept in the memory of a server: it is in no turn, and no client is known to show it.
func (s Session) Released() bool {
	return s.Status == Idle && s.Shared && len(s.Clients)+len(s.PossibleClients()) == 0
}

// PossibleClients returns the live clients that show either this session or another one.
func (s Session) PossibleClients() (list []proc.Process) {
	for _, e := range s.Evidence {
		if e.Client && !e.Accepted && s.table != nil {
			list = withProcess(list, s.table, e.Process)
		}
	}
	return list
}

// ProcessHome is the home as the processes of the session see it, by the best evidence: another name of the session's home, or one
// that shares its store. It is the session's home where no process runs the session.
func (s Session) ProcessHome() string {
	if len(s.Evidence) > 0 && s.Evidence[0].Accepted && s.Evidence[0].Home != "" {
		return s.Evidence[0].Home
	}
	return s.Home
}

// Argument is what [Scanner.Find] takes for this very session: its ID, with its file or database if that is a copy.
func (s Session) Argument() string {
	if s.Copy {
		return s.ID + "@" + s.Path
	}
	return s.ID
}

// HasProcess reports whether the session is run by the process with this identity.
func (s Session) HasProcess(id proc.ID) bool {
	return slices.ContainsFunc(s.Processes, func(p proc.Process) bool { return p.ID == id })
}

// SharesProcess reports whether one process runs both sessions.
func (s Session) SharesProcess(o Session) bool {
	return slices.ContainsFunc(o.Processes, func(p proc.Process) bool { return s.HasProcess(p.ID) })
}

func (s Session) RunByAny(processes iter.Seq[proc.Process]) bool {
	for p := range processes {
		if s.HasPID(p.ID.PID) {
			return true
		}
	}
	return false
}

// Headless reports whether the process ends with the session, since it runs nothing else.
func (s Session) Headless() bool {
	return isHeadlessSource(s.Source) && !s.Shared && !s.IsSubagent()
}

// isHeadlessSource reports whether a source is a headless run: one turn, which begins and ends with its process.
func isHeadlessSource(source string) bool {
	return slices.Contains([]string{"print", "exec", "run"}, source)
}

// HasExactEvidence reports whether exact evidence ties a live process to the session.
func (s Session) HasExactEvidence() bool {
	return slices.ContainsFunc(s.Evidence, func(e Evidence) bool {
		return e.Accepted && e.Strength == Exact && e.Session != ""
	})
}

// RootSession returns the session at the top of a sub-agent's chain of parents, as far as they are among the sessions. Any
// other session is its own root.
func RootSession(sessions []Session, s Session) Session {
	for range sessions { // bounds a cycle
		i := slices.IndexFunc(sessions, func(p Session) bool { return s.Parent != "" && p.Agent == s.Agent && p.ID == s.Parent })
		if i < 0 {
			break
		}
		s = sessions[i]
	}
	return s
}

// ContainsSession reports whether the list has a session, compared by key, and by process if it has no ID.
func ContainsSession(list []Session, s Session) bool {
	return slices.ContainsFunc(list, func(o Session) bool {
		return o.Key() == s.Key() && (s.ID != "" || s.RunByAny(slices.Values(o.Processes)))
	})
}

func (s Session) pid() int {
	for _, p := range s.AllProcesses() {
		return p.ID.PID
	}
	return 0
}

// TTY returns the controlling terminal of the first of the session's processes that has one; "" if none has, or if its path means
// something else here.
func (s Session) TTY() string {
	_, path := s.terminalProcess()
	return path
}

// Pane returns the pane of a terminal multiplexer, or the window of a terminal emulator, in which the first of the session's
// processes with a terminal runs; nil if that is not known. The multiplexer is not asked.
func (s Session) Pane() *multiplexer.Pane {
	p, path := s.terminalProcess()
	if path == "" {
		return nil
	}
	return multiplexer.Find(s.table, p)
}

// terminalProcess returns the first of the session's processes that has a terminal, and the path of that; "" if none has.
func (s Session) terminalProcess() (p proc.Process, path string) {
	if s.Host != "" {
		return p, "" // its pids are another machine's
	}
	for _, p := range s.AllProcesses() {
		if path, err := p.TTY(); err == nil && path != "" {
			return p, path
		}
	}
	return p, ""
}

// GroupEnv is the environment variable that a launch sets for the whole group: while a session lives, the
// environment of its process is the record of the group.
const GroupEnv = "AGENTCTL_GROUP"

// GroupBranchPrefix is how the branches of group launches begin: try/<group>/<name>. After the session's death its branch
// is the record of the group.
const GroupBranchPrefix = "try/"

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

// gitFileLimit bounds a file of git that holds one path or name, in bytes.
const gitFileLimit = 64 << 10

// branchAt is the branch that a linked worktree is on, by git's own files (gitrepository-layout(5)): not every agent
// records it. It is "" for any other directory.
func branchAt(dir string) string {
	for {
		git, err := ReadGitPath(filepath.Join(dir, ".git"), "gitdir: ")
		if err == nil {
			head, _ := storage.ReadFile(filepath.Join(git, "HEAD"), gitFileLimit)
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

// ReadGitPath reads a file of git that holds one path behind a prefix (gitrepository-layout(5)). A relative path starts at the directory
// of the file. Error: that of the file; [fs.ErrInvalid] if it holds no path.
func ReadGitPath(file, prefix string) (string, error) {
	text, err := storage.ReadFile(file, gitFileLimit)
	path := strings.TrimPrefix(strings.TrimSpace(string(text)), prefix)
	switch {
	case err != nil:
		return "", err
	case path == "":
		return "", &fs.PathError{Op: "read", Path: file, Err: fs.ErrInvalid}
	case filepath.IsAbs(path):
		return path, nil
	}
	return filepath.Join(filepath.Dir(file), path), nil
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
