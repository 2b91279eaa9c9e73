package realagents

import (
	"encoding/json"
	"maps"
	"math"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"agentctl/internal/object"
	"agentctl/tests/model"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// served counts the answers that the model has given with a usage.
func served(w *world.World, counts func(model.Request) bool) (answers int64) {
	for _, q := range w.Model.Requests() {
		if (q.API == "messages" || q.API == "responses") && counts(q) {
			answers++
		}
	}
	return answers
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// What an answer of the model takes, and what OpenCode reckons for it.
const (
	answerTokens = 1000 + 7 + 11 + 50
	answerCost   = (1000*3 + 7*3.75 + 11*0.3 + 50*15) / 1e6
)

// Usage is what the model served, however it is grouped, with a sub-agent, a summary, a resume and a fork. OpenCode records no usage of titles,
// for which it asks another model.
func TestUsageOfOpenCodeIsWhatTheModelServed(t *testing.T) {
	w, a, c := newest(t, install.OpenCode)
	const prompt = "with help [[agent [[shell true]];; text main]]"
	a.Run(prompt).Wait()
	id := openCodeID(t, w, prompt)
	server := a.Serve() // what /compact does
	post(t, serverURL(t, server)+"/session/"+id+"/summarize?directory="+url.QueryEscape(a.Dir()), `{"providerID":"anthropic","modelID":"claude-sonnet-4-5"}`)
	server.Signal(syscall.SIGTERM)
	server.Wait()
	a.Run("once more", "--session="+id).Wait()
	a.Run("on a copy", "--session="+id, "--fork").Wait()
	n := served(w, func(q model.Request) bool { return q.Model == "claude-sonnet-4-5" })
	if summaries := served(w, func(q model.Request) bool { return q.Model == "claude-sonnet-4-5" && q.Side }); summaries != 1 {
		t.Errorf("%d summaries", summaries)
	}
	want := object.Tokens{In: 1000 * n, Out: 50 * n, CacheRead: 11 * n, CacheWrite: 7 * n, Total: answerTokens * n}
	for _, by := range []string{"day", "project", "model", "agent", "session"} {
		var u object.Usage
		c.answer(&u, "usage", "--by", by)
		var rows int64
		for _, r := range u.Rows {
			rows += r.Tokens.Total
		}
		if u.Total.Tokens != want || rows != want.Total || u.Total.Cost == nil || !near(*u.Total.Cost, float64(n)*answerCost) || u.Total.CostPartial {
			t.Errorf("by %s: %+v in all, %d in rows; the model served %+v in %d answers", by, u.Total, rows, want, n)
		}
	}
	var sum int64
	for _, s := range c.list("-a", "--tokens") {
		if sum += s.Tokens.Total; s.Tokens.Context != answerTokens {
			t.Errorf("%s: the context is %d", *s.ID, s.Tokens.Context)
		}
	}
	if sum != want.Total {
		t.Errorf("the sessions have %d tokens, the model served %d", sum, want.Total)
	}
}

// claudeResult is what Claude Code says of a headless run when it ends.
type claudeResult struct {
	Type  string
	Usage struct { // of this run
		In         int64 `json:"input_tokens"`
		Out        int64 `json:"output_tokens"`
		CacheRead  int64 `json:"cache_read_input_tokens"`
		CacheWrite int64 `json:"cache_creation_input_tokens"`
	}
	Cost       float64                     `json:"total_cost_usd"`
	ModelUsage map[string]claudeModelUsage // by model; of a session since 2.1.280, of the run before
}

type claudeModelUsage struct{ InputTokens, OutputTokens, CacheReadInputTokens, CacheCreationInputTokens int64 }

// claudeFigures are in, out, read from the cache and written to it.
type claudeFigures [4]int64

func (r claudeResult) usage() claudeFigures {
	return claudeFigures{r.Usage.In, r.Usage.Out, r.Usage.CacheRead, r.Usage.CacheWrite}
}

func (r claudeResult) session() (sum claudeFigures) {
	for u := range maps.Values(r.ModelUsage) {
		for i, n := range []int64{u.InputTokens, u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens} {
			sum[i] += n
		}
	}
	return sum
}

// lastResult waits for the end of a run and returns its last word. There is one more for each sub-agent that has outlasted the answer.
func lastResult(t *testing.T, p *world.Process) (last claudeResult) {
	t.Helper()
	p.Wait()
	for line := range strings.Lines(p.Stdout()) {
		var r claudeResult
		if err := json.Unmarshal([]byte(line), &r); err == nil && r.Type == "result" {
			last = r
		}
	}
	if last.Type == "" {
		t.Fatalf("no result in\n%s", p.Stdout())
	}
	return last
}

func claudeTokensOf(t *testing.T, s session) claudeFigures {
	t.Helper()
	if s.Tokens == nil {
		t.Fatalf("no tokens of %s", *s.ID)
	}
	return claudeFigures{s.Tokens.In, s.Tokens.Out, s.Tokens.CacheRead, s.Tokens.CacheWrite}
}

// Tokens and cost are Claude Code's own figures, with sub-agents and summaries; what a fork was made of is not counted again.
func TestClaudeTokens(t *testing.T) {
	const trunkID, forkID = "11111111-0000-4000-8000-000000000000", "22222222-0000-4000-8000-000000000000"
	_, a, c := newest(t, install.ClaudeCode)
	agrees := func(what string, r claudeResult) {
		t.Helper()
		s := c.status(trunkID)
		if got := claudeTokensOf(t, s); got != r.session() || s.Cost == nil || !near(*s.Cost, r.Cost) {
			t.Errorf("%s: %v and cost %v, Claude Code says %v and %v", what, got, s.Cost, r.session(), r.Cost)
		}
	}
	ran := func(prompt string, args ...string) claudeResult { return lastResult(t, a.Run(prompt, args...)) }
	agrees("calls of tools", ran("count [[shell echo hi]]", "--session-id", trunkID))
	agrees("resumed, with a sub-agent", ran("more [[agent do it [[shell echo sub]]]]", "--resume", trunkID))
	trunk := ran("/compact", "--resume", trunkID)
	agrees("summarised", trunk)
	fork := ran("apart", "--resume", trunkID, "--fork-session", "--session-id", forkID)
	s := c.status(forkID)
	if got := claudeTokensOf(t, s); got != fork.usage() || s.Cost != nil {
		t.Errorf("of the fork: %v and cost %v, Claude Code says %v", got, s.Cost, fork.usage())
	}
	agrees("forked", trunk)
}

// printedUsage is what a run of codex exec says at its end that its thread has used.
func printedUsage(t *testing.T, p *world.Process) (used object.Tokens) {
	t.Helper()
	p.Wait()
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

// A session's tokens are what Codex itself says, forks are not counted twice, and what a killed turn had used counts.
func TestCodexTokens(t *testing.T) {
	w, a, c := newest(t, install.Codex)
	uses := func(id string) object.Tokens {
		t.Helper()
		if s := c.status(id); s.Tokens != nil {
			return *s.Tokens
		}
		return object.Tokens{}
	}
	want := printedUsage(t, a.Run("the first [[shell echo one;; text done]]"))
	id := codexID(t, w, "the first")
	got := uses(id)
	if got.In != want.In || got.Out != want.Out || got.CacheRead != want.CacheRead || got.Total != want.In+want.Out {
		t.Errorf("tokens %+v, the agent says %+v", got, want)
	}
	if got.Context <= 0 || got.Context >= got.Total || got.Window < 100_000 {
		t.Errorf("context %d of %d after two answers with %d tokens", got.Context, got.Window, got.Total)
	}
	all := printedUsage(t, a.Run("", "fork", id, "the fork [[text forked]]"))
	if own, sum := uses(codexID(t, w, "the fork")), uses(id); own.In+sum.In != all.In || own.Out+sum.Out != all.Out {
		t.Errorf("the fork has used %+v, its parent %+v; the agent says %+v of both", own, sum, all)
	}
	killed := a.Run("the second [[shell sleep 300]]", "resume", id, "-")
	if !poll(func() bool { return uses(id).In > got.In }) {
		t.Fatalf("the second turn has used nothing: %+v", uses(id))
	}
	killed.Kill()
	got = uses(id)
	a.Run("the third [[text done]]", "resume", id, "-").Wait()
	if now := uses(id); now.In != got.In+want.In/2 || now.Out != got.Out+want.Out/2 {
		t.Errorf("%+v, before the last answer %+v", now, got)
	}
}
