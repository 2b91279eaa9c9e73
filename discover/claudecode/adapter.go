// Package claudecode is the adapter of Claude Code: it finds the agent's processes and its stored sessions, says which
// process runs which session, and launches, resumes and stops sessions.
//
// The facts that it relies on, with the versions they were seen in, are in docs/agents/claude-code.md. A session is a
// transcript projects/<slug>/<id>.jsonl below the config folder (~/.claude). Since 2.1.75 each process describes itself in
// sessions/<pid>.json, a registry entry, which counts only if that process is Claude Code and started when the entry says.
package claudecode

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
	"agentctl/proc"
)

// Adapter is Claude Code's [launch.Adapter]. It holds no state.
type Adapter struct{ launch.Defaults }

// New returns the adapter.
func New() Adapter { return Adapter{} }

const agentName discover.Agent = "claude-code"

// Name returns the agent's name in flags and JSON.
func (Adapter) Name() discover.Agent { return agentName }

// Program implements [discover.Adapter]. It returns the name that the agent is installed under.
func (Adapter) Program() string { return "claude" }

// ShortName implements [discover.Adapter].
func (Adapter) ShortName() string { return "cc" }

// IncludesSubagents implements [discover.Adapter].
func (Adapter) IncludesSubagents(discover.ReadOptions) bool { return true }

// warning makes the error by which this package reports what it could not read: err, unless it is nil or a warning already.
func warning(path string, err error) error {
	return discover.NewWarning(agentName, path, err)
}

// cause returns the error without the path, which a warning has already.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// StoreCommand implements [launch.Adapter]: Claude Code has no such commands (2.1.330).
func (a Adapter) StoreCommand(action launch.StoreAction, _ discover.Session, _ launch.Environment) (launch.Command, error) {
	what := "has no command that archives or restores a session"
	if action == launch.ActionRemove {
		what = "has no command that deletes a session: it deletes what has not changed for cleanupPeriodDays, a setting in its settings.json, 30 by default"
	}
	return launch.Command{}, &launch.UnsupportedError{Agent: a.Name(), What: what}
}

// checkInstalled returns an error that says what to do if npm has not run the package's install script (--ignore-scripts).
// In place of the native binary there is then a text of 500 bytes that no kernel executes (SEEN 2.1.329).
func checkInstalled(program string) error {
	program, err := filepath.EvalSymlinks(program)
	if err != nil {
		return err
	}
	pkg, ok := strings.CutSuffix(program, "/bin/claude.exe")
	if info, err := os.Stat(program); !ok || err != nil || info.Size() > placeholderLimit {
		return err
	}
	return fmt.Errorf("npm has not installed its native binary; run node %s", filepath.Join(pkg, "install.cjs"))
}

// placeholderLimit is more than that text and far less than a program has, in bytes.
const placeholderLimit = 64 << 10

// manifestLimit bounds package.json, in bytes; real ones have about 1,500.
const manifestLimit = 64 << 10

// installedVersion returns the version of an installed program, from the files around it; zero if they do not tell.
//
//   - npm: .../@anthropic-ai/claude-code/{cli.js,cli-wrapper.cjs,bin/claude.exe} with a package.json
//   - the native installer: .../claude/versions/2.1.197
func installedVersion(program string) storage.Version {
	program, err := filepath.EvalSymlinks(program)
	if err != nil {
		return storage.Version{}
	}
	dir := filepath.Dir(program)
	if filepath.Base(dir) == "versions" {
		return storage.ParseVersion(filepath.Base(program))
	}
	for _, dir := range []string{dir, filepath.Dir(dir)} {
		raw, err := storage.ReadFileNoFollow(filepath.Join(dir, "package.json"), manifestLimit)
		if err != nil {
			continue
		}
		var m struct{ Name, Version string }
		if json.Unmarshal(raw, &m) == nil && m.Name == "@anthropic-ai/claude-code" {
			return storage.ParseVersion(m.Version)
		}
	}
	return storage.Version{}
}

const (
	// newestTried is the newest version in docs/support.md.
	newestTried = "2.1.332"
	// oldestSupported is the oldest version whose processes are understood, half a year old. Stored sessions of older ones are read.
	oldestSupported = "2.1.132"
)

// Tried implements [discover.Adapter].
func (Adapter) Tried() discover.Tried {
	return discover.Tried{
		Newest: newestTried, ProgramVersion: func(path string) string { return installedVersion(path).String() },
		UnknownKinds: discover.UnknownLineKinds(knownTypes, typeOf),
	}
}

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
