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
	return options.Tokens || options.Full
}

// MatchesID implements [discover.Adapter]. A thread's ID is a UUID of version 7.
func (Adapter) MatchesID(id string) bool {
	_, ok := threadCreated(id)
	return ok && isThreadID(id)
}

func warn(path string, err error) error { return discover.NewWarning(agentName, path, err) }

// oldestSupported is the oldest version whose processes agentctl looks into, launches and resumes. It reads what older ones have stored.
const oldestSupported = "0.130"

// binaryVersion is the version of a binary by the place where it is installed, "" where the place does not tell. The daemon's copy is
// in releases/<version>-<platform>/bin (SEEN 0.169). npm's is in <package>/vendor/<platform>/…, below the directory of the package's
// description (SEEN 0.104, 0.169).
func binaryVersion(exe string) string {
	for dir := filepath.Dir(exe); len(dir) > 1; dir = filepath.Dir(dir) {
		switch parent := filepath.Dir(dir); filepath.Base(parent) {
		case "releases":
			return versionNumber(filepath.Base(dir))
		case "vendor":
			raw, err := storage.ReadFileNoFollow(filepath.Join(filepath.Dir(parent), "package.json"), 64<<10)
			if err != nil {
				return ""
			}
			return versionNumber(storage.Object(raw).Get("version").Text(0))
		}
	}
	return ""
}

// versionNumber is the version without the platform: "0.169.0" of "0.169.0-linux-x64".
func versionNumber(s string) string {
	for _, platform := range []string{"-linux", "-darwin", "-win32", "-x86_64", "-aarch64"} {
		s, _, _ = strings.Cut(s, platform)
	}
	return s
}

// Program implements [discover.Adapter].
func (Adapter) Program() string { return "codex" }

// newestTried is the newest version in docs/support.md.
const newestTried = "0.171.0"

// Tried implements [discover.Adapter]. A rollout that is being written is not compressed.
func (Adapter) Tried() discover.Tried {
	return discover.Tried{
		Newest: newestTried, ProgramVersion: binaryVersion, UnknownKinds: discover.UnknownLineKinds(knownKinds, kindName),
	}
}
