package claudecode

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/tests/golden"
	"agentctl/tests/must"
)

// readMessages reads all messages of a transcript, newest first, and the warnings.
func readMessages(t testing.TB, path string) (messages []discover.Message, warned []*discover.Warning) {
	t.Helper()
	id, _ := idOfFile(filepath.Base(path))
	record := discover.Record{Agent: "claude-code", ID: id, Parent: parentOf(path), Path: path}
	for m, err := range New().Messages(context.Background(), record) {
		if err != nil {
			warned = append(warned, warningsIn(t, err)...)
			continue
		}
		messages = append(messages, m)
	}
	return messages, warned
}

// transcripts returns all captured transcripts.
func transcripts(t testing.TB) (paths []string) {
	t.Helper()
	must.Do(t, filepath.WalkDir(fixtures, func(path string, _ os.DirEntry, err error) error {
		if _, ok := idOfFile(filepath.Base(path)); ok {
			paths = append(paths, path)
		}
		return err
	}))
	if len(paths) < 30 {
		t.Fatalf("only %d transcripts", len(paths))
	}
	return paths
}

// TestMessagesOfRealStores reads every captured transcript and compares with the golden messages, one per line.
func TestMessagesOfRealStores(t *testing.T) {
	all := map[string]string{} // by store
	for _, path := range transcripts(t) {
		rel, err := filepath.Rel(fixtures, path)
		must.Do(t, err)
		messages, warned := readMessages(t, path)
		if len(warned) > 0 {
			t.Errorf("%s: warnings: %v", rel, warned)
		}
		store, rel, _ := strings.Cut(rel, "/projects/")
		all[store] += "== " + rel + "\n"
		for _, m := range messages {
			raw, err := json.Marshal(m)
			must.Do(t, err)
			all[store] += string(raw) + "\n"
		}
	}
	for store, text := range all {
		golden.Compare(t, filepath.Join("testdata/messages", store+".txt"), text)
	}
}

// Some models number their calls anew in each answer: a result is that of the call before it.
func TestCallsNumberedAnew(t *testing.T) {
	lines := transcriptLines{}.prompt("do it").calls("0", "Read").answers("0").calls("0", "Bash")
	messages, _ := readMessages(t, writeTranscript(t, t.TempDir(), strings.Join(lines, "\n")+"\n"))
	if len(messages) != 3 || messages[0].Tool.State != discover.ToolOpen || messages[1].Tool.State != discover.ToolDone {
		t.Errorf("%s", golden.JSON(t, messages))
	}
}

