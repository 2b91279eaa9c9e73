package claudecode

import (
	"errors"
	"path"
	"strings"

	"agentctl/discover"
	"agentctl/proc"
)

// IsAgentProcess implements [discover.MarkerReader].
func (Adapter) IsAgentProcess(p proc.Process) bool { return isAgentProcess(p) }

// MatchesBinary reports whether a binary can be this agent's.
func (Adapter) MatchesBinary(exe string) bool { return mayBeAgent(exe) }

// isAgentProcess reports whether p runs Claude Code, as a session or as a helper. It goes by the binary, never by a word
// in the command line: editors and shells have such words too.
//
//   - native builds (2.1.113 and later): .../claude, .../bin/claude.exe, or .../claude/versions/2.1.197
//   - node builds (up to 2.1.112): node or bun, which either calls itself "claude" (once it is up) or runs cli.js
//
// Where the binary may not be seen (another user's process), the kernel's short name decides.
func isAgentProcess(p proc.Process) bool {
	if p.Exe == "" {
		return isClaudeName(proc.ProgramName(p.Name)) && !isExiting(p)
	}
	if isNodeBuild(p) {
		return p.Name == "claude" || runsScript(p)
	}
	return isNative(p.Exe) && !isEmbeddedTool(p)
}

// mayBeAgent reports whether a binary can be Claude Code's.
func mayBeAgent(exe string) bool { return isInterpreter(exe) || isNative(exe) }

func isNative(exe string) bool {
	return isClaudeName(proc.ProgramName(exe)) ||
		path.Base(path.Dir(exe)) == "versions" && path.Base(path.Dir(path.Dir(exe))) == "claude"
}

// isInterpreter includes env(1), which the script's first line has look for node: the lock on a directory rests on the
// process from the moment it is started.
func isInterpreter(exe string) bool {
	switch proc.ProgramName(exe) {
	case "node", "nodejs", "bun", "env":
		return true
	}
	return false
}

// isExiting reports whether a process is past its end, though the kernel has not called it a zombie yet: its memory is
// gone, and with it the binary and the arguments.
func isExiting(p proc.Process) bool {
	args, err := p.Args()
	return err == nil && len(args) == 0 || errors.Is(err, proc.ErrGone)
}

func isClaudeName(name string) bool { return name == "claude" || name == "claude.exe" }

// isNodeBuild reports whether p is one of the versions up to 2.1.112.
func isNodeBuild(p proc.Process) bool { return isInterpreter(p.Exe) }

// runsScript recognises a node build in its first moments, before it calls itself "claude" and wipes its arguments.
func runsScript(p proc.Process) bool {
	args, err := p.Args()
	return err == nil && len(argsAfterScript(args)) < len(args)
}

// argsAfterScript returns the arguments after Claude Code's script, or all of them if it is not among the first ones.
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

// isScript reports whether a path is that of Claude Code's script, which the SDK brings along (SEEN claude-agent-sdk 0.2.100,
// that of 2.1.100), or of npm's link to it.
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

// isEmbeddedTool reports whether the native binary runs as one of the programs it carries: it starts itself under
// another name in argv[0] to search files, and by an open file, with the name in ARGV0, inside of a sandbox.
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

// namespacePID is the pid that the process has in its own namespace: another than ours in a container.
func namespacePID(p proc.Process) int {
	pids, err := p.NamespacePIDs()
	if err != nil || len(pids) == 0 {
		return p.ID.PID
	}
	return pids[len(pids)-1]
}
