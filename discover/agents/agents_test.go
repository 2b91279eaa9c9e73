package agents

import (
	"testing"

	"agentctl/discover"
)

// Changes of every agent's sessions are noticed soon: not to know what to watch for is no error, but late.
func TestEveryAgentIsWatched(t *testing.T) {
	for _, a := range All() {
		if files := a.WatchPaths(t.Context(), discover.Session{Record: &discover.Record{Agent: a.Name(), Home: "/h"}}); len(files) == 0 {
			t.Errorf("%s: nothing tells that a process without a session begins one", a.Name())
		}
		if a.Program() == "" || !a.MatchesBinary("/usr/bin/"+a.Program()) || a.MatchesBinary("/usr/bin/sh") {
			t.Errorf("%s does not know its own program", a.Name())
		}
	}
}

// A process that begins is looked at under every name that an agent is installed by: npm's, that of a release's archive, Nix's behind a
// script, a wrapper's.
func TestEveryAgentKnowsItsPrograms(t *testing.T) {
	programs := map[string]discover.Agent{
		"/opt/x/bin/claude.exe":                            "claude-code",
		"/home/u/.local/share/claude/versions/2.1.330":     "claude-code",
		"/nix/store/0a-claude-code/bin/.claude-wrapped":    "claude-code",
		"/nix/store/0a-claude-code/bin/.claude-wrapped_":   "claude-code",
		"/opt/x/codex-aarch64-apple-darwin":                "codex",
		"/nix/store/0a-codex/bin/.codex-wrapped":           "codex",
		"/opt/x/@github/copilot-linux-x64/copilot":         "copilot",
		"/nix/store/0a-copilot/bin/.copilot-wrapped":       "copilot",
		"/opt/x/bin/opencode2":                             "opencode",
		"/opt/x/bin/opencode.exe":                          "opencode",
		"/Applications/OpenCode.app/Contents/opencode-cli": "opencode",
		"/nix/store/0a-opencode/bin/.opencode-wrapped":     "opencode",
		"/home/u/bin/claude-raw":                           "claude-code",
		"/home/u/bin/codex-acp":                            "codex",
		"/Applications/Claude.app/Contents/MacOS/Claude":   "",
		"/Applications/OpenCode.app/Contents/OpenCode":     "",
		"/nix/store/0a-vim/bin/.vim-wrapped":               "",
	}
	for path, want := range programs {
		for _, a := range All() {
			if got := a.MatchesBinary(path); got != (a.Name() == want) {
				t.Errorf("%s: %s says %t", path, a.Name(), got)
			}
		}
	}
}
