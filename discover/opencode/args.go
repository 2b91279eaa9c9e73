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
	promptArgs []string // the prompt of run, or the URL of attach
	generation generation
	// standalone: a server of OpenCode 2 that one client has started for itself, or a client that starts one. serverURL is the server that a
	// client of OpenCode 2 is told to use.
	standalone bool
	serverURL  string
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
			"--command --cors --mdns-domain -p --password -u --username --replay-limit --cwd --server",
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
	c.standalone, c.serverURL = a.Has("--standalone", "--stdio"), a.Value("--server")
	switch {
	case c.name == "serve" && a.Has("--service", "--stdio"), a.Has("--standalone", "--server"):
		c.generation = generation2
	case c.name == "attach", c.name == "web", c.name == "run" && a.Has("--attach", "--dir", "--variant"),
		c.mode == modeTUI && a.Has("--port", "--hostname"):
		c.generation = generation1
	}
	c.resumes = (c.session != "" || a.Has("-c", "--continue")) && !fork
	if fork || !isSessionID(c.session) {
		c.session = ""
	}
	return c
}

// generation is the major version of OpenCode that a process runs, or an installation has. Both have the same names.
type generation uint8

const (
	generationUnknown generation = iota
	generation1
	generation2
)

// asV2 returns the command line as OpenCode 2 reads it (READ 2.0.26). Only servers run turns: terminals and headless runs are their clients,
// and so is acp.
func (c commandLine) asV2(args []string) commandLine {
	words := syntax().Parse(args).Words
	c.generation = generation2
	switch name := append(words, "")[0]; name {
	case "acp", "api", "auth", "debug", "mcp", "models", "pair", "plugin", "reload", "service", "session", "stats", "uninstall", "update", "upgrade":
		c.mode, c.name = modeNone, name
	}
	return c
}
