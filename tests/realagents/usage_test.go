package realagents

import (
	"encoding/json"
	"testing"

	"agentctl/internal/output"
	"agentctl/tests/model"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// usageOf is what the program says was used, in rows.
func (c agentctl) usageOf(args ...string) (u output.Usage) {
	c.t.Helper()
	out, errs, code := c.run(append([]string{"usage", "--json"}, args...)...)
	if code != 0 || json.Unmarshal([]byte(out), &u) != nil {
		c.t.Fatalf("usage %q: exit code %d\n%s%s", args, code, out, errs)
	}
	return u
}

// limits is what the program says of the providers' limits.
func (c agentctl) limits() (list []output.UsageLimit) {
	c.t.Helper()
	out, errs, code := c.run("usage", "--limits", "--json")
	if code != 0 || json.Unmarshal([]byte(out), &list) != nil {
		c.t.Fatalf("usage --limits: exit code %d\n%s%s", code, out, errs)
	}
	return list
}

// served counts the answers that the model has given with a usage.
func served(w *world.World, api string, counts func(model.Request) bool) (answers int64) {
	for _, q := range w.Model.Requests() {
		if q.API == api && counts(q) {
			answers++
		}
	}
	return answers
}

// addsUp fails the test unless the total is that of so many answers, and each way to group it has the same total.
func (c agentctl) addsUp(answers int64, answer output.Tokens) (total output.UsageRow) {
	c.t.Helper()
	for _, by := range []string{"day", "week", "month", "project", "model", "agent", "session"} {
		u := c.usageOf("--by", by)
		want := output.Tokens{
			In: answers * answer.In, Out: answers * answer.Out, CacheRead: answers * answer.CacheRead, CacheWrite: answers * answer.CacheWrite,
			Reasoning: answers * answer.Reasoning, Total: answers * answer.Total,
		}
		var rows output.Tokens
		for _, r := range u.Rows {
			rows.In, rows.Out, rows.Total = rows.In+r.Tokens.In, rows.Out+r.Tokens.Out, rows.Total+r.Tokens.Total
			rows.CacheRead, rows.CacheWrite, rows.Reasoning = rows.CacheRead+r.Tokens.CacheRead, rows.CacheWrite+r.Tokens.CacheWrite, rows.Reasoning+r.Tokens.Reasoning
		}
		if u.Total.Tokens != want || rows != want {
			c.t.Errorf("by %s: %+v in all, %+v in %d rows; the model served %+v in %d answers", by, u.Total.Tokens, rows, len(u.Rows), want, answers)
		}
		total = u.Total
	}
	return total
}

// TestUsageOfClaudeIsWhatTheModelServed: with calls of tools, a resume with a sub-agent, a summary, titles and a fork.
func TestUsageOfClaudeIsWhatTheModelServed(t *testing.T) {
	w := world.New(t)
	a := w.Claude(install.ClaudeCurrent)
	c := agentctlIn(t, w).as(a)
	claudeRan(t, a, "count [[shell echo hi]]", "--session-id", claudeTrunk)
	claudeRan(t, a, "more [[agent do it [[shell echo sub]]]]", "--resume", claudeTrunk)
	trunk := claudeRan(t, a, "/compact", "--resume", claudeTrunk)
	claudeRan(t, a, "apart", "--resume", claudeTrunk, "--fork-session", "--session-id", claudeFork)
	answers := served(w, "messages", func(model.Request) bool { return true })
	total := c.addsUp(answers, output.Tokens{In: 1000, Out: 50, CacheRead: 11, CacheWrite: 7, Total: 1068})
	if total.Cost == nil || !near(*total.Cost, trunk.Cost) || !total.CostPartial {
		t.Errorf("cost %v, Claude Code says %v of all but the fork", total.Cost, trunk.Cost)
	}
}

// TestUsageOfCodexIsWhatTheModelServed: with calls of tools, a resume, a fork, a sub-agent and a summary of a full context.
func TestUsageOfCodexIsWhatTheModelServed(t *testing.T) {
	w := world.New(t)
	a := w.Codex(install.CodexCurrent)
	c := agentctlIn(t, w).as(a)
	a.Run("the first [[shell echo one;; text done]]").Wait()
	id := codexID(t, w, "the first")
	a.Run("the second", "resume", id, "-").Wait()
	a.Run("", "fork", id, "the fork [[text forked]]").Wait()
	a.Run("above [[agent [[text below]];; text done]]", "--enable", "multi_agent").Wait()
	a.Run("long [[shell echo one;; shell echo two;; text done]]", "-c", "model_auto_compact_token_limit=900").Wait()
	c.addsUp(served(w, "responses", func(model.Request) bool { return true }),
		output.Tokens{In: 400, CacheRead: 600, Out: 50, Reasoning: 10, Total: 1050})
}

// TestUsageOfOpenCodeIsWhatTheModelServed: with a sub-agent, a resume and a fork. OpenCode records no usage of
// titles.
func TestUsageOfOpenCodeIsWhatTheModelServed(t *testing.T) {
	eachOpenCode(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		const prompt = "with help [[agent [[shell true]];; text main]]"
		a.Run(prompt).Wait()
		id := idOf(t, w, a, prompt)
		a.Run("once more", "--session="+id).Wait()
		a.Run("on a copy", "--session="+id, "--fork").Wait()
		answers := served(w, "messages", func(q model.Request) bool { return !q.Side })
		total := c.addsUp(answers, output.Tokens{In: 1000, Out: 50, CacheRead: 11, CacheWrite: 7, Total: answerTokens})
		if total.Cost == nil || !near(*total.Cost, float64(answers)*answerCost) || total.CostPartial {
			t.Errorf("cost %v of %d answers", total.Cost, answers)
		}
	})
}
