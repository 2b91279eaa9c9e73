// Package codex reads the sessions of OpenAI's Codex CLI, which calls them threads, and tells which live process
// runs which. docs/agents/codex.md holds the facts it relies on, with the versions they were seen in.
//
// A thread is one append-only "rollout" file of JSON lines. The process that runs it keeps that file open for
// writing and, since 0.147, holds an exclusive flock on a file named after the thread. Both marks are the kernel's
// and vanish with the process, so they are exact evidence; the lock files and databases themselves outlive their
// owners and are none. Codex's SQLite files are an index made from the rollouts, which can be behind, ahead of a
// deletion or wrong for ever after a crash: they are not read.
package codex

import (
	"path/filepath"

	"agentctl/discover"
	"agentctl/discover/native"
	"agentctl/proc"
)

// Adapter is Codex as the rest of the program sees it. It has no state.
type Adapter struct{}

// New returns the adapter for Codex.
func New() Adapter { return Adapter{} }

const agentName discover.Agent = "codex"

// Name is the agent's name in flags and JSON.
func (Adapter) Name() discover.Agent { return agentName }

// ShortID implements [discover.Shortener]: a thread's ID is a UUID that begins with the time (version 7, SEEN 0.42–0.169).
func (Adapter) ShortID(id string) int { return native.ShortUUID(id) }

// IncludesSubAgents implements [discover.Inclusive]: the sub-agents' rollouts have to be read for it, too.
func (Adapter) IncludesSubAgents(want discover.ReadOptions) bool { return inclusive(want) }

func inclusive(want discover.ReadOptions) bool { return want.Tokens || want.Full }

// MatchesID reports whether an id tells when it was made (UUID version 7), as those of threads do.
func (Adapter) MatchesID(id string) bool {
	_, ok := born(id)
	return ok && isUUID(id)
}

// threadKey is set in the environment of every command that a thread's tools run (SEEN 0.104–0.169). A codex process
// that has it was started from inside that thread; it does not run it.
const threadKey = "CODEX_THREAD_ID"

// ReadMarker returns the thread that an environment belongs to, as Codex sets it for its tools.
func (Adapter) ReadMarker(getenv func(string) string) (mark discover.EnvMarker, ok bool) {
	thread := getenv(threadKey)
	if !isUUID(thread) {
		return discover.EnvMarker{}, false
	}
	return discover.EnvMarker{Session: thread, Root: getenv(rootKey)}, true
}

// MarkerKeys are the environment keys that Mark asks for.
func (Adapter) MarkerKeys() []string { return []string{threadKey, rootKey} }

// Runs implements [discover.Marker]. Under the names of its tools the binary is a tool, as the sandbox is.
func (Adapter) Runs(p proc.Process) bool {
	if !isCodex(p) {
		return false
	}
	args, err := p.Args()
	return err != nil || len(args) == 0 || !isMask(args[0])
}

// IsSandbox reports whether a process is the sandbox around one command of a thread's tools: Codex's own binary under
// another name, which has the thread's mark. Since it has a pid namespace of its own, it is the first process that can be
// seen inside (SEEN 0.169; in 0.104 the sandbox hides only what the agent has open).
func (Adapter) IsSandbox(p proc.Process) bool {
	if !isCodex(p) {
		return false
	}
	args, err := p.Args()
	return err == nil && len(args) > 0 && filepath.Base(args[0]) == sandboxName
}

const sandboxName = "codex-linux-sandbox"

// warn makes the one warning that an unreadable thing costs.
func warn(path string, err error) error {
	return &discover.Warning{Agent: agentName, Path: path, Err: native.Cause(path, err)}
}
