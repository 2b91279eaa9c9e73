package claudecode

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/tests/golden"
	"agentctl/tests/must"
)

// Answers after the last report count in addition, and a run that was killed before it reported anything is not lost.
func TestTokensAfterReport(t *testing.T) {
	const (
		stated = `{"type":"cost-state","totalCostUSD":1,"modelUsage":{"a":{"inputTokens":100,"outputTokens":10},"b":{"inputTokens":7}}}`
		answer = `{"type":"assistant","message":{"id":"ID","model":"m","usage":{"input_tokens":60,"output_tokens":1}},"timestamp":"2026-01-01T00:00:TIME.000Z","cwd":"/w"}`
	)
	at := func(id, seconds string) string {
		return strings.NewReplacer("ID", id, "TIME", seconds).Replace(answer)
	}
	for _, c := range []struct {
		lines   []string
		in, out int64
	}{
		{[]string{at("1", "01"), stated}, 107, 10},
		{[]string{at("1", "01"), at("1", "01"), stated}, 107, 10},
		{[]string{at("1", "01"), stated, at("2", "02")}, 167, 11},
		{[]string{at("1", "01"), at("2", "02"), stated, at("3", "03")}, 180, 11},
	} {
		r, ok := readBytes(t, t.TempDir(), []byte(strings.Join(c.lines, "\n")+"\n"))
		if !ok || r.Tokens == nil || r.Tokens.In != c.in || r.Tokens.Out != c.out {
			t.Errorf("%q: %+v, want %d and %d", c.lines, r.Tokens, c.in, c.out)
		}
	}
}

// After a compaction, the context is what Claude Code reports until there is an answer, and then that answer's.
func TestContextAfterCompaction(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(fixtures, "03-*/projects/*/"+tui1+transcriptSuffix))
	must.Do(t, err)
	content, err := os.ReadFile(files[0])
	must.Do(t, err)
	before, after, ok := bytes.Cut(content, []byte(`"subtype":"compact_boundary"`))
	if !ok {
		t.Fatal("no compaction")
	}
	start := bytes.LastIndexByte(before, '\n') + 1
	end := len(before) + bytes.Index(after, []byte(`"type":"assistant"`))
	for _, c := range []struct {
		n    int
		want int64
	}{{start, 2426}, {end, 726}, {len(content), 1890}} {
		if r, _ := readBytes(t, t.TempDir(), asIfComplete(content[:c.n])); r.Tokens.Context != c.want {
			t.Errorf("after %d bytes the context is %d, want %d", c.n, r.Tokens.Context, c.want)
		}
	}
}

// The single answers of each session add up to its tokens and cost, in all stores: forks, sub-agents, summaries and
// titles included.
func TestAnswersAddUpToTokens(t *testing.T) {
	stores, err := filepath.Glob(filepath.Join(fixtures, "*", "projects"))
	must.Do(t, err)
	compared := 0
	for _, store := range stores {
		h := discover.Home{Dir: filepath.Dir(store)}
		entries, err := (Adapter{}).Entries(t.Context(), []discover.Home{h}, discover.EntryFilter{Subagents: true})
		must.Do(t, err)
		got := map[string]discover.SessionUsage{}
		for u, err := range (Adapter{}).ReadUsage(t.Context(), entries) {
			if err != nil {
				continue
			}
			sum := discover.SessionUsage{Record: discover.Record{Tokens: &discover.Tokens{}, Cost: new(float64)}}
			for _, a := range u.Usage {
				sum.Tokens.In += a.Tokens.In
				sum.Tokens.Out += a.Tokens.Out
				sum.Tokens.CacheRead += a.Tokens.CacheRead
				sum.Tokens.CacheWrite += a.Tokens.CacheWrite
				sum.Tokens.Reasoning += a.Tokens.Reasoning
				sum.Tokens.Total += a.Tokens.Total
				*sum.Cost += a.Cost
				if a.Time.IsZero() {
					t.Errorf("%s: %s: an answer without a time", h.Dir, u.ID)
				}
			}
			got[u.Path] = sum
		}
		for r, err := range (Adapter{}).Read(t.Context(), entries, discover.ReadOptions{Tokens: true}) {
			sum, counted := got[r.Path]
			if err != nil || r.Tokens == nil || r.IsSubagent() && !counted {
				continue
			}
			want := *r.Tokens
			want.Context = 0
			if compared++; !counted && want != (discover.Tokens{}) || counted && *sum.Tokens != want {
				t.Errorf("%s: the answers have %+v, the session %+v", r.Path, sum.Tokens, want)
			}
			if counted && r.Cost != nil && max(*r.Cost-*sum.Cost, *sum.Cost-*r.Cost) > 1e-6 {
				t.Errorf("%s: the answers cost %g, the session %g", r.Path, *sum.Cost, *r.Cost)
			}
		}
	}
	if compared < 20 {
		t.Errorf("%d sessions were compared", compared)
	}
}

