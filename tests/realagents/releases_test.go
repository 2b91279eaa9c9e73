package realagents

import (
	"slices"
	"testing"

	"agentctl/tests/extent"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// tested are the releases of an agent, or of all agents for "", that a test runs on: the current ones, and the older ones too if all
// is asked for.
func tested(agent string) []install.Release {
	list := install.Newest()
	if extent.All() {
		list = install.Releases()
	}
	return slices.DeleteFunc(list, func(r install.Release) bool { return agent != "" && r.Agent != agent })
}

// eachRelease runs a test on each tested release, in a world of its own.
func eachRelease(t *testing.T, test func(*testing.T, *world.World, world.Agent)) {
	each(t, tested(""), test)
}

// each runs a test on each of some releases, in a world of its own.
func each(t *testing.T, releases []install.Release, test func(*testing.T, *world.World, world.Agent)) {
	for _, r := range releases {
		t.Run(r.String(), func(t *testing.T) {
			w := world.New(t)
			test(t, w, w.Release(r))
		})
	}
}

// eachClaude runs a test on the tested releases of Claude Code.
func eachClaude(t *testing.T, test func(*testing.T, *world.World, world.Agent, agentctl)) {
	each(t, tested(install.ClaudeCode), func(t *testing.T, w *world.World, a world.Agent) {
		test(t, w, a, agentctlIn(t, w).as(a))
	})
}

// eachCodex runs a test on the tested releases of Codex.
func eachCodex(t *testing.T, test func(*testing.T, *world.World, world.Agent, agentctl)) {
	each(t, tested(install.Codex), func(t *testing.T, w *world.World, a world.Agent) {
		test(t, w, a, agentctlIn(t, w).as(a))
	})
}

// eachOpenCode runs a test on the tested releases of OpenCode.
func eachOpenCode(t *testing.T, test func(*testing.T, *world.World, world.Agent, agentctl)) {
	each(t, tested(install.OpenCode), func(t *testing.T, w *world.World, a world.Agent) {
		test(t, w, a, agentctlIn(t, w).as(a))
	})
}
