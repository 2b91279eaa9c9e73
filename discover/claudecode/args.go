package claudecode

import (
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/proc"
)

// cmdline is what a command line says of a Claude Code process. It is a hint: /clear and /resume change a TUI's session later.
type cmdline struct {
	// helper: the process runs no session (a subcommand, the background daemon and its hosts, --version, --bg).
	helper bool
	// host: the process is the terminal host of a background session, whose child runs the session.
	host bool
	// print: -p, one turn without a terminal. stream: print mode that reads further prompts from stdin.
	print, stream bool
	// session and resume are the IDs given with --session-id and --resume. fork: the session is a copy of the resumed one.
	session, resume string
	fork            bool
	// team and teammate: the process is a teammate, with a terminal of its own. parent is the session that leads the team.
	team, teammate, parent string
}

// subcommands run no session, as in `claude --help` of 2.1.197, 2.1.329 and 2.1.330, and `claude daemon`.
const subcommands = "agents attach auth auto-mode config daemon doctor gateway import install kill logs mcp " +
	"migrate-installer plugin plugins project purge respawn rm setup-token stop ultrareview update upgrade"

// syntax is that of the command line. Final are the flags that make a process a helper.
func syntax() discover.Syntax {
	return discover.Syntax{
		NoDashValues: true,
		Values: "--agent --agents --append-system-prompt --append-system-prompt-file --autocompact --debug-file " +
			"--effort --environment --fallback-model --input-format --json-schema --max-budget-usd --max-turns --model " +
			"--name -n --output-format --permission-mode --permission-prompt-tool --permission-prompts --plugin-dir " +
			"--plugin-url --remote-control-session-name-prefix --resume -r --session-id --setting-sources --settings " +
			"--system-prompt --system-prompt-file --system-prompt-snapshot --worktree -w --debug -d --from-pr --teleport " +
			"--agent-id --agent-name --team-name --agent-color --agent-type --parent-session-id --lead-verify-key --teammate-mode",
		Lists: "--add-dir --allowedTools --allowed-tools --betas --disallowedTools --disallowed-tools --file " +
			"--mcp-config --tools",
		Final: "--bg --background --bg-spare --bg-pty-host --daemon-worker --version -v -V --help -h --update " +
			"--upgrade --chrome-native-host --claude-in-chrome-mcp",
	}
}

func containsWord(set, word string) bool { return slices.Contains(strings.Fields(set), word) }

// readCmdline reads the command line of a process that may be Claude Code.
func readCmdline(p proc.Process) cmdline {
	args, err := p.Args()
	if err != nil || len(args) == 0 {
		return cmdline{}
	}
	return parseCmdline(args[1:])
}

func parseCmdline(args []string) cmdline {
	a := syntax().Parse(args)
	return cmdline{
		helper: len(a.Words) > 0 && containsWord(subcommands, a.Words[0]) || a.Has(strings.Fields(syntax().Final)...),
		host:   a.Has("--bg-pty-host"), print: a.Has("-p", "--print"), stream: a.Value("--input-format") == "stream-json",
		session: a.Value("--session-id"), resume: a.Value("--resume", "-r"), fork: a.Has("--fork-session"),
		team: a.Value("--team-name"), teammate: a.Value("--agent-name"), parent: a.Value("--parent-session-id"),
	}
}

// isTeammate reports whether the process is a teammate, which another session leads.
func (c cmdline) isTeammate() bool { return c.team != "" && c.teammate != "" && isUUID(c.parent) }

// namedSession returns the session that the command line names, or "".
func (c cmdline) namedSession() string {
	switch {
	case isUUID(c.session):
		return c.session
	case isUUID(c.resume) && !c.fork:
		return c.resume
	}
	return ""
}
