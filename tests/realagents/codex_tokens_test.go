package realagents

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"agentctl/internal/output"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// printedUsage is what a run of codex exec says at its end that its thread has used.
func printedUsage(t *testing.T, p *world.Process) (used output.Tokens) {
	t.Helper()
	for line := range strings.Lines(p.Stdout()) {
		var event struct {
			Type  string
			Usage struct {
				In     int64 `json:"input_tokens"`
				Cached int64 `json:"cached_input_tokens"`
				Out    int64 `json:"output_tokens"`
			}
		}
		if json.Unmarshal([]byte(line), &event) == nil && event.Type == "turn.completed" {
			used.In, used.CacheRead, used.Out = event.Usage.In, event.Usage.Cached, event.Usage.Out
		}
	}
	if used.Out == 0 {
		t.Fatalf("no usage is printed:\n%s\n%s", p.Stdout(), p.Stderr())
	}
	return used
}

// uses are the tokens of a session, as the program tells them.
func (c agentctl) uses(id string) output.Tokens {
	c.t.Helper()
	s := c.status(id)
	if s.Tokens == nil {
		return output.Tokens{}
	}
	return *s.Tokens
}

// TestCodexTokens: a session's tokens are what the agent itself says, forks are not counted twice, and what a killed turn
// had used counts.
func TestCodexTokens(t *testing.T) {
	eachCodex(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		first := a.Run("the first [[shell echo one;; text done]]")
		first.Wait()
		id := codexID(t, w, "the first")
		got, want := c.uses(id), printedUsage(t, first)
		if got.In != want.In || got.Out != want.Out || got.CacheRead != want.CacheRead || got.Total != want.In+want.Out {
			t.Errorf("tokens %+v, the agent says %+v", got, want)
		}
		if answer := want.Total; got.Context <= answer || got.Context >= got.Total || got.Window < 100_000 {
			t.Errorf("context %d of %d after two answers with %d tokens", got.Context, got.Window, got.Total)
		}
		if a.Version == install.CodexCurrent {
			fork := a.Run("", "fork", id, "the fork [[text forked]]")
			fork.Wait()
			own, all := c.uses(codexID(t, w, "the fork")), printedUsage(t, fork)
			if sum := c.uses(id); own.In+sum.In != all.In || own.Out+sum.Out != all.Out {
				t.Errorf("the fork has used %+v, its parent %+v; the agent says %+v of both", own, sum, all)
			}
		}
		killed := a.Run("the second [[shell sleep 300]]", "resume", id, "-")
		if !poll(func() bool { return c.uses(id).In > got.In }) {
			t.Fatalf("the second turn has used nothing: %+v", c.uses(id))
		}
		killed.Kill()
		got = c.uses(id)
		third := a.Run("the third [[text done]]", "resume", id, "-")
		third.Wait()
		if now := c.uses(id); now.In != got.In+want.In/2 || now.Out != got.Out+want.Out/2 {
			t.Errorf("%+v, before the last answer %+v", now, got)
		}
	})
}

// TestCodexTokensOfSubAgents: "per-session totals …: sub-agents included", as the model gave them to both, by status and by
// list --tokens; without it the session's own; and all of them once in metrics, whatever was asked.
func TestCodexTokensOfSubAgents(t *testing.T) {
	w := world.New(t)
	a := w.Codex(install.CodexCurrent)
	c := agentctlIn(t, w).as(a)
	p := a.Run("above [[agent [[text below]];; hang @go;; text done]]", "--enable", "multi_agent")
	rows := func(args ...string) (boss, kid output.Tokens, id string) {
		for _, s := range c.list(append([]string{"-a", "--children"}, args...)...) {
			switch used := s.Tokens; {
			case used == nil:
			case s.ParentID != "":
				kid = *used
			default:
				boss, id = *used, *s.ID
			}
		}
		return boss, kid, id
	}
	if !poll(func() bool { _, kid, _ := rows("--tokens"); return kid.In > 0 }) {
		t.Fatal("the sub-agent has used nothing")
	}
	w.Model.Release("go")
	p.Wait()
	var answers int64
	for _, q := range w.Model.Requests() {
		if q.API == "responses" && !q.Side {
			answers++
		}
	}
	boss, kid, id := rows("--tokens")
	if own, _, _ := rows(); boss.In != 1000*answers || boss.Total != 1050*answers || own.In+kid.In != boss.In || kid.In == 0 {
		t.Errorf("tokens %+v, its own %+v, its sub-agent's %+v, of %d answers", boss, own, kid, answers)
	}
	if got := c.uses(id); got != boss {
		t.Errorf("status: %+v, list: %+v", got, boss)
	}
	for _, flags := range [][]string{{"metrics"}, {"metrics", "--tokens"}} {
		want := fmt.Sprintf("agentctl_tokens{adapter=\"codex\",kind=\"in\"} %d\n", boss.In)
		if out, errs, _ := c.run(flags...); !strings.Contains(out, want) {
			t.Errorf("%q: %s%s, want %s", flags, out, errs, want)
		}
	}
}

// TestCodexQuotas: how much of what is allowed is used, until when, and that it was refused for it.
func TestCodexQuotas(t *testing.T) {
	eachCodex(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		a.Run("well within").Wait()
		a.Run("too much [[error 429 usage_limit_reached]]").Wait()
		for prompt, used := range map[string]float64{"well within": 12.5, "too much": 100} {
			s := c.status(codexID(t, w, prompt))
			if len(s.Quotas) != 1 {
				t.Fatalf("%s: quotas %+v", prompt, s.Quotas)
			}
			q := s.Quotas[0]
			told := used == 100 && a.Version == install.CodexCurrent // older versions do not record why a turn fails
			if q.Used == nil || *q.Used != used || q.Reached != told || told != strings.Contains(q.Text, "usage limit") {
				t.Errorf("%s: quota %+v", prompt, q)
			}
			if reset, err := time.Parse(time.RFC3339, q.ResetsAt); err != nil || time.Until(reset) > time.Hour || time.Until(reset) < 30*time.Minute {
				t.Errorf("%s: it begins anew at %q: %v", prompt, q.ResetsAt, err)
			}
		}
		limits := c.limits()
		if len(limits) == 0 || limits[0].Name != "primary" || limits[0].Used == nil || *limits[0].Used != 100 || limits[0].SessionID != codexID(t, w, "too much") {
			t.Errorf("the newest words on the limits are %+v", limits)
		}
		if _, errs, code := c.run("wait", "--until", "reset", "--timeout", "1ms", codexID(t, w, "too much")); code != 124 || !strings.Contains(errs, "not reset in time") {
			t.Errorf("wait --until reset: exit code %d\n%s", code, errs)
		}
		if _, errs, code := c.run("wait", "--until", "reset", "--timeout", "1ms", codexID(t, w, "well within")); code != 0 {
			t.Errorf("wait --until reset, with no limit reached: exit code %d\n%s", code, errs)
		}
	})
}
