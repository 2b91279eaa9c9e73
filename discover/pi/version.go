package pi

import (
	"path/filepath"
	"slices"

	"agentctl/discover"
	"agentctl/discover/storage"
)

const (
	// newestTried is the newest version in docs/support.md.
	newestTried = "1.5.2"
	// oldestSupported is the oldest version that is launched and resumed. Stored sessions of older ones are read.
	oldestSupported = "0.84.1"
)

// Tried implements [discover.Adapter].
func (Adapter) Tried() discover.Tried {
	return discover.Tried{
		Newest: newestTried, ProgramVersion: func(path string) string { return installedVersion(path).String() },
		UnknownKinds: discover.UnknownLineKinds(knownKinds, kindOf),
	}
}

// knownKinds are the types of entries that Pi writes, of messages with their roles (READ 1.5.2).
const knownKinds = " session message/system message/user message/assistant message/toolResult message/bashExecution message/custom" +
	" message/hookMessage message/branchSummary message/compactionSummary model_change thinking_level_change session_info compaction" +
	" context_edit usage branch_summary custom custom_message label "

func kindOf(o storage.Object) string {
	kind := storage.Kind(o.Get("type"))
	if kind == typeMessage {
		kind += "/" + storage.Kind(o.Get("message").Object().Get("role"))
	}
	return kind
}

// installedVersion returns the version of an installed program, from the package that it is in: .../pi-coding-agent/dist/cli.js (0.84),
// .../dist/bundle/cli.js (1.5); zero if that does not tell.
func installedVersion(program string) storage.Version {
	const manifestLimit = 64 << 10
	program, err := filepath.EvalSymlinks(program)
	if err != nil {
		return storage.Version{}
	}
	dir := filepath.Dir(program)
	for range 3 {
		raw, err := storage.ReadFileNoFollow(filepath.Join(dir, "package.json"), manifestLimit)
		names := []string{"@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"}
		if m := storage.Object(raw); err == nil && slices.Contains(names, m.Get("name").Text(0)) {
			return storage.ParseVersion(m.Get("version").Text(0))
		}
		dir = filepath.Dir(dir)
	}
	return storage.Version{}
}
