package realagents

import (
	"encoding/json"
	"net/url"
	"syscall"
	"testing"

	"agentctl/internal/output"
	"agentctl/tests/model"
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
