package codex

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/proc"
)

// candidates yields the live processes that may be Codex's: those whose names mention it, those that hold a lock of a home, and in a
// thorough table those that have a rollout or a lock open. [inspect] tells whether one is.
func candidates(table *proc.Table, homes []discover.Home) iter.Seq[proc.Process] {
	signs := proc.Signs{Name: mentionsCodex, PIDs: table.LockHolders(lockFiles(homes)...), File: isThreadFile}
	return func(yield func(proc.Process) bool) {
		for p := range table.Candidates(signs) {
			if p.Alive() && !isUnexecedFork(table, p) && !yield(p) {
				return
			}
		}
	}
}

// lockFiles are the lock files of the homes.
func lockFiles(homes []discover.Home) (files []string) {
	for _, h := range homes {
		dir := filepath.Join(h.Dir, locksDir)
		names, _ := fsread.ReadDir(context.Background(), dir) // it may well not exist
		for _, n := range names {
			if _, ok := parseLockName(n.Name()); ok {
				files = append(files, filepath.Join(dir, n.Name()))
			}
		}
	}
	return files
}

// inspect reads what a candidate has open, and reports whether it is Codex's. A process is, whatever its program is called, if it holds a
// thread's lock or writes a rollout; if its name mentions Codex and it has another file of a home open; or if it runs the agent's own
// binary by its name. Those who only read rollouts are not.
func inspect(p proc.Process) (files openFiles, own bool, err error) {
	files, err = readOpenFiles(p)
	return files, isCodex(p) || len(files.threads) > 0 || files.ofHome && (mentionsCodex(p.Exe) || mentionsCodex(p.Name)), err
}

// mentionsCodex reports whether the name of a program, or its path, says Codex in any way: codex-raw, .codex-unwrapped, codex-acp.
func mentionsCodex(name string) bool {
	return strings.Contains(strings.ToLower(filepath.Base(name)), "codex")
}

// isCodex reports whether a process runs Codex's binary by its name. It goes by the executable, never by a word of the command line. npm and
// the daemon's copy name it "codex" (SEEN 0.42–0.171), the release archives by platform. npm's wrapper is node, and no Codex process.
// Where the executable cannot be seen (another user's process), the kernel's short name decides.
func isCodex(p proc.Process) bool {
	if p.Exe == "" {
		return proc.ProgramName(p.Name) == "codex"
	}
	return isBinary(p.Exe)
}

func isBinary(exe string) bool {
	base := proc.ProgramName(exe)
	return base == "codex" || strings.HasPrefix(base, "codex-x86_64-") || strings.HasPrefix(base, "codex-aarch64-")
}

// isUnexecedFork reports whether p is a child that a Codex process has forked and that has not called exec yet. It still has its
// parent's command line and open files, and is no agent of its own.
func isUnexecedFork(table *proc.Table, p proc.Process) bool {
	parent, ok := table.ByPID(p.Parent)
	if !ok || !parent.Alive() || parent.Exe != p.Exe {
		return false
	}
	args, err := p.Args()
	parentArgs, err2 := parent.Args()
	return err == nil && err2 == nil && len(args) > 0 && slices.Equal(args, parentArgs)
}

// IsAgentProcess implements [discover.MarkerReader]. Under the name of one of its tools, the binary is a tool.
func (Adapter) IsAgentProcess(p proc.Process) bool {
	if !isCodex(p) {
		return false
	}
	args, err := p.Args()
	return err != nil || len(args) == 0 || !isToolName(args[0])
}

// IsSandbox implements [discover.Sandboxer]. The sandbox around one command of a thread's tools is Codex's binary under another name,
// with the thread's marker. It has its own pid namespace: the sandbox is the first process that a command can see (SEEN 0.169; in
// 0.104 the sandbox hides only what the agent has open).
func (Adapter) IsSandbox(p proc.Process) bool {
	if !isCodex(p) {
		return false
	}
	args, err := p.Args()
	return err == nil && len(args) > 0 && filepath.Base(args[0]) == sandboxName
}

const sandboxName = "codex-linux-sandbox"
