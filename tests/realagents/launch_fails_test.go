package realagents

import (
	"encoding/json"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestAFailedLaunchPrintsWhatIsTrue when it returns: the session has stopped, and no process runs it.
func TestAFailedLaunchPrintsWhatIsTrue(t *testing.T) {
	for _, f := range []struct {
		agent, env string
		args       []string
	}{
		{install.ClaudeCode, "ANTHROPIC_API_KEY=", nil},
		{install.OpenCode, "", []string{"--model", "anthropic/no-such-model"}},
		{install.Codex, "", []string{"--model", "no-such-model"}},
	} {
		t.Run(f.agent, func(t *testing.T) {
			w := world.New(t)
			a := w.Release(releaseOf(f.agent))
			c := agentctlIn(t, w).as(a)
			prompt := "fails"
			if f.agent == install.OpenCode { // its first start makes the store
				a.Run("a first start").Wait()
			}
			if f.agent == install.Codex { // which asks the model for any name
				prompt = "fails [[error 400]]"
			}
			c.env = append(c.env, f.env)
			out, errs, code := c.run(append([]string{"launch", f.agent, "--json", "-p", prompt}, f.args...)...)
			if code != 1 {
				t.Fatalf("exit code %d\n%s%s", code, out, errs)
			}
			if out == "" {
				return // it ended before it had a session
			}
			var s session
			if err := json.Unmarshal([]byte(out), &s); err != nil || s.Status != "stopped" || s.PID != 0 || strings.Contains(out, `"pid"`) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// releaseOf is the newest of an agent.
func releaseOf(agent string) install.Release {
	for _, r := range currentReleases() {
		if r.Agent == agent {
			return r
		}
	}
	return install.Release{}
}
