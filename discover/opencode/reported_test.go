package opencode

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/tests/must"
)

// The tests of this file have stores as users have reported them.

// transcript returns the messages of rows, oldest first, each on a line.
func transcript(rows memoryRows) (lines []string) {
	for _, m := range parse(rows, 1000).messages {
		line := fmt.Sprint(m.Role, " ", m.Text)
		if c := m.Tool; c != nil {
			line = fmt.Sprintf("%s %s(%s) = %s, %s", m.Role, c.Name, c.Input, c.Output, c.State)
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	return lines
}

// The first prompt is what the user said first, or a file that is all that there is. It is a message, too.
func TestFirstPrompt(t *testing.T) {
	const image, text, pdf = `{"type":"file","mime":"image/png","filename":"a.png","url":"data:"}`, `{"type":"text","text":"words"}`, `{"type":"file","mime":"application/pdf","filename":"a.pdf"}`
	for parts, want := range map[string]string{
		image:                "[image]",
		image + "\n" + image: "[image]",
		pdf:                  "[a.pdf]",
		`{"type":"file"}`:    "[file]",
		image + "\n" + text:  "words",
		`{"url":"data:","mime":"image/gif","type":"file"}`:                     "[image]",
		`{"type":"text","text":" \n"}` + "\n" + text:                           "words",
		`{"type":"text","text":"the agent's","synthetic":true}` + "\n" + image: "[image]",
		`{"type":"text","text":"the agent's","synthetic":true}`:                "next",
		`{"type":"text","text":"<div class=\"x\"> is not closed"}`:             `<div class="x"> is not closed`,
		`{"type":"text","text":"\ud83d lone"}`:                                 "\uFFFD lone",
	} {
		rows := memoryRows{
			newMemoryMessage("msg_1", `{"role":"user"}`, strings.Split(parts, "\n")...), newMemoryMessage("msg_2", `{"role":"assistant","parentID":"msg_1"}`),
			newMemoryMessage("msg_3", `{"role":"user"}`, `{"type":"text","text":"next"}`),
		}
		if got, _ := readHead(rows, 0); got != want {
			t.Errorf("%s: %q, want %q", parts, got, want)
		}
		if got := transcript(rows); got[0] != "user "+want {
			t.Errorf("%s: %q", parts, got)
		}
	}
}

// Calls of unknown types and forms are shown with what they were asked, and with what they returned.
func TestKindsOfCalls(t *testing.T) {
	for part, want := range map[string]string{
		`{"type":"image","callID":"i","name":"draw","input":{"prompt":"red"},"result":"a.png"}`:                         `assistant draw({"prompt":"red"}) = a.png, done`,
		`{"type":"server-tool","tool":"search","state":{"status":"completed","input":{"q":1},"output":[{"text":"x"}]}}`: `assistant search({"q":1}) = [{"text":"x"}], done`,
		`{"type":"server-tool","state":{"status":"running","input":{"q":1},"metadata":{"output":"so far"}}}`:            `assistant server-tool({"q":1}) = so far, open`,
		`{"type":"tool","tool":"mcp","state":{"status":"completed","input":{},"output":{"rows":[1]}}}`:                  `assistant mcp({}) = {"rows":[1]}, done`,
		`{"type":"tool","tool":"mcp","state":{"status":"error","error":{"message":"no"}}}`:                              `assistant mcp() = {"message":"no"}, error`,
		`{"type":"tool","tool":"mcp","state":{"status":"later","output":"all the same"}}`:                               `assistant mcp() = all the same, done`,
		`{"type":"tool","tool":"bash"}`:                     `assistant bash() = , open`,
		`{"type":"news","text":"words of an unknown kind"}`: `assistant news() = words of an unknown kind, done`,
		`{"type":"dance","steps":[1]}`:                      "",
		`{"type":"text","text":""}`:                         "",
		`{"type":"text"}`:                                   "",
		`{}`:                                                "",
	} {
		got := transcript(memoryRows{newMemoryMessage("msg_1", `{"role":"assistant"}`, part)})
		if strings.Join(got, "") != want {
			t.Errorf("%s: %q, want %q", part, got, want)
		}
	}
	again := `{"type":"tool","tool":"bash","callID":"call_1","state":{"status":"completed","output":"%d"}}`
	got := transcript(memoryRows{newMemoryMessage("msg_1", `{"role":"assistant"}`, fmt.Sprintf(again, 1), fmt.Sprintf(again, 2))})
	if !slices.Equal(got, []string{"assistant bash() = 1, done", "assistant bash() = 2, done"}) {
		t.Errorf("one call ID twice: %q", got)
	}
}

// An answer follows the message that it answers, although the clock was set back between them.
func TestClockSetBack(t *testing.T) {
	text := func(s string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, s) }
	answer := func(id, to, rest string) memoryRow {
		return newMemoryMessage(id, `{"role":"assistant","parentID":"`+to+`",`+rest+`}`, text("answer to "+to))
	}
	rows := memoryRows{
		answer("msg_1", "msg_7", `"finish":"tool-calls","time":{"completed":1}`), answer("msg_2", "msg_7", `"finish":"stop","time":{"completed":2}`),
		newMemoryMessage("msg_5", `{"role":"user"}`, text("one")), answer("msg_6", "msg_5", `"finish":"stop","time":{"completed":6}`),
		newMemoryMessage("msg_7", `{"role":"user"}`, text("two")),
	}
	want := []string{"user one", "assistant answer to msg_5", "user two", "assistant answer to msg_7", "assistant answer to msg_7"}
	if got := transcript(rows); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for batch := 1; batch < 6; batch++ {
		if got := parse(rows, batch); len(got.messages) != len(want) || got.turn.State != discover.TurnDone {
			t.Errorf("in batches of %d: %d messages, %+v", batch, len(got.messages), got.turn)
		}
		newer := append(slices.Clip(rows), newMemoryMessage("msg_8", `{"role":"user"}`, text("three")), answer("msg_9", "msg_8", `"finish":"stop"`))
		if got := parse(newer, batch); len(got.messages) != len(want)+2 {
			t.Errorf("with newer ones, in batches of %d: %d messages", batch, len(got.messages))
		}
	}
	// The clock was set back after the session was created: nothing was copied into it.
	const made, hour = 1795201766525, 3_600_000
	id := func(ms uint64) string { return fmt.Sprintf("msg_%012x", ms<<12&idTimeMask) }
	if isCopied(id(made-hour), made-hour, made) || isCopied(id(made), made, made) || !isCopied(id(made+5), made-hour, made) || !isCopied("msg_x", made-hour, made) {
		t.Error("copied or not")
	}
}

// tokensUsed returns the sum of what the answers of all sessions of a home say.
func tokensUsed(t *testing.T, dir string) (sum int64) {
	t.Helper()
	entries, _ := New().Entries(t.Context(), homeOf(dir), discover.EntryFilter{Subagents: true})
	for u, err := range New().ReadUsage(t.Context(), entries) {
		must.Do(t, err)
		for _, a := range u.Usage {
			sum += a.Tokens.Total
		}
	}
	return sum
}

// roots returns the sessions of a home that are no sub-agents, and the sum of their totals.
func roots(t *testing.T, dir string) (ids []string, sum int64) {
	t.Helper()
	records, err := readRecords(t, homeOf(dir), discover.EntryFilter{}, whole)
	must.Do(t, err)
	for _, r := range records {
		if !r.IsSubagent() {
			ids = append(ids, r.ID)
			sum += r.Tokens.Total
		}
	}
	slices.Sort(ids)
	return ids, sum
}

// One total, whatever numbers are stored: the sum of what the answers say, of which none is negative.
func TestOddNumbers(t *testing.T) {
	for tokens, want := range map[string]int64{
		`{"input":-50,"output":30,"cache":{"read":100,"write":-1}}`: 130, `{"input":10,"output":null}`: 10, `{"output":"7"}`: 0, `{"input":1.5,"cache":[]}`: 1,
	} {
		m := parseMessage([]byte(`{"role":"assistant","cost":-1,"tokens":` + tokens + `}`))
		if m.tokens.Total != want || m.cost != 0 {
			t.Errorf("%s: %+v, %v", tokens, m.tokens, m.cost)
		}
	}
	dir := restore(t, "family")
	execute(t, filepath.Join(dir, "opencode.db"), "update session set tokens_input = 7, cost = -1") // not what the answers say
	if _, listed := roots(t, dir); listed == 0 || listed != tokensUsed(t, dir) {
		t.Errorf("%d tokens in the list, %d in usage", listed, tokensUsed(t, dir))
	}
}

// A session whose parent is gone, is itself, or works for it in turn, is no sub-agent: nothing else would show it.
func TestParentsThatShowNothing(t *testing.T) {
	const root, child, other = "ses_e0000e410ffe8UVAmhaap2NBgh", "ses_e0000c9f7ffeLls58oOl0Elxzy", "ses_e00011cb1ffe1cYGmjra8CLZP5"
	all := []string{child, root, other}
	for _, c := range []struct {
		ofChild, ofRoot string
		roots           []string
	}{{root, "", all[1:]}, {"ses_gone", "", all}, {child, "", all}, {root, child, all}} {
		dir := restore(t, "family")
		execute(t, filepath.Join(dir, "opencode.db"),
			"delete from session where id not in ('"+strings.Join(all, "', '")+"')", "update session set parent_id = null",
			"update session set parent_id = '"+c.ofChild+"' where id = '"+child+"'", "update session set parent_id = nullif('"+c.ofRoot+"', '') where id = '"+root+"'",
		)
		if got, sum := roots(t, dir); !slices.Equal(got, c.roots) || sum != tokensUsed(t, dir) {
			t.Errorf("%+v: %q, %d tokens of %d", c, got, sum, tokensUsed(t, dir))
		}
	}
	for _, parent := range []string{"ses_gone", "its own"} {
		dir := capture(t, "json-1.1.65-family")
		before, _ := roots(t, dir)
		changed := 0
		paths, _ := filepath.Glob(filepath.Join(dir, "storage", "session", "*", "*.json"))
		for _, path := range paths {
			raw, err := os.ReadFile(path)
			must.Do(t, err)
			if s := parseLegacySession(raw); s.Parent != "" {
				changed++
				writeFile(t, path, []byte(strings.ReplaceAll(string(raw), s.Parent, strings.ReplaceAll(parent, "its own", s.ID))))
			}
		}
		got, sum := roots(t, dir)
		if changed == 0 || len(got) != len(before)+changed || sum != tokensUsed(t, dir) {
			t.Errorf("%s: %q of %q, %d tokens of %d", parent, got, before, sum, tokensUsed(t, dir))
		}
	}
}

// Other programs write JSON with other orders of keys, and with spaces.
func TestOtherOrdersOfKeys(t *testing.T) {
	prompts := func(dir string) (all []string) {
		records, err := readRecords(t, homeOf(dir), discover.EntryFilter{Subagents: true}, whole)
		if err != nil {
			t.Error(err)
		}
		for _, r := range records {
			messages, errs := messagesOf(t, r)
			all = append(all, fmt.Sprint(r.ID, r.Prompt, r.Turn.State, r.Tokens.Total, len(messages), len(errs)))
		}
		return all
	}
	dir := restore(t, "family")
	want := prompts(dir)
	long := `'{ "first" : "' || hex(zeroblob(300)) || '" , ' || substr(data, 2)`
	execute(t, filepath.Join(dir, "opencode.db"), "update message set data = "+long, "update part set data = "+long)
	if got := prompts(dir); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}
