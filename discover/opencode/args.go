package opencode

import "strings"

// mode is the kind of process that a command line starts.
type mode uint8

const (
	modeNone   mode = iota // runs no session: a client, a helper, a short command
	modeTUI                // the terminal interface; any number of sessions
	modeRun                // one headless prompt
	modeServer             // serve, web, acp: the sessions of its clients
)

// source returns the mode as a session's source.
func (m mode) source() string {
	switch m {
	case modeTUI:
		return "tui"
	case modeRun:
		return "run"
	case modeServer:
		return "server"
	}
	return ""
}

// commandLine is a parsed command line of the agent.
type commandLine struct {
	mode       mode
	name       string   // the subcommand
	session    string   // of -s, unless --fork makes a copy of it
	resumes    bool     // -c or -s without --fork: the session may be older than the process
	v2Service  bool     // the background service of OpenCode 2
	promptArgs []string // the prompt of run, or the URL of attach
}

// commandMode returns the mode of a subcommand (SEEN 1.18.33 --help; with the names in older versions).
func commandMode(name string) (m mode, known bool) {
	switch name {
	case "run":
		return modeRun, true
	case "serve", "web", "acp":
		return modeServer, true
	case "attach", "completion", "mcp", "debug", "providers", "auth", "agent", "upgrade", "uninstall", "models",
		"stats", "export", "import", "github", "pr", "session", "plugin", "plug", "db", "generate":
		return modeNone, true
	}
	return modeTUI, false
}

// takesValue reports whether the argument after an option is its value.
func takesValue(option string) bool {
	switch option {
	case "-m", "--model", "-s", "--session", "--prompt", "--agent", "--port", "--hostname", "--log-level", "--title",
		"--format", "--variant", "-f", "--file", "--attach", "--dir", "--command", "--cors", "--mdns-domain",
		"-p", "--password", "-u", "--username", "--replay-limit", "--cwd":
		return true
	}
	return false
}

// parseArgs parses the arguments after the program's name.
func parseArgs(args []string) commandLine {
	c := commandLine{mode: modeTUI}
	fork, client, named := false, false, false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			c.promptArgs = append(c.promptArgs, args[i+1:]...)
			break
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			if named {
				c.promptArgs = append(c.promptArgs, arg)
			} else if m, known := commandMode(arg); known {
				c.mode, c.name = m, arg
			}
			named = true
			continue
		}
		option, value, inline := strings.Cut(arg, "=")
		if !inline && takesValue(option) && i+1 < len(args) {
			i++
			value = args[i]
		}
		switch option {
		case "-s", "--session":
			c.session = value
		case "-c", "--continue":
			c.resumes = true
		case "--fork":
			fork = true
		case "--attach":
			client = true
		case v2ServiceFlag:
			c.v2Service = true
		case "-h", "--help", "-v", "--version", "--get-yargs-completions":
			client = true
		}
	}
	if client {
		c.mode = modeNone
	}
	c.v2Service = c.v2Service && c.mode == modeServer
	c.resumes = (c.resumes || c.session != "") && !fork
	if fork || !isSessionID(c.session) {
		c.session = ""
	}
	return c
}