// What only the agent's reports have counts by its model, at an unknown time of the session; if a report lacks a recorded answer, by no
// model. Costs count when they were reported; the answers that no report has have no cost so far.
func TestAnswersAndReports(t *testing.T) {
	const lines = `{"type":"assistant","message":{"id":"1","model":"a","usage":{"input_tokens":60,"output_tokens":1}},"timestamp":"2026-01-01T23:59:59.000Z","cwd":"/w"}
{"type":"cost-state","totalCostUSD":1.5,"modelUsage":{"a":{"inputTokens":60,"outputTokens":1,"costUSD":1},"b":{"inputTokens":7,"costUSD":0.5}}}
{"type":"cost-state","totalCostUSD":1.5,"modelUsage":{"a":{"inputTokens":60,"outputTokens":1,"costUSD":1},"b":{"inputTokens":7,"costUSD":0.5}}}
{"type":"assistant","message":{"id":"2","model":"a","usage":{"input_tokens":60,"output_tokens":1}},"timestamp":"2026-01-02T00:00:01.000Z","cwd":"/w"}
{"type":"cost-state","totalCostUSD":2.5,"modelUsage":{"a":{"inputTokens":120,"outputTokens":2,"costUSD":2},"b":{"inputTokens":7,"costUSD":0.5}}}
{"type":"assistant","message":{"id":"3","model":"a","usage":{"input_tokens":5}},"timestamp":"2026-01-03T00:00:01.000Z","cwd":"/w"}
`
	killed := strings.Replace(lines, `"a":{"inputTokens":120,"outputTokens":2,"costUSD":2}`, `"a":{"inputTokens":80,"outputTokens":2,"costUSD":2}`, 1)
	for name, c := range map[string]struct {
		lines string
		want  []string
	}{
		"reports of all": {lines, []string{
			"01 a in 0 cost 1 true", "01 a in 60 cost 0 true", "01 b in 0 cost 0.5 true", "01 to 02 b in 7 cost 0 true",
			"02 a in 0 cost 1 true", "02 a in 60 cost 0 true", "03 a in 5 cost 0 false",
		}},
		"a report without the answers of a process that was killed": {killed, []string{
			"01 a in 0 cost 1 true", "01 a in 60 cost 0 false", "01 b in 0 cost 0.5 true", "02 a in 0 cost 1 true", "02 a in 60 cost 0 false", "03 a in 5 cost 0 false",
		}},
	} {
		path := filepath.Join(t.TempDir(), "projects", "-w", tui1+transcriptSuffix)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, []byte(c.lines), 0o600))
		var got []string
		for u, err := range (Adapter{}).ReadUsage(t.Context(), []discover.Entry{{Agent: agentName, ID: tui1, Path: path}}) {
			must.Do(t, err)
			for _, a := range u.Usage {
				when := a.Time.Format("02")
				if !a.From.IsZero() {
					when = a.From.Format("02") + " to " + when
				}
				got = append(got, fmt.Sprintf("%s %s in %d cost %g %v", when, a.Model, a.Tokens.In, a.Cost, a.CostKnown))
			}
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q, want\n%q", name, got, c.want)
		}
	}
}

