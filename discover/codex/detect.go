package codex

import (
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/proc"
)

// processes yields the live processes that run Codex's own binary under its own name: sessions, servers, clients and
// short commands. Helpers that share the binary are told from them by their command line only; see parseArgs.
func processes(table *proc.Table) iter.Seq[proc.Process] {
	return func(yield func(proc.Process) bool) {
		for p := range table.WithExe(isBinary) {
			if p.Alive() && isCodex(p) && !isUnexecedFork(table, p) && !yield(p) {
				return
			}
		}
	}
}

// isCodex goes by the binary, never by a word in a command line. npm and the daemon's own copy call it "codex"
// (SEEN 0.42–0.169), the release archives by platform. The npm wrapper is node and is not meant. Where the binary may
// not be seen (another user's process), the kernel's short name decides.
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

// isUnexecedFork reports whether p is a child that a codex process has forked and that has not become its own program yet:
// for that moment it has its parent's command line and open files, and is not another agent.
func isUnexecedFork(table *proc.Table, p proc.Process) bool {
	parent, ok := table.ByPID(p.Parent)
	if !ok || !parent.Alive() || !isCodex(parent) || parent.Exe != p.Exe {
		return false
	}
	own, err := p.Args()
	theirs, err2 := parent.Args()
	return err == nil && err2 == nil && len(own) > 0 && slices.Equal(own, theirs)
}

// IsAgentProcess implements [discover.MarkerReader]. Under the names of its tools the binary is a tool, as the sandbox is.
func (Adapter) IsAgentProcess(p proc.Process) bool {
	if !isCodex(p) {
		return false
	}
	args, err := p.Args()
	return err != nil || len(args) == 0 || !isToolName(args[0])
}

// IsSandbox reports whether a process is the sandbox around one command of a thread's tools: Codex's own binary under
// another name, which has the thread's mark. Since it has a pid namespace of its own, it is the first process that can be
// seen inside (SEEN 0.169; in 0.104 the sandbox hides only what the agent has open).
func (Adapter) IsSandbox(p proc.Process) bool {
	if !isCodex(p) {
		return false
	}
	args, err := p.Args()
	return err == nil && len(args) > 0 && filepath.Base(args[0]) == sandboxName
}

const sandboxName = "codex-linux-sandbox"
