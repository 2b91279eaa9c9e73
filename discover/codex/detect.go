package codex

import (
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/proc"
)

// processes yields the live processes that run Codex's binary: sessions, servers, clients and short commands. Only its arguments
// tell a helper from the others; see [parseArgs].
func processes(table *proc.Table) iter.Seq[proc.Process] {
	return func(yield func(proc.Process) bool) {
		for p := range table.Candidates(proc.Signs{Name: isBinary}) {
			if p.Alive() && isCodex(p) && !isUnexecedFork(table, p) && !yield(p) {
				return
			}
		}
	}
}

// isCodex reports whether a process runs Codex's binary. It goes by the executable, never by a word of the command line. npm and the
// daemon's copy name it "codex" (SEEN 0.42–0.169), the release archives by platform. npm's wrapper is node, and no Codex process.
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
	if !ok || !parent.Alive() || !isCodex(parent) || parent.Exe != p.Exe {
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
