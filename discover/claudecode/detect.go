package claudecode

import (
	"errors"
	"path"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/proc"
)

// IsAgentProcess implements [discover.MarkerReader].
func (Adapter) IsAgentProcess(p proc.Process) bool { return isAgentProcess(p) }

// MatchesBinary reports whether a binary can be this agent's.
func (Adapter) MatchesBinary(exe string) bool { return mayBeAgent(exe) }

// mayBeAgent reports whether a process with this name may run Claude Code. The name is the path of its binary, its short name or
// its first argument.
func mayBeAgent(name string) bool {
	return isInterpreter(name) || isNative(name) || strings.Contains(path.Base(name), "claude")
}

// mentionsAgent reports whether one of the names of a process says that it may run Claude Code, such as claude-raw.
func mentionsAgent(p proc.Process) bool {
	args, _ := p.Args()
	return slices.ContainsFunc(append(args[:min(len(args), 1):1], p.Exe, p.Name), func(name string) bool {
		return !isInterpreter(name) && mayBeAgent(name)
	})
}

// isAgentProcess reports whether p runs Claude Code by its name, as a session or as a helper. The binary decides, never a word
// in the command line: editors and shells have such words too. A program under another name is found by what it has written into
// the home, see [processScan.inspect].
//
//   - native builds (2.1.113 and later): .../claude, .../bin/claude.exe, or .../claude/versions/2.1.197
//   - node builds (up to 2.1.112): node or bun, which either calls itself "claude" (once it is up) or runs cli.js
//
// If the binary is not visible (another user's process), the kernel's short name decides.
func isAgentProcess(p proc.Process) bool {
	if p.Exe == "" {
		return isClaudeName(proc.ProgramName(p.Name)) && !isExiting(p)
	}
	if isNodeBuild(p) {
		return p.Name == "claude" || runsScript(p)
	}
	return isNative(p.Exe) && !isEmbeddedTool(p)
}

func isNative(exe string) bool {
	return isClaudeName(proc.ProgramName(exe)) ||
		path.Base(path.Dir(exe)) == "versions" && path.Base(path.Dir(path.Dir(exe))) == "claude"
}

// isInterpreter reports whether a binary can run a node build. That includes env(1), which the script's first line has look
// for node: a lock on a directory depends on the process from the moment it is started.
func isInterpreter(exe string) bool {
	switch proc.ProgramName(exe) {
	case "node", "nodejs", "bun", "env":
		return true
	}
	return false
}

// isExiting reports whether a process has released its memory, and with it its binary and arguments, but is no zombie yet.
func isExiting(p proc.Process) bool {
	args, err := p.Args()
	return err == nil && len(args) == 0 || errors.Is(err, proc.ErrGone)
}

func isClaudeName(name string) bool { return name == "claude" || name == "claude.exe" }

// isNodeBuild reports whether p, an agent's process, is a node build (up to 2.1.112).
func isNodeBuild(p proc.Process) bool { return isInterpreter(p.Exe) }

// runsScript recognises a node build that has just started, before it calls itself "claude" and wipes its arguments.
func runsScript(p proc.Process) bool {
	args, err := p.Args()
	return err == nil && len(argsAfterScript(args)) < len(args)
}

// argsAfterScript returns the arguments after Claude Code's script, or all arguments if the script is not the first one
// that is no flag.
func argsAfterScript(args []string) []string {
	for i, a := range args {
		switch {
		case i == 0, strings.HasPrefix(a, "-"), i == 1 && path.Base(args[0]) == "env":
		case isScript(a), path.Base(a) == "claude" && path.IsAbs(a) && isScript(discover.RealPath(a)):
			return args[i+1:]
		default:
			return args
		}
	}
	return args
}

// isScript reports whether a path is that of Claude Code's script, of the copy in the SDK (SEEN claude-agent-sdk 0.2.100,
// which has 2.1.100), or of npm's link to it.
func isScript(name string) bool {
	dir, base := path.Split(name)
	switch folder := path.Base(dir); base {
	case "cli.js":
		return folder == "claude-code" || folder == "claude-agent-sdk"
	case "claude":
		return folder == "bin" || folder == ".bin"
	}
	return false
}

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
