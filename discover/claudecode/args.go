package claudecode

import (
	"strings"

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

// Subcommands that run no session, as in `claude --help` of 2.1.197, 2.1.329 and 2.1.330, and `claude daemon`.
const subcommands = " agents attach auth auto-mode config daemon doctor gateway import install kill logs mcp " +
	"migrate-installer plugin plugins project purge respawn rm setup-token stop ultrareview update upgrade "

// Flags that make a process a helper.
const helperFlags = " --bg --background --bg-spare --bg-pty-host --daemon-worker --version -v -V --help -h --update " +
	"--upgrade --chrome-native-host --claude-in-chrome-mcp "

// Flags with one value, and flags with all words up to the next flag. Parsing needs them to tell a value from a subcommand.
const (
	valueFlags = " --agent --agents --append-system-prompt --append-system-prompt-file --autocompact --debug-file " +
		"--effort --environment --fallback-model --input-format --json-schema --max-budget-usd --max-turns --model " +
		"--name -n --output-format --permission-mode --permission-prompt-tool --permission-prompts --plugin-dir " +
		"--plugin-url --remote-control-session-name-prefix --resume -r --session-id --setting-sources --settings " +
		"--system-prompt --system-prompt-file --system-prompt-snapshot --worktree -w --debug -d --from-pr --teleport " +
		"--agent-id --agent-name --team-name --agent-color --agent-type --parent-session-id --lead-verify-key --teammate-mode "
	listFlags = " --add-dir --allowedTools --allowed-tools --betas --disallowedTools --disallowed-tools --file " +
		"--mcp-config --tools "
)

func containsWord(set, word string) bool {
	return strings.Contains(set, " "+word+" ") && !strings.Contains(word, " ")
}

// readCmdline reads the command line of a process that may be Claude Code.
func readCmdline(p proc.Process) cmdline {
	args, err := p.Args()
	if err != nil || len(args) == 0 {
		return cmdline{}
	}
	return parseCmdline(args[1:])
}

func parseCmdline(args []string) (c cmdline) {
	positional := 0
	for len(args) > 0 && args[0] != "--" {
		word := args[0]
		args = args[1:]
		if !strings.HasPrefix(word, "-") || word == "-" {
			if positional++; positional == 1 && containsWord(subcommands, word) {
				c.helper = true
			}
			continue
		}
		flag, value, joined := strings.Cut(word, "=")
		if !joined && containsWord(valueFlags, flag) && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
			value, args = args[0], args[1:]
		}
		for containsWord(listFlags, flag) && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
			args = args[1:]
		}
		c.set(flag, value)
		if c.helper {
			return c // what follows may be another process's command line
		}
	}
	return c
}

func (c *cmdline) set(flag, value string) {
	switch flag {
	case "-p", "--print":
		c.print = true
	case "--input-format":
		c.stream = value == "stream-json"
	case "--session-id":
		c.session = value
	case "--resume", "-r":
		c.resume = value
	case "--fork-session":
		c.fork = true
	case "--team-name":
		c.team = value
	case "--agent-name":
		c.teammate = value
	case "--parent-session-id":
		c.parent = value
	case "--bg-pty-host":
		c.host = true
	}
	c.helper = c.helper || containsWord(helperFlags, flag)
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