// The costs of a session add up to what the newest report states, and the costs of models to no more than a report's total.
func TestCostsAddUpToTheNewestReport(t *testing.T) {
	for _, c := range []struct {
		reports []string
		want    []string // model and USD
	}{
		{[]string{`{"totalCostUSD":5,"modelUsage":{"m":{"inputTokens":1,"costUSD":4}}}`, `{"totalCostUSD":5,"modelUsage":{"m":{"inputTokens":2,"costUSD":5}}}`}, []string{"m 4", "m 1"}},
		{[]string{`{"totalCostUSD":1,"modelUsage":{"a":{"costUSD":0.7},"b":{"costUSD":0.7}}}`}, []string{" 1"}},
		{[]string{`{"totalCostUSD":5,"modelUsage":{"m":{"inputTokens":2,"costUSD":5}}}`, `{"totalCostUSD":3,"modelUsage":{"m":{"inputTokens":1,"costUSD":2}}}`}, []string{"m 2", " 1"}},
		{[]string{`{"totalCostUSD":2,"modelUsage":{"m":{"inputTokens":1,"costUSD":1}}}`, `{"totalCostUSD":4,"modelUsage":{"m":{"inputTokens":1,"costUSD":2}}}`}, []string{" 2", "m 2"}},
		{[]string{`{"totalCostUSD":1,"modelUsage":{"m":{"inputTokens":1,"costUSD":2}}}`, `{"totalCostUSD":4,"modelUsage":{"m":{"inputTokens":2,"costUSD":4}}}`}, []string{"m 4"}},
	} {
		var g callUsage
		for _, r := range c.reports {
			g.addReport([]byte(r))
		}
		var got []string
		for _, a := range g.costs() {
			got = append(got, fmt.Sprintf("%s %g", a.Model, a.Cost))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.reports, got, c.want)
		}
	}
}

// A report of very many models, or of one with a very long name, costs little memory, and its total counts.
func TestModelsOfAReportAreBounded(t *testing.T) {
	var many strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&many, `"%d":{"inputTokens":1,"costUSD":1},`, i)
	}
	raw := []byte(`{"totalCostUSD":100001,"modelUsage":{"` + strings.Repeat("x", 1<<20) + `":{"inputTokens":1,"costUSD":1},` + strings.TrimSuffix(many.String(), ",") + `}}`)
	var g callUsage
	if n := allocated(func() { g.addReport(raw) }); n > 1<<18 {
		t.Errorf("%d bytes are taken", n)
	}
	cost := 0.0
	for _, a := range g.costs() {
		cost += a.Cost
	}
	if in := g.reports[0].total.In; in != 100_001 || cost != 100_001 {
		t.Errorf("%d tokens for %g", in, cost)
	}
}

// Calls beyond the bound leave the session's tokens unknown, with an error. A call that is known is still replaced.
func TestCallsAreBounded(t *testing.T) {
	var g callUsage
	add := func(id string, in int64) {
		l, _ := parseRecord([]byte(`{"message":{"id":"` + id + `"}}`))
		g.addAnswer(newCallID(id, ""), &l, discover.Tokens{In: in})
	}
	for i := range maxCalls {
		add(strconv.Itoa(i), 1)
	}
	add("0", 2)
	var u sessionUsage
	if err := (&totalsReader{calls: g}).fillUsage(&u); err != nil || u.Tokens.In != maxCalls+1 {
		t.Fatalf("sum %+v, %v", u.Tokens, err)
	}
	add("one more", 9)
	u = sessionUsage{}
	if err := (&totalsReader{calls: g}).fillUsage(&u); len(g.calls) != maxCalls || !errors.Is(err, errTooManyCalls) || u.Tokens != nil {
		t.Errorf("%d calls, %v, tokens %v", len(g.calls), err, u.Tokens)
	}
}

