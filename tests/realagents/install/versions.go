package install

import (
	"slices"
	"strings"
)

// The pinned versions. Each stands for a generation of storage or of process evidence, so that a change here
// means looking at docs/agents first.
const (
	// ClaudeCurrent is the newest Claude Code: status in the registry of headless runs too.
	ClaudeCurrent = "2.1.332"
	// ClaudeOld is the version that many documented facts were taken from.
	ClaudeOld = "2.1.197"
	// CodexCurrent has writer locks and a daemon behind its TUI.
	CodexCurrent = "0.171.0"
	// CodexOld is the oldest supported one: it has neither, and the older rollout dialect.
	CodexOld = "0.130.0"
	// CopilotCurrent locks the sessions that it has loaded, and records what each answer used.
	CopilotCurrent = "1.0.102"
	// CopilotMiddle locks sessions, and states what was used when it ends.
	CopilotMiddle = "1.0.92"
	// CopilotOld is the oldest supported one: files with its pid name its sessions.
	CopilotOld = "1.0.82"
	// OpenCodeCurrent has a SQLite store and one shared log.
	OpenCodeCurrent = "1.18.33"
	// OpenCodeOld is the oldest supported one: npm's command is a launcher, and each process has a log of its own.
	OpenCodeOld = "1.14.41"
	// PiCurrent writes a session with its first prompt.
	PiCurrent = "1.5.2"
	// PiOld is the oldest supported one: it writes a session with its first answer, and nothing when it is ended.
	PiOld = "0.84.1"
	// nodeVersion runs Pi, which needs a newer one than many systems have.
	nodeVersion = "24.21.0"
)

// The agents, as agentctl names them.
const (
	ClaudeCode = "claude-code"
	Codex      = "codex"
	Copilot    = "copilot"
	OpenCode   = "opencode"
	Pi         = "pi"
)

// Release is one version of one agent.
type Release struct{ Agent, Version string }

// String is the release's folder name too.
func (r Release) String() string { return r.Agent + "-" + r.Version }

// ParseRelease parses what [Release.String] returns.
func ParseRelease(s string) Release {
	at := strings.LastIndexByte(s, '-')
	return Release{s[:max(at, 0)], s[at+1:]}
}

// CodexACP is not Codex's command line: editors run it, and it runs Codex's sessions with Codex's own code (0.137).
func CodexACP() Release { return Release{codexACP, "0.16.0"} }

const codexACP = "codex-acp"

// Newest are the newest release of each agent.
func Newest() (newest []Release) {
	for _, r := range Releases() {
		if !slices.ContainsFunc(newest, func(n Release) bool { return n.Agent == r.Agent }) {
			newest = append(newest, r)
		}
	}
	return newest
}

// Releases are all pinned releases, the current ones first.
func Releases() []Release {
	return []Release{
		{ClaudeCode, ClaudeCurrent},
		{Codex, CodexCurrent},
		{OpenCode, OpenCodeCurrent},
		{ClaudeCode, ClaudeOld},
		{Codex, CodexOld},
		{OpenCode, OpenCodeOld},
		{Pi, PiCurrent},
		{Pi, PiOld},
		{Copilot, CopilotCurrent},
		{Copilot, CopilotMiddle},
		{Copilot, CopilotOld},
	}
}
