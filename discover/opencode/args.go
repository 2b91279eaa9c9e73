package opencode

import (
	"slices"

	"agentctl/discover"
)

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

// syntax is that of the command line.
func syntax() discover.Syntax {
	return discover.Syntax{
		Values: "-m --model -s --session --prompt --agent --port --hostname --log-level --title --format --variant -f --file --attach --dir " +
			"--command --cors --mdns-domain -p --password -u --username --replay-limit --cwd",
	}
}

// parseArgs parses the arguments after the program's name.
func parseArgs(args []string) commandLine {
	a := syntax().Parse(args)
	c := commandLine{mode: modeTUI, session: a.Value("-s", "--session"), promptArgs: a.Rest}
	if len(a.Words) > 0 {
		if m, known := commandMode(a.Words[0]); known {
			c.mode, c.name = m, a.Words[0]
		}
		c.promptArgs = slices.Concat(a.Words[1:], a.Rest)
	}
	if a.Has("--attach", "-h", "--help", "-v", "--version", "--get-yargs-completions") {
		c.mode = modeNone
	}
	fork := a.Has("--fork")
	c.v2Service = c.mode == modeServer && a.Has(v2ServiceFlag)
	c.resumes = (c.session != "" || a.Has("-c", "--continue")) && !fork
	if fork || !isSessionID(c.session) {
		c.session = ""
	}
	return c
}