// A record has the newest notice of a rate limit or quota, with the time of its reset if that is stored.
func TestQuotas(t *testing.T) {
	for store, want := range map[string]discover.Quota{
		"25-limit-retry-2.1.329": {
			Name: "five_hour", Reached: true, Resets: time.Unix(1795306876, 0).UTC(),
			Text: "You've hit your 5-hour limit · resets 12:21am (UTC)", Time: time.Date(2026, 11, 21, 21, 21, 16, 918e6, time.UTC),
		},
		"26-limit-2.1.197": {
			Reached: true,
			Text:    "You've hit your session limit · resets 12:21am (UTC)", Time: time.Date(2026, 11, 21, 21, 21, 20, 311e6, time.UTC),
		},
	} {
		all, _ := records(t, home(t, store), discover.EntryFilter{}, discover.ReadOptions{Full: true})
		for _, r := range all {
			switch limited := r.ID[0] == '1'; {
			case !limited && r.Quotas != nil: // an overloaded server is no limit of one's own
				t.Errorf("%s: %s: %+v", store, r.ID, r.Quotas)
			case limited && (len(r.Quotas) != 1 || r.Quotas[0] != want):
				t.Errorf("%s: %+v, want %+v", store, r.Quotas, want)
			}
		}
	}
}

// answerLine is a record of an answer: of the message m, with a request if there is one, of this input and output.
func answerLine(m, request, uuid string, second, in, out int, content string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"id":%s,"model":"m","content":[%s],"usage":{"input_tokens":%d,"output_tokens":%d}},"uuid":"%s","requestId":%s,"timestamp":"2026-01-01T00:00:%02d.000Z","cwd":"/w"}`+"\n",
		m, cmp.Or(content, `{"type":"text","text":"x"}`), in, out, uuid, request, second)
}

// TestAnswersWithoutIDs: what lies between records tells the answers of a gateway apart. Of one answer, records stay one, also where the
// result of its first call is between them.
func TestAnswersWithoutIDs(t *testing.T) {
	user := func(uuid, content string) string {
		return `{"type":"user","message":{"content":` + content + `},"uuid":"` + uuid + `","timestamp":"2026-01-01T00:00:30.000Z","cwd":"/w"}` + "\n"
	}
	result := user("r", `[{"type":"tool_result","tool_use_id":"c1","content":"ok"}]`)
	const call, same, none = `{"type":"tool_use","id":"c1","name":"Bash","input":{}}`, `"same"`, "null"
	for name, c := range map[string]struct {
		lines string
		total int64
	}{
		"a prompt between":              {answerLine(same, none, "1", 1, 5, 1, "") + user("p", `"again"`) + answerLine(same, none, "2", 2, 5, 1, ""), 12},
		"a result between":              {answerLine(same, none, "1", 1, 5, 1, call) + result + answerLine(same, none, "2", 2, 7, 1, ""), 14},
		"no IDs, a result between":      {answerLine(none, none, "1", 1, 5, 1, call) + result + answerLine(none, none, "2", 2, 7, 1, ""), 14},
		"no IDs, one answer":            {answerLine(none, none, "1", 1, 5, 1, "") + answerLine(none, none, "2", 2, 5, 3, call) + result, 8},
		"one answer, a result within":   {answerLine(`"msg_1"`, none, "1", 1, 5, 1, call) + result + answerLine(`"msg_1"`, none, "2", 2, 5, 3, call), 8},
		"one answer, usage known later": {answerLine(`"msg_1"`, none, "1", 1, 1, 1, "") + answerLine(`"msg_1"`, none, "2", 2, 5, 3, call), 8},
		"stored again":                  {strings.Repeat(answerLine(same, none, "1", 1, 5, 1, "")+user("p", `"again"`), 2), 6},
		"negative and missing counts":   {strings.NewReplacer(`"input_tokens":5,`, `"input_tokens":-5,"cache_read_input_tokens":null,`).Replace(answerLine(same, none, "1", 1, 5, 3, "")), 3},
	} {
		dir := t.TempDir()
		path := writeTranscript(t, dir, minimal+c.lines)
		if r, ok := readFile(t, dir, path); !ok || r.Tokens == nil || r.Tokens.Total != c.total {
			t.Errorf("%s: %s, want %d", name, golden.JSON(t, r.Tokens), c.total)
		}
		sum := int64(0)
		for m, err := range New().Messages(t.Context(), discover.Record{ID: alive, Path: path}) {
			if must.Do(t, err); m.Tokens != nil {
				sum += m.Tokens.Total
			}
		}
		if name != "stored again" && sum != c.total {
			t.Errorf("%s: the messages have %d, want %d", name, sum, c.total)
		}
	}
}

// TestCopiedAnswersCountOnce: answers that a session repeats from another one are that one's, whichever is read first, and the sum of all
// sessions is that of all answers.
func TestCopiedAnswersCountOnce(t *testing.T) {
	dir := t.TempDir()
	project := filepath.Dir(transcriptPath(dir, "/w", alive))
	must.Do(t, os.MkdirAll(project, 0o700))
	history := minimal + answerLine(`"m1"`, `"r1"`, "1", 1, 5, 1, "") + answerLine(`"m2"`, "null", "2", 2, 7, 1, "")
	want := map[string]int64{}
	for i, c := range []struct {
		lines string
		total int64
	}{
		{history + answerLine(`"m4"`, `"r4"`, "4", 9, 30, 0, ""), 30}, {history, 14}, {history + answerLine(`"m3"`, `"r3"`, "3", 8, 20, 0, ""), 20}, {history, 0},
	} {
		must.Do(t, os.WriteFile(filepath.Join(project, numbered(9-i)+transcriptSuffix), []byte(c.lines), 0o600))
		want[numbered(9-i)] = c.total
	}
	want[numbered(6)], want[numbered(8)] = 14, 0 // two that end alike: the first by path
	entries, err := New().Entries(t.Context(), []discover.Home{{Dir: dir}}, discover.EntryFilter{})
	must.Do(t, err)
	got, used := map[string]int64{}, map[string]int64{numbered(8): 0}
	for r, err := range New().Read(t.Context(), entries, discover.ReadOptions{Tokens: true}) {
		must.Do(t, err)
		got[r.ID] = r.Tokens.Total
	}
	for u, err := range New().ReadUsage(t.Context(), entries) {
		must.Do(t, err)
		for _, a := range u.Usage {
			used[u.ID] += a.Tokens.Total
		}
	}
	if !maps.Equal(got, want) || !maps.Equal(used, want) {
		t.Errorf("records %v, usage %v, want %v", got, used, want)
	}
}

// TestSideQuestions: a sub-agent's transcript that repeats answers of its session (/btw) adds only its own, whether the copies have the
// request IDs or not.
func TestSideQuestions(t *testing.T) {
	for name, id := range map[string]string{"an ID of the API": `"msg_01abcdefghijklmnopqrstuvw"`, "another ID": `"m1"`} {
		dir := t.TempDir()
		path := writeTranscript(t, dir, minimal+answerLine(id, `"r1"`, "1", 1, 50, 1, ""))
		must.Do(t, os.MkdirAll(subagentDir(path), 0o700))
		side := answerLine(id, "null", "2", 1, 1, 1, "") + answerLine(id, "null", "3", 1, 50, 1, "") + minimal + answerLine(`"m2"`, "null", "4", 5, 7, 0, "")
		must.Do(t, os.WriteFile(filepath.Join(subagentDir(path), "agent-aside_question-0123.jsonl"), []byte(side), 0o600))
		if r, ok := readFile(t, dir, path); !ok || r.Tokens == nil || r.Tokens.Total != 58 {
			t.Errorf("%s: %s", name, golden.JSON(t, r.Tokens))
		}
	}
}

// TestIterations: what other models used for an answer is theirs.
func TestIterations(t *testing.T) {
	dir := t.TempDir()
	lines := answerLine(`"m1"`, `"r1"`, "1", 1, 5, 1, "")
	lines = strings.Replace(lines, `"usage":{`, `"usage":{"iterations":[{"type":"compaction","input_tokens":100,"output_tokens":9},{"type":"message","input_tokens":5,"output_tokens":1},`+
		`{"type":"advisor_message","model":"big","input_tokens":1000},{"type":"advisor_message","model":"big","input_tokens":2000}],`, 1)
	writeTranscript(t, dir, minimal+lines+lines)
	entries, err := New().Entries(t.Context(), []discover.Home{{Dir: dir}}, discover.EntryFilter{})
	must.Do(t, err)
	got := map[string]int64{}
	for u, err := range New().ReadUsage(t.Context(), entries) {
		must.Do(t, err)
		got[""] += u.Tokens.Total
		for _, a := range u.Usage {
			got[a.Model] += a.Tokens.Total
		}
	}
	if want := map[string]int64{"": 3115, "m": 115, "big": 3000}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
