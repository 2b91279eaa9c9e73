package agents

import (
	"slices"
	"testing"

	"agentctl/discover"
	"agentctl/launch"
)

// TestOptionalInterfaces: each adapter implements the optional interfaces that its agent needs. A method whose name is changed in one place
// only would compile, and leave the interface unimplemented.
func TestOptionalInterfaces(t *testing.T) {
	all := []discover.Agent{"claude-code", "codex", "opencode"}
	for name, c := range map[string]struct{ got, want []discover.Agent }{
		"MessageReader":   {agentsWith[discover.MessageReader](), all},
		"PathWatcher":     {agentsWith[discover.PathWatcher](), all},
		"ProgramNamer":    {agentsWith[discover.ProgramNamer](), all},
		"MarkerReader":    {agentsWith[discover.MarkerReader](), all},
		"MarkerMatcher":   {agentsWith[discover.MarkerMatcher](), all},
		"SubagentTotals":  {agentsWith[discover.SubagentTotals](), all},
		"FormatChecker":   {agentsWith[discover.FormatChecker](), all},
		"ContentFilter":   {agentsWith[discover.ContentFilter](), all},
		"IDMatcher":       {agentsWith[discover.IDMatcher](), all},
		"IDShortener":     {agentsWith[discover.IDShortener](), all},
		"HomeResolver":    {agentsWith[discover.HomeResolver](), all[:2]},
		"Sandboxer":       {agentsWith[discover.Sandboxer](), all[1:2]},
		"SandboxDetector": {agentsWith[discover.SandboxDetector](), all[:1]},
		"ShortNamer":      {agentsWith[discover.ShortNamer](), all[:1]},
		"FileStore":       {agentsWith[discover.FileStore](), all[2:]},
		"launch.Adapter":  {agentsWith[launch.Adapter](), all},
		"launch.Stopper":  {agentsWith[launch.Stopper](), all},
		"launch.Hinter":   {agentsWith[launch.Hinter](), all[1:2]},
		"ModelFamilies":   {agentsWith[launch.ModelFamilies](), []discover.Agent{"claude-code", "opencode"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: implemented for %v, want %v", name, c.got, c.want)
		}
	}
}

// agentsWith returns the agents whose adapters implement T.
func agentsWith[T any]() (agents []discover.Agent) {
	for agent := range discover.AdaptersWith[T](All()) {
		agents = append(agents, agent)
	}
	return agents
}