// TestCallsWithOneID: each call of an answer has its own result though all have one ID, and a call without a result has none.
func TestCallsWithOneID(t *testing.T) {
	c := &chain{at: time.Unix(1e9, 0)}
	call := func(name string) string { return `{"type":"tool_use","id":"call","name":"` + name + `","input":{}}` }
	result := func(text string) string {
		return `{"type":"tool_result","tool_use_id":"call","content":"` + text + `"}`
	}
	c.add("assistant", "a0", "["+call("lost")+"]").add("user", "u0", `"go on"`).
		add("assistant", "a1", "["+call("one")+"]").add("assistant", "a2", "["+call("two")+","+call("three")+"]").
		add("user", "u1", "["+result("1")+"]").add("user", "u2", "["+result("2")+","+result("3")+"]").add("assistant", "a3", "["+call("four")+"]")
	messages, _ := messagesOf([]byte(strings.Join(c.lines, "\n") + "\n"))
	var got []string
	for _, m := range slices.Backward(messages) {
		if m.Tool != nil {
			got = append(got, fmt.Sprint(m.Tool.Name, m.Tool.State, m.Tool.Output))
		}
	}
	if want := []string{"lostopen", "onedone1", "twodone2", "threedone3", "fouropen"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The tokens of a call are those of its newest record, shown or not, and the first message that is shown of it has them, though records of
// another call are between.
func TestTokensOfACallCountOnce(t *testing.T) {
	record := func(id, kind string, in int) string {
		return fmt.Sprintf(`{"message":{"id":%q,"model":"x","usage":{"input_tokens":%d},"content":[{"type":%q,"text":"t"}]},"type":"assistant","timestamp":"2026-01-01T00:00:01.000Z"}`+"\n", id, in, kind)
	}
	for content, want := range map[string]string{
		record("A", "text", 1) + record("B", "text", 2) + record("A", "text", 3):     "3 2 -",
		record("A", "text", 1) + record("B", "text", 2) + record("A", "thinking", 3): "2 3",
		record("A", "text", 1) + record("A", "text", 2):                              "2 -",
		record("", "text", 1) + record("", "text", 2):                                "2 1",
	} {
		messages, _ := messagesOf([]byte(content))
		var got []string
		for _, m := range messages {
			if m.Tokens == nil {
				got = append(got, "-")
			} else {
				got = append(got, fmt.Sprint(m.Tokens.In))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s%q, want %q", content, got, want)
		}
	}
}

// messagesOf returns the messages of a transcript with this content, the newest first, and the errors.
func messagesOf(content []byte) (messages []discover.Message, errs []error) {
	for m, err := range discover.StreamMessages(agentName, func(out *discover.MessageStream) {
		t := messageReader{MessageStream: out, file: storage.NewMemoryFile("memory", content, time.Time{})}
		_ = t.readAll()
	}) {
		if err != nil {
			errs = append(errs, err)
		} else {
			messages = append(messages, m)
		}
	}
	return messages, errs
}

// An unfinished last line changes nothing before it, and messages come newest first.
func FuzzMessages(f *testing.F) {
	must.Do(f, filepath.WalkDir(fixtures, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" {
			return err
		}
		content, err := os.ReadFile(path)
		if len(content) < 8_000 {
			f.Add(content)
		}
		return err
	}))
	f.Add([]byte(aCall + fmt.Sprintf(aResult, "x") + aPrompt))
	f.Fuzz(func(t *testing.T, content []byte) {
		got, warned := messagesOf(content)
		if want, _ := messagesOf(asIfComplete(content)); golden.JSON(t, got) != golden.JSON(t, want) {
			t.Fatalf("torn %s\ncomplete %s", golden.JSON(t, got), golden.JSON(t, want))
		}
		inOrder, last := true, time.Time{}
		for line := range bytes.Lines(asIfComplete(content)) {
			l, _ := parseRecord(line)
			at := l.time()
			inOrder = inOrder && !at.IsZero() && !at.Before(last)
			last = at
		}
		for i, m := range got {
			if m.ID == "" || m.Role == "" || (m.Tool == nil) == (m.Kind == discover.KindTool) {
				t.Fatalf("%+v", m)
			}
			if inOrder && len(warned) == 0 && i > 0 && m.Time.After(got[i-1].Time) {
				t.Fatalf("%s before %s", got[i-1].Time, m.Time)
			}
		}
	})
}

// readMessagesOf reads the messages of a transcript with this content.
func readMessagesOf(t testing.TB, dir string, content []byte) ([]discover.Message, []*discover.Warning) {
	t.Helper()
	return readMessages(t, writeTranscript(t, dir, string(content)))
}

// transcriptOf is the content of a captured transcript.
func transcriptOf(t testing.TB, pattern string) []byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(fixtures, pattern))
	must.Do(t, err)
	if len(files) == 0 {
		t.Fatalf("no %s", pattern)
	}
	content, err := os.ReadFile(files[0])
	must.Do(t, err)
	return content
}

const (
	outOfOrder = "09-*/projects/*/*" + transcriptSuffix
	longTUI    = "03-*/projects/*/" + tui1 + transcriptSuffix
)

// A message keeps its ID while the transcript grows, and its call gets a result.
func TestMessagesKeepTheirIDs(t *testing.T) {
	for _, pattern := range []string{outOfOrder, longTUI} {
		lines := bytes.SplitAfter(transcriptOf(t, pattern), []byte{'\n'})
		last := map[string]bool{}
		for n := range len(lines) + 1 {
			messages, _ := readMessagesOf(t, t.TempDir(), bytes.Join(lines[:n], nil))
			now := map[string]bool{}
			for _, m := range messages {
				if now[m.ID] {
					t.Errorf("%s, %d lines: %s twice", pattern, n, m.ID)
				}
				now[m.ID] = true
			}
			for id := range last {
				// A compaction is known by its boundary until its summary is there.
				if !now[id] && !bytes.Contains(lines[n-2], []byte("compact_boundary")) {
					t.Errorf("%s, %d lines: %s is gone", pattern, n, id)
				}
			}
			last = now
		}
	}
}

