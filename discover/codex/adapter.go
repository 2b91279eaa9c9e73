// Package codex reads the sessions of OpenAI's Codex CLI, which calls them threads, and finds the live processes that run them.
// docs/agents/codex.md holds the facts that it relies on, with the versions they were seen in.
//
// A thread is one append-only "rollout" file of JSON lines. The process that runs a thread keeps the rollout open for writing. Since
// 0.147 it also holds an exclusive flock on a file named after the thread. The kernel drops both when the process ends: they are
// exact evidence. The lock files themselves and the databases outlive their processes and are no evidence. Codex's SQLite files
// are an index made from the rollouts. They can lag behind, miss a deletion, or stay wrong after a crash, so they are not read.
package codex

import (
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
)

// Adapter implements [launch.Adapter] for Codex. It has no state.
type Adapter struct{ launch.Defaults }

// New returns the adapter for Codex.
func New() Adapter { return Adapter{} }

const agentName discover.Agent = "codex"

// Name is the agent's name in flags and JSON.
func (Adapter) Name() discover.Agent { return agentName }

// ShortID implements [discover.Adapter]. A thread's ID is a UUID that begins with the time (version 7, SEEN 0.42–0.169).
func (Adapter) ShortID(id string) int { return storage.ShortUUIDLen(id) }

// IncludesSubagents implements [discover.Adapter]. Totals of tokens include them: their rollouts are read.
func (Adapter) IncludesSubagents(options discover.ReadOptions) bool {
	return includesSubagents(options)
}

func includesSubagents(options discover.ReadOptions) bool { return options.Tokens || options.Full }

// MatchesID implements [discover.Adapter]. A thread's ID is a UUID of version 7.
func (Adapter) MatchesID(id string) bool {
	_, ok := threadCreated(id)
	return ok && isThreadID(id)
}

// warn returns the warning about a path that could not be read.
func warn(path string, err error) error {
	return discover.NewWarning(agentName, path, err)
}

// role is what a Codex process does.
type role uint8

const (
	helper role = iota // runs no thread: sandbox, updater, short command, client of a server that its arguments name
	exec               // runs one turn without asking the user: exec, review
	tui                // is the terminal interface; the daemon may run its threads instead
	server             // serves threads to clients: app-server, mcp-server
)

// invocation is a parsed command line.
type invocation struct {
	role
	// noDaemon: the TUI runs its threads itself (--no-daemon, 0.160 and later).
	noDaemon bool
	// noThreadHere: the process runs no thread. It is a client of a remote server (--remote), or prints help.
	noThreadHere bool
	// remoteTUI: the process is a TUI that shows the threads of a server that its arguments name.
	remoteTUI bool
	// overview: the TUI begins with the list of all sessions.
	overview bool
	// isDaemon: the server is the daemon that runs the threads of the TUIs of its home.
	isDaemon bool
	// isMCP: the server is one of the Model Context Protocol.
	isMCP bool
	// dir is the value of -C, session the full ID given to resume, listen the value of --listen, remote that of --remote.
	dir, session, listen, remote string
}

// parseArgs parses a command line as Codex does. The first word that is neither an option nor the value of one is the command. If
// no command has that name, the word is a prompt and the process a TUI (SEEN 0.104, 0.169).
func parseArgs(args []string) invocation {
	if len(args) == 0 || isToolName(args[0]) {
		return invocation{}
	}
	a := syntax().Parse(args[1:])
	in := invocation{
		noDaemon: a.Has("--no-daemon"), isDaemon: a.Has("--managed-daemon"),
		dir: a.Value("-C", "--cd"), listen: a.Value("--listen"), remote: a.Value("--remote"),
		noThreadHere: a.Has("--remote", "-h", "--help", "-V", "--version"),
	}
	for option := range a.Options {
		in.noThreadHere = in.noThreadHere || strings.HasPrefix(option, "--codex-run-as-")
	}
	words := a.Words
	command := ""
	if len(words) > 0 {
		command = words[0]
	}
	switch command {
	case "exec", "e", "review":
		in.role = exec
	case "app-server":
		in.role = serverRole(words[1:])
	case "mcp-server":
		in.role, in.isMCP = server, true
	case "remote-control":
		in.role = helper
		if in.noDaemon && len(words) == 1 { // its own server, in the foreground (READ 0.169)
			in.role = server
		}
	case "login", "logout", "mcp", "plugin", "completion", "update", "doctor", "sandbox",
		"debug", "apply", "a", "queue", "archive", "delete", "migrate-rollouts", "migrate-nfs-db", "unarchive", "cloud",
		"cloud-tasks", "exec-server", "execpolicy", "features", "help", "responses-api-proxy", "stdio-to-uds":
		in.role = helper
	default:
		in.role, in.overview = tui, command == "agents"
	}
	if in.noThreadHere {
		in.remoteTUI = in.role == tui && in.remote != ""
		in.role = helper
	}
	if i := slices.Index(words, "resume"); i >= 0 && i < 2 && i+1 < len(words) && isThreadID(words[i+1]) {
		in.session = words[i+1]
	}
	return in
}

// isToolName reports whether the binary was started under the name of a tool. It then acts as that tool: it runs a command in the
// sandbox, or applies a patch.
func isToolName(arg0 string) bool {
	switch filepath.Base(arg0) {
	case sandboxName, "codex-execve-wrapper", "codex-code-mode-host", "apply_patch", "applypatch":
		return true
	}
	return false
}

// roleOfProgram is the role of a program that is not Codex's command line and runs its threads: codex-acp serves an editor. It is helper
// for all others, whose arguments tell.
func roleOfProgram(name string) role {
	switch base := filepath.Base(name); {
	case strings.HasPrefix(base, "codex-acp"), strings.HasPrefix(base, "codex-app-server"), strings.HasPrefix(base, "codex-mcp-server"):
		return server
	case strings.HasPrefix(base, "codex-exec"):
		return exec
	}
	return helper
}

// serverRole is the role of `codex app-server` with these words: a server, or a helper for one.
func serverRole(words []string) role {
	for _, tool := range []string{"daemon", "proxy", "generate-ts", "generate-json-schema", "help"} {
		if slices.Contains(words, tool) {
			return helper
		}
	}
	return server
}

// syntax is that of the command line.
func syntax() discover.Syntax {
	return discover.Syntax{
		Values: "-c --config --enable --disable --remote --remote-auth-token-env -i --image -m --model --local-provider -p --profile " +
			"-s --sandbox -C --cd --add-dir -a --ask-for-approval --thread-source --cyber-access-program --output-schema --color " +
			"-o --output-last-message --listen --startup-client-info --cloud-skills-snapshot --code-mode-host --session-source " +
			"--base --commit --title",
	}
}
