package codex

import (
	"path/filepath"
	"testing"

	"agentctl/discover"
)

// The single answers of each thread add up to its own tokens, in all stores: forks, edited prompts, both dialects.
func TestAnswersAddUpToTokens(t *testing.T) {
	stores, err := filepath.Glob("testdata/*/sessions")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, store := range stores {
		home := filepath.Dir(store)
		entries, _ := New().Entries(t.Context(), []discover.Home{{Dir: home}}, discover.EntryFilter{Subagents: true})
		for u, err := range New().ReadUsage(t.Context(), entries) {
			if err != nil {
				continue
			}
			var sum discover.Tokens
			for _, a := range u.Usage {
				sum = addTokens(sum, a.Tokens)
				if a.Time.IsZero() || a.Model == "" || a.CostKnown {
					t.Errorf("%s: %+v", u.Path, a)
				}
			}
			want := *u.Tokens
			if compared++; sum.In+sum.CacheRead+sum.CacheWrite != want.In || sum.Out != want.Out || sum.Reasoning != want.Reasoning || sum.Total != want.In+want.Out {
				t.Errorf("%s: the answers have %+v, the thread %+v", u.Path, sum, want)
			}
		}
	}
	if compared < 20 {
		t.Errorf("%d threads were compared", compared)
	}
}

// What only the total of a thread has was used by no known model, at no known time of the thread.
func TestTokensOfTheTotalOnly(t *testing.T) {
	entries, _ := New().Entries(t.Context(), []discover.Home{{Dir: "testdata/03-exec-tool-call"}}, discover.EntryFilter{})
	var thread storedThread
	if ok, err := thread.read(t.Context(), entries[0], discover.ReadOptions{Tokens: true}); !ok || err != nil {
		t.Fatal(ok, err)
	}
	known, err := threadAnswers(t.Context(), &thread, entries[0])
	if err != nil {
		t.Fatal(err)
	}
	thread.Tokens.In += 100
	all, err := threadAnswers(t.Context(), &thread, entries[0])
	want := answerUsage{From: thread.Created, Time: thread.Updated, Tokens: discover.Tokens{In: 100}}
	if err != nil || len(all) != len(known)+1 || all[len(known)] != want {
		t.Errorf("%v: %+v, want %+v at the end", err, all, want)
	}
}