// Consecutive damaged records cost one warning, and the other messages are shown.
func TestMessagesAroundDamage(t *testing.T) {
	content := transcriptOf(t, outOfOrder)
	want, _ := readMessagesOf(t, t.TempDir(), content)
	for at := range content {
		if at > 0 && content[at-1] != '\n' {
			continue
		}
		damaged := bytes.Join([][]byte{content[:at], []byte("{\"type\":\n\x00\x00\n"), content[at:]}, nil)
		got, warned := readMessagesOf(t, t.TempDir(), damaged)
		if golden.JSON(t, got) != golden.JSON(t, want) || len(warned) != 1 {
			t.Fatalf("damaged at %d: warnings %v, got %s", at, warned, golden.JSON(t, got))
		}
	}
}

const (
	aCall   = `{"parentUuid":null,"isSidechain":false,"message":{"id":"m","model":"x","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}]},"type":"assistant","uuid":"u1","timestamp":"2026-01-01T00:00:01.000Z","cwd":"/w"}` + "\n"
	aResult = `{"parentUuid":"u1","isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"%s","is_error":false}]},"uuid":"u2","timestamp":"2026-01-01T00:00:02.000Z","cwd":"/w"}` + "\n"
	aPrompt = `{"parentUuid":"u2","isSidechain":false,"type":"user","message":{"role":"user","content":"go on"},"uuid":"u3","timestamp":"2026-01-01T00:00:03.000Z","cwd":"/w"}` + "\n"
)

// A line that is too long costs a warning.
func TestMessagesWithALongLine(t *testing.T) {
	line := fmt.Sprintf(aResult, strings.Repeat("x", storage.MaxLine+storage.MaxLine/4))
	for _, before := range []string{"", aCall} {
		got, warned := readMessagesOf(t, t.TempDir(), []byte(before+line+aPrompt))
		if len(warned) != 1 || len(got) == 0 || got[0].Text != "go on" {
			t.Errorf("warnings %v, %d messages", warned, len(got))
		}
	}
}

func TestMessagesOfNothing(t *testing.T) {
	if got, warned := readMessages(t, ""); len(got)+len(warned) > 0 {
		t.Errorf("of no transcript: %v, %v", got, warned)
	}
	if got, warned := readMessages(t, filepath.Join(t.TempDir(), alive+transcriptSuffix)); len(got) > 0 || len(warned) != 1 {
		t.Errorf("of a lost transcript: %v, %v", got, warned)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	path := writeTranscript(t, t.TempDir(), strings.Repeat(aPrompt, 1000))
	for _, err := range New().Messages(ctx, discover.Record{ID: alive, Path: path}) {
		must.Do(t, err)
		cancel()
		n++
	}
	if n > 100 {
		t.Errorf("%d messages after the end", n)
	}
}

// chain builds the lines of a conversation in which each record follows the one before, a second later.
type chain struct {
	lines []string
	at    time.Time
}

func (c *chain) add(kind, uuid, content string) *chain {
	parent := "null"
	if n := len(c.lines); n > 0 {
		parent = strconv.Quote(storage.Object(c.lines[n-1]).Get("uuid").Text(0))
	}
	c.at = c.at.Add(time.Second)
	c.lines = append(c.lines, fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":%q,"message":{"content":%s},"uuid":%q,"timestamp":%q,"cwd":"/w"}`,
		parent, kind, content, uuid, c.at.UTC().Format(time.RFC3339Nano)))
	return c
}

// textsOf returns what the messages of a transcript say, the oldest first.
func textsOf(t *testing.T, lines []string) (texts []string) {
	t.Helper()
	messages, errs := messagesOf([]byte(strings.Join(lines, "\n") + "\n"))
	if len(errs) > 0 {
		t.Error(errs)
	}
	ids := map[string]bool{}
	for _, m := range slices.Backward(messages) {
		if texts = append(texts, m.Text); ids[m.ID] {
			t.Errorf("the ID %s comes twice", m.ID)
		}
		ids[m.ID] = true
	}
	return texts
}

