package realagents

import (
	"encoding/json"
	"net/url"
	"slices"
	"syscall"
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
	answer := output.Tokens{In: 1000, Out: 50, CacheRead: 11, CacheWrite: 7, Total: 1068}
	total := c.addsUp(answers, answer)
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
	above := a.Run("above [[agent [[text below]];; hang @recorded;; text done]]", "--enable", "multi_agent")
	// The end of a run can discard what its sub-agent has not recorded yet.
	if !poll(func() bool {
		return slices.ContainsFunc(c.list("-a", "--children", "--tokens"), func(s output.Session) bool { return s.ParentID != "" && s.Tokens != nil && s.Tokens.In > 0 })
	}) {
		t.Fatal("the sub-agent has used nothing")
	}
	w.Model.Release("recorded")
	above.Wait()
	a.Run("long [[shell echo one;; shell echo two;; text done]]", "-c", "model_auto_compact_token_limit=900").Wait()
	answers := served(w, "responses", func(model.Request) bool { return true })
	answer := output.Tokens{In: 400, CacheRead: 600, Out: 50, Reasoning: 10, Total: 1050}
	c.addsUp(answers, answer)
}

// TestUsageOfOpenCodeIsWhatTheModelServed: with a sub-agent, a summary, a resume and a fork. OpenCode records no usage of titles,
// for which it asks another model.
func TestUsageOfOpenCodeIsWhatTheModelServed(t *testing.T) {
	eachOpenCode(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		const prompt = "with help [[agent [[shell true]];; text main]]"
		a.Run(prompt).Wait()
		id := idOf(t, w, a, prompt)
		summarise(t, a, id)
		a.Run("once more", "--session="+id).Wait()
		a.Run("on a copy", "--session="+id, "--fork").Wait()
		answers := served(w, "messages", func(q model.Request) bool { return q.Model == "claude-sonnet-4-5" })
		if summaries := served(w, "messages", func(q model.Request) bool { return q.Model == "claude-sonnet-4-5" && q.Side }); summaries != 1 {
			t.Errorf("%d summaries", summaries)
		}
		answer := output.Tokens{In: 1000, Out: 50, CacheRead: 11, CacheWrite: 7, Total: answerTokens}
		total := c.addsUp(answers, answer)
		if total.Cost == nil || !near(*total.Cost, float64(answers)*answerCost) || total.CostPartial {
			t.Errorf("cost %v of %d answers", total.Cost, answers)
		}
		c.sessionsAddUp(a, id, answers)
	})
}

// summarise does what /compact does in OpenCode's terminal.
func summarise(t *testing.T, a world.Agent, id string) {
	t.Helper()
	server := a.Serve()
	post(t, serverURL(t, server)+"/session/"+id+"/summarize?directory="+url.QueryEscape(a.Dir()), `{"providerID":"anthropic","modelID":"claude-sonnet-4-5"}`)
	server.Signal(syscall.SIGTERM)
	server.Wait()
}
