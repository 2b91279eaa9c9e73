package claudecode

import (
	"errors"
	"path"
	"slices"
	"strings"

	"agentctl/proc"
)

// IsAgentProcess implements [discover.MarkerReader].
func (Adapter) IsAgentProcess(p proc.Process) bool { return isAgentProcess(p) }

// MatchesBinary reports whether a binary can be this agent's.
func (Adapter) MatchesBinary(exe string) bool { return mayBeAgent(exe) }

// mayBeAgent reports whether a process with this name may run Claude Code. The name is the path of its binary, its short name or
// its first argument.
func mayBeAgent(name string) bool {
	return isNative(name) || strings.Contains(path.Base(name), "claude")
}

// mentionsAgent reports whether one of the names of a process says that it may run Claude Code, such as claude-raw.
func mentionsAgent(p proc.Process) bool {
	args, _ := p.Args()
	return slices.ContainsFunc(append(args[:min(len(args), 1):1], p.Exe, p.Name), mayBeAgent)
}

// isAgentProcess reports whether p runs Claude Code by its name, as a session or as a helper: .../claude, .../bin/claude.exe,
// .../claude/versions/2.1.197, or a node build. The binary decides, never a word in the command line: editors and shells have such
// words too. A program under another name is found by what it has written into the home, see [processScan.inspect].
//
// If the binary is not visible (another user's process), the kernel's short name decides.
func isAgentProcess(p proc.Process) bool {
	if p.Exe == "" {
		return isClaudeName(proc.ProgramName(p.Name)) && !isExiting(p)
	}
	return isNodeBuild(p) || isNative(p.Exe) && !isEmbeddedTool(p)
}

func isNative(exe string) bool {
	return isClaudeName(proc.ProgramName(exe)) ||
		path.Base(path.Dir(exe)) == "versions" && path.Base(path.Dir(path.Dir(exe))) == "claude"
}

// isExiting reports whether a process has released its memory, and with it its binary and arguments, but is no zombie yet.
func isExiting(p proc.Process) bool {
	args, err := p.Args()
	return err == nil && len(args) == 0 || errors.Is(err, proc.ErrGone)
}

func isClaudeName(name string) bool { return name == "claude" || name == "claude.exe" }

// isNodeBuild reports whether p is a node build (up to 2.1.112): a node that calls itself "claude".
func isNodeBuild(p proc.Process) bool { return p.Name == "claude" && proc.ProgramName(p.Exe) == "node" }

// isEmbeddedTool reports whether the native binary runs as one of the programs that it contains. It starts itself under
// another name in argv[0] to search files. In a sandbox it starts itself by an open file, with the name in ARGV0.
func isEmbeddedTool(p proc.Process) bool {
	args, err := p.Args()
	if err != nil || len(args) == 0 {
		return false
	}
	switch path.Base(args[0]) {
	case "rg", "ugrep", "bfs", "grep", "find", "apply-seccomp":
		return true
	}
	return strings.HasPrefix(args[0], "/proc/self/fd/")
}

// namespacePID returns the PID that the process has in its own PID namespace, which differs in a container.
func namespacePID(p proc.Process) int {
	pids, err := p.NamespacePIDs()
	if err != nil || len(pids) == 0 {
		return p.ID.PID
	}
	return pids[len(pids)-1]
}
