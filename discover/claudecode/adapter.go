// Package claudecode is the adapter of Claude Code: it finds the agent's processes and its stored sessions, says which
// process runs which session, and launches, resumes and stops sessions.
//
// The facts that it relies on, with the versions they were seen in, are in docs/agents/claude-code.md. A session is a
// transcript projects/<slug>/<id>.jsonl below the config folder (~/.claude). Since 2.1.75 each process describes itself in
// sessions/<pid>.json, a registry entry, which counts only if that process is Claude Code and started when the entry says.
package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
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

// StoreCommand implements [launch.Adapter]: Claude Code has no such commands (2.1.330).
func (Adapter) StoreCommand(action launch.StoreAction, _ discover.Session, _ launch.Environment) (launch.Command, error) {
	what := "has no command that archives or restores a session"
	if action == launch.ActionRemove {
		what = "has no command that deletes a session: it deletes what has not changed for cleanupPeriodDays, a setting in its settings.json, 30 by default"
	}
	return launch.Command{}, unsupported("%s", what)
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

// installedVersion returns the version of an installed program, from the files around it; zero if they do not tell.
//
//   - npm: .../@anthropic-ai/claude-code/{cli.js,cli-wrapper.cjs,bin/claude.exe} with a package.json
//   - the native installer: .../claude/versions/2.1.197
func installedVersion(program string) storage.Version {
	if real := discover.RealPath(program); filepath.Base(filepath.Dir(real)) == "versions" {
		return storage.ParseVersion(filepath.Base(real))
	}
	_, version := storage.NPMPackage(program, 2, func(name string) bool { return name == "@anthropic-ai/claude-code" })
	return version
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