// TestRecordsStoredAgain: each is shown once, where it was stored first, however far that is.
func TestRecordsStoredAgain(t *testing.T) {
	c := &chain{at: time.Unix(0, 0)}
	var want []string
	for i := range 100 {
		text := fmt.Sprint("words ", i)
		c.add([]string{"user", "assistant"}[i%2], fmt.Sprint("u", i), `[{"type":"text","text":"`+text+`"}]`)
		want = append(want, text)
	}
	l := c.lines
	for name, lines := range map[string][]string{
		"the beginning in the middle": slices.Concat(l[:60], l[:50], l[60:]),
		"the end again":               slices.Concat(l, l[90:]),
		"each twice":                  slices.Concat(l, l),
		"one many times":              slices.Concat(l[:7], l[6:7], l[6:7], l[6:]),
		"with white space":            slices.Concat(l[:50], strings.Split(strings.ReplaceAll(strings.Join(l[:50], "\n"), `":"`, `" : "`), "\n"), l[50:]),
	} {
		if got := textsOf(t, lines); !slices.Equal(got, want) {
			t.Errorf("%s: %d: %.200q", name, len(got), got)
		}
	}
}

// TestClocksSetBack: a record never comes before the one that it follows, also where others that are not shown are between them.
func TestClocksSetBack(t *testing.T) {
	c := &chain{at: time.Unix(1e9, 0)}
	var want []string
	for i := range 12 {
		if i == 5 || i == 9 {
			c.at = c.at.Add(-time.Hour)
			c.add("attachment", fmt.Sprint("a", i), `[]`)
		}
		c.add([]string{"user", "assistant"}[i%2], fmt.Sprint("u", i), fmt.Sprintf(`[{"type":"text","text":"%d"}]`, i))
		want = append(want, fmt.Sprint(i))
	}
	if got := textsOf(t, c.lines); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestKindsOfCalls: what the model's server runs is shown and searched like a tool, whatever it is called. Parts without content are not
// shown, and a prompt that is an image is one.
func TestKindsOfCalls(t *testing.T) {
	c := &chain{at: time.Unix(1e9, 0)}
	c.add("user", "u1", `[{"type":"image","source":{"type":"base64","data":"AAAA"}}]`).add("assistant", "a1", `[{"type":"text","text":""},{},
		{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"tides"}},
		{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://tides","title":"High","encrypted_content":"XX"}]},
		{"type":"image_generation","id":"ig_1","name":"draw","input":{"prompt":"a cat"}},{"type":"image_generation_result","tool_use_id":"ig_1","content":{"type":"draw_error","error_code":"no paint"}},
		{"type":"mcp_tool_use","id":"0","name":"remote","server_name":"s","input":{}},{"type":"mcp_tool_result","tool_use_id":"0","is_error":false,"content":[{"type":"text","text":"first"}]}]`).
		add("assistant", "a2", `[{"type":"tool_use","id":"0","name":"ToolSearch","input":{"query":"x"}}]`).
		add("user", "r2", `[{"type":"tool_result","tool_use_id":"0","content":[{"type":"tool_reference","tool_name":"Grep"}]}]`)
	for i := range c.lines {
		c.lines[i] = strings.ReplaceAll(c.lines[i], "\n", "")
	}
	messages, errs := messagesOf([]byte(strings.Join(c.lines, "\n") + "\n"))
	var got []string
	for _, m := range slices.Backward(messages) {
		if m.Tool == nil {
			got = append(got, string(m.Role)+" "+m.Text)
		} else {
			got = append(got, fmt.Sprint(m.Tool.Name, " ", string(m.Tool.Input), " ", m.Tool.State, " ", m.Tool.Output))
		}
	}
	want := []string{"user [image]", `web_search {"query":"tides"} done https://tides` + "\nHigh", `draw {"prompt":"a cat"} error no paint`, "remote {} done first", `ToolSearch {"query":"x"} done Grep`}
	if len(errs) > 0 || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, errs, want)
	}
}
