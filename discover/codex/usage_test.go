package codex

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

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
				sum = sum.Plus(a.Tokens)
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

// What only the total of a thread has was used by no known model, at no known time of the thread. If the answers have more than the total,
// they are left out.
func TestTokensOfTheTotalOnly(t *testing.T) {
	r := discover.Record{Created: midnight, Updated: midnight.Add(time.Hour), Tokens: &discover.Tokens{In: 100, Out: 10}}
	for in, want := range map[int64][]int64{100: {100}, 40: {40, 60}, 200: {100}} {
		var answers answerList
		answers.add(r.Updated, "m", discover.Tokens{In: in, Out: 10})
		var got []int64
		for _, a := range addRest(answers, &r) {
			got = append(got, a.Tokens.In)
			if rest := a.Model == ""; rest && (a.From != r.Created || a.Time != r.Updated) {
				t.Errorf("%d: %+v", in, a)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d: %d, want %d", in, got, want)
		}
	}
}

// Of each limit the newest statement with a window counts. A refusal belongs to the limits that are used up and not reset since, and counts
// until a turn ends or a window is stated.
func TestLimits(t *testing.T) {
	count := func(second, limits string) string {
		return stamp(`{"timestamp":"2026-11-20T19:00:06Z","type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":{`+limits+`}}}`, second)
	}
	const codex, other = `"limit_id":"codex",`, `"limit_id":"spark",`
	window := func(used, resets string) string {
		return `"primary":{"used_percent":` + used + `,"resets_at":` + resets + `}`
	}
	const soon, past = "1795210000", "1795200000" // after and before 19:00
	refused := `{"timestamp":"2026-11-20T19:00:09Z","type":"event_msg","payload":{"type":"task_complete","error":{"message":"no more","codex_error_info":{"x":{"http_status_code":429}}}}}`
	none := `"primary":null`
	for name, test := range map[string]struct {
		lines []string
		want  string
	}{
		"two limits":            {[]string{count("01", codex+window("7", soon)), count("02", other+window("5", soon)), count("03", other+none)}, "[spark primary 5 primary 7]"},
		"no ID (0.42)":          {[]string{count("01", window("7", soon)), count("02", codex+none)}, "[primary 7]"},
		"restated":              {[]string{count("01", window("7", soon)), count("02", codex+window("8", soon))}, "[primary 8]"},
		"negative":              {[]string{count("01", window("7", soon)), count("02", window("-1", soon))}, "[primary 7]"},
		"refused":               {[]string{count("01", window("100", soon)), count("02", other+window("1", soon)), count("03", other+none), refused}, "[spark primary 1 primary 100 no more]"},
		"refused, then a count": {[]string{count("01", window("100", soon)), refused, count("10", codex+none)}, "[primary 100 no more]"},
		"refused after a reset": {[]string{count("01", window("100", past)), refused}, "[primary 100  no more]"},
		"answered since":        {[]string{count("01", window("100", soon)), refused, startedLine, completeLine}, "[primary 100]"},
	} {
		tail, err := readTail(memory(rollout(append([]string{metaLine}, test.lines...)...)), tailLimit, someID, tailOptions{Quotas: true})
		var got []any
		for _, q := range tail.quotas.list() {
			got = append(got, q.Name)
			if q.Used != nil {
				got = append(got, *q.Used)
			}
			if q.Reached {
				got = append(got, q.Text)
			}
		}
		if err != nil || fmt.Sprint(got) != test.want {
			t.Errorf("%s: %v, %v, want %v", name, err, got, test.want)
		}
	}
}
