package realagents

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

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
	for _, u := range slices.Collect(maps.Values(r.ModelUsage)) {
		for i, n := range []int64{u.InputTokens, u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens} {
			sum[i] += n
		}
	}
	return sum
}

// claudeRan runs Claude Code to its end and returns its last word. There is one more for each sub-agent that has outlasted the
// answer.
func claudeRan(t *testing.T, a world.Agent, prompt string, args ...string) (last claudeResult) {
	t.Helper()
	return lastResult(t, a.Run(prompt, args...))
}

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

// writtenTooSoon reports whether Claude Code wrote an answer before it knew how that ends and what it used, and never again: its
// output is counted in no file then (SEEN 2.1.197: an answer of a workflow's sub-agent, in one of a hundred runs on a busy
// machine).
func writtenTooSoon(t *testing.T, home string) bool {
	t.Helper()
	ended := map[string]bool{} // by the answer
	err := filepath.WalkDir(filepath.Join(home, ".claude", "projects"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" {
			return err
		}
		content, err := os.ReadFile(path)
		for line := range bytes.Lines(content) {
			var record struct {
				Message struct {
					ID         string  `json:"id"`
					StopReason *string `json:"stop_reason"`
				} `json:"message"`
			}
			if json.Unmarshal(line, &record) == nil && record.Message.ID != "" {
				ended[record.Message.ID] = ended[record.Message.ID] || record.Message.StopReason != nil
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Contains(slices.Collect(maps.Values(ended)), false)
}

const (
	claudeTrunk = "11111111-0000-4000-8000-000000000000"
	claudeFork  = "22222222-0000-4000-8000-000000000000"
)

// TestClaudeTokens: tokens and cost are Claude Code's own figures, with sub-agents and summaries; what a fork was made of
// is not counted again.
func TestClaudeTokens(t *testing.T) {
	w := world.New(t)
	a := w.Claude(install.ClaudeCurrent)
	c := agentctlIn(t, w).as(a)
	agrees := func(what string, r claudeResult) {
		t.Helper()
		s := c.status(claudeTrunk)
		if got := claudeTokensOf(t, s); got != r.session() || s.Cost == nil || math.Abs(*s.Cost-r.Cost) > 1e-9 {
			t.Errorf("%s: %v and cost %v, Claude Code says %v and %v", what, got, s.Cost, r.session(), r.Cost)
		}
	}
	agrees("calls of tools", claudeRan(t, a, "count [[shell echo hi]]", "--session-id", claudeTrunk))
	agrees("resumed, with a sub-agent", claudeRan(t, a, "more [[agent do it [[shell echo sub]]]]", "--resume", claudeTrunk))
	trunk := claudeRan(t, a, "/compact", "--resume", claudeTrunk)
	agrees("summarised", trunk)

	fork := claudeRan(t, a, "apart", "--resume", claudeTrunk, "--fork-session", "--session-id", claudeFork)
	s := c.status(claudeFork)
	if got := claudeTokensOf(t, s); got != fork.usage() || s.Cost != nil {
		t.Errorf("of the fork: %v and cost %v, Claude Code says %v", got, s.Cost, fork.usage())
	}
	agrees("forked", trunk)
}

// TestClaudeLimit: a limit that is reached is told of, and when it ends where Claude Code has recorded it.
func TestClaudeLimit(t *testing.T) {
	w := world.New(t)
	for version, want := range map[string]string{install.ClaudeCurrent: "five_hour", install.ClaudeMain: ""} {
		a := w.Claude(version).With("ANTHROPIC_API_KEY=", "CLAUDE_CODE_OAUTH_TOKEN=no-real-token") // as with a subscription
		p := a.Run("too much for " + version + " [[error 429]]")
		began := time.Now()
		p.Wait()
		q := agentctlIn(t, w).as(a).status(claudeID(t, w, "too much for "+version)).Quotas
		if len(q) != 1 || !q[0].Reached || q[0].Name != want || !strings.HasPrefix(q[0].Text, "You've hit your ") {
			t.Fatalf("%s: quotas %+v", version, q)
		}
		if ends, err := time.Parse(time.RFC3339, q[0].ResetsAt); want != "" && (err != nil || ends.Sub(began).Round(time.Hour) != time.Hour) || want == "" && q[0].ResetsAt != "" {
			t.Errorf("%s: the limit ends at %q", version, q[0].ResetsAt)
		}
		until := map[bool]int{true: 124, false: 7}[want != ""] // without a time in the transcript, nobody knows
		if _, errs, code := agentctlIn(t, w).as(a).run("wait", "--until", "reset", "--timeout", "1ms", claudeID(t, w, "too much for "+version)); code != until {
			t.Errorf("%s: wait --until reset: exit code %d, want %d\n%s", version, code, until, errs)
		}
	}
}

// TestClaudeTokensOfOlderReleases: those state nothing in their storage; the answers there add up to what they say of
// their runs.
func TestClaudeTokensOfOlderReleases(t *testing.T) {
	w := world.New(t)
	a := w.Claude(install.ClaudeMain)
	c := agentctlIn(t, w).as(a)
	trunk := claudeRan(t, a, "count [[shell echo hi]]", "--session-id", claudeTrunk)
	fork := claudeRan(t, a, "apart", "--resume", claudeTrunk, "--fork-session", "--session-id", claudeFork)
	for id, r := range map[string]claudeResult{claudeTrunk: trunk, claudeFork: fork} {
		if got := claudeTokensOf(t, c.status(id)); got != r.usage() {
			t.Errorf("of %s: %v, Claude Code says %v", id, got, r.usage())
		}
	}
}
