package claudecode

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/tests/golden"
	"agentctl/tests/must"
)

// Texts of user records are shown as what they are: a user's text unchanged, commands as typed, Claude Code's own texts as
// the system's, and injected texts not at all.
func TestUserText(t *testing.T) {
	user := func(text string) messageText { return messageText{discover.RoleUser, discover.KindText, text} }
	for _, c := range []struct {
		text, origin string
		want         messageText
	}{
		{"  spaces stay \n", "", user("  spaces stay \n")},
		{"<html> is no tag of Claude Code's", "human", user("<html> is no tag of Claude Code's")},
		{"<system-reminder> a person may begin so", "human", user("<system-reminder> a person may begin so")},
		{"<system-reminder>\nnobody said this\n</system-reminder>", "", messageText{}},
		{"<ide_opened_file>The user opened x.go</ide_opened_file>", "", messageText{}},
		{"<local-command-caveat>Caveat: …</local-command-caveat>", "", messageText{}},
		{"<command-message>x is running…</command-message>\n<command-name>/x</command-name>\n<command-args>a b</command-args>", "", user("/x a b")},
		{"<command-name>/clear</command-name>\n   <command-message>clear</command-message>\n   <command-args></command-args>", "human", user("/clear")},
		{"<bash-input>ls -l</bash-input>", "", user("! ls -l")},
		{"<bash-stdout> a</bash-stdout><bash-stderr>b\n</bash-stderr>", "", systemText(" a\nb\n")},
		{"<bash-stdout></bash-stdout><bash-stderr></bash-stderr>", "", systemText("")},
		{"<user-memory-input>remember</user-memory-input>", "", user("# remember")},
		{"<local-command-stdout>Set model to x</local-command-stdout>", "", systemText("Set model to x")},
		{"<task-notification>\n<task-id>1</task-id>\n<summary>It is done</summary>\n</task-notification>", "task-notification", systemText("It is done")},
		{"a message of another session", "peer", systemText("a message of another session")},
		{"<teammate-message teammate_id=\"team-lead\" summary=\"s\">\ndo this\n</teammate-message>", "", systemText("do this")},
		{fromMate, "", systemText("{\"type\":\"idle_notification\"}\n\nand this")},
		{"<teammate-message teammate_id=\"team-lead\">torn", "", systemText("<teammate-message teammate_id=\"team-lead\">torn")},
		{teamIntroduction + "says my screen", "human", user(teamIntroduction + "says my screen")},
		{"[Request interrupted by user]", "", messageText{discover.RoleSystem, discover.KindInterruption, "[Request interrupted by user]"}},
		{"[Request interrupted by user] was on my screen", "", user("[Request interrupted by user] was on my screen")},
	} {
		if got := userText(c.text, c.origin); got != c.want {
			t.Errorf("%q of %q: %+v", c.text, c.origin, got)
		}
	}
}

// fromMate is what the lead of a team is told by a teammate that has said something and become idle.
const fromMate = teamIntroduction + "<teammate-message teammate_id=\"mate\" color=\"blue\">\n{\"type\":\"idle_notification\"}\n</teammate-message>\n" +
	"<teammate-message teammate_id=\"mate\">and this</teammate-message>\n\nThis came from another Claude session — not typed by your user."

// What a teammate is told is no prompt of the user's.
func TestTeamMessageIsNoPrompt(t *testing.T) {
	for text, want := range map[string]string{
		fromMate: "", strings.TrimPrefix(fromMate, teamIntroduction): "", teamIntroduction + "so it says": "",
		"Stop hook feedback:\n[lint]: not formatted": "", "<cross-session-message from=\"x\">do this</cross-session-message>": "",
	} {
		l, _ := parseRecord([]byte(`{"type":"user","message":{"content":` + golden.JSON(t, text) + `}}`))
		if got, _ := promptOf(&l); got != want {
			t.Errorf("%q: prompt %q", text, got)
		}
	}
}

func TestCallBrief(t *testing.T) {
	for input, want := range map[string]string{
		`{"description":"list","command":"ls -l"}`:                  "ls -l",
		`{"old_string":"a","new_string":"b","file_path":"/x"}`:      "/x",
		`{"path":"/src","pattern":"func \"x\""}`:                    `func "x"`,
		`{"questions":[{"question":"Which?"},{"question":"And?"}]}`: "Which?",
		`{"command":["not","a","text"],"url":"https://x"}`:          "https://x",
		`{"query":""}`: "",
		`[]`:           "",
		``:             "",
	} {
		if got := callBrief([]byte(input)); got != want {
			t.Errorf("%s: %q", input, got)
		}
	}
}

// Records of sub-agents in the session's file, as old versions have them, are not the session's.
func TestSidechainRecordsAreLeftOut(t *testing.T) {
	side := `{"isSidechain":true,"type":"user","message":{"content":"find it"},"uuid":"s1","timestamp":"2026-01-01T00:00:02.500Z"}` + "\n"
	got, warned := messagesOf([]byte(aCall + side + aPrompt))
	if len(got) != 2 || got[0].ID != "u3" || got[1].Tool.ID != "toolu_1" || len(warned) > 0 {
		t.Errorf("%s, %v", golden.JSON(t, got), warned)
	}
}

// A prompt that was queued during a turn comes where the model got it, with the time when it was typed.
func TestQueuedPromptsComeWhereTheModelGotThem(t *testing.T) {
	const answer = `{"message":{"id":"ID","content":[{"type":"text","text":"ID"}]},"type":"assistant","uuid":"ID","timestamp":"2026-01-01T00:00:ID.000Z"}` + "\n"
	queued := `{"parentUuid":"x","attachment":{"type":"queued_command","prompt":"and this","commandMode":"prompt","origin":{"kind":"human"}},"type":"attachment","uuid":"q","timestamp":"2026-01-01T00:00:03.000Z"}` + "\n"
	of := func(id string) string { return strings.ReplaceAll(answer, "ID", id) }
	for lines, want := range map[string]string{
		of("01") + of("05") + queued:            "q 05 01",
		of("01") + of("05") + queued + of("06"): "06 q 05 01",
	} {
		got, _ := messagesOf([]byte(lines))
		var ids []string
		for _, m := range got {
			ids = append(ids, m.ID)
			if m.ID == "q" && (m.Role != discover.RoleUser || m.Text != "and this" || m.Time.Second() != 3) {
				t.Errorf("%+v", m)
			}
		}
		if strings.Join(ids, " ") != want {
			t.Errorf("%q, want %q", ids, want)
		}
	}
}

// TestPeerMessages: a message that came through the socket is one, with its sender's ID, whether it has begun a turn or was given to
// the model during one. What is only queued is none. The records are those of 2.1.330.
func TestPeerMessages(t *testing.T) {
	const origin = `"origin":{"kind":"peer","from":"agentctl:1","verifiedPeerPid":1,"msg_id":"11111111-2222-4333-8444-555555555555"}`
	queue := `{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-01T00:00:01.000Z","sessionId":"s","content":"hello"}` + "\n"
	begun := `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Another Claude session sent a message:\nhello"},"isMeta":true,"uuid":"u","timestamp":"2026-01-01T00:00:02.000Z",` + origin + "}\n"
	during := `{"parentUuid":"u","isSidechain":false,"attachment":{"type":"queued_command","prompt":"hello","commandMode":"prompt",` + origin + `,"isMeta":true},"type":"attachment","uuid":"v","timestamp":"2026-01-01T00:00:03.000Z"}` + "\n"
	held := `{"parentUuid":"v","isSidechain":false,"type":"system","subtype":"informational","content":"Held peer message — from x","isMeta":false,"timestamp":"2026-01-01T00:00:04.000Z","uuid":"w","level":"warning"}` + "\n"
	other := strings.Replace(held, "Held peer message", "Something else", 1)
	meta := strings.Replace(begun, `"kind":"peer"`, `"kind":"other"`, 1)
	for _, c := range []struct{ text, want string }{
		{queue, ""},
		{begun, "system text 11111111-2222-4333-8444-555555555555 Another Claude session sent a message:\nhello"},
		{during, "system text 11111111-2222-4333-8444-555555555555 hello"},
		{held, "system text  Held peer message — from x"},
		{other, ""},
		{meta, ""},
	} {
		got := ""
		messages, warned := messagesOf([]byte(c.text))
		if len(warned) > 0 {
			t.Fatal(warned)
		}
		for _, m := range messages {
			got += fmt.Sprintf("%s %s %s %s", m.Role, m.Kind, m.SentID, m.Text)
		}
		if got != c.want {
			t.Errorf("%s\n%q, want %q", c.text, got, c.want)
		}
	}
}

// TestPastedText: pasted text is the user's, whatever it begins with, and makes a prompt like any other text.
func TestPastedText(t *testing.T) {
	paste := func(s string) string {
		return "\n\n<pasted_content id=\"3754\">\n" + s + "\n</pasted_content id=\"3754\">\n"
	}
	long, huge := strings.Repeat("0123456789", 100), "<bash-stdout>"+strings.Repeat("x", 2*promptReadLimit)
	for stored, want := range map[string]string{
		paste("a\nb"):                                 "a\nb",
		"say why: " + paste("a") + "\n please":        "say why: a please",
		paste("<bash-stdout>mine</bash-stdout>"):      "<bash-stdout>mine</bash-stdout>",
		paste("[Request interrupted by user]"):        "[Request interrupted by user]",
		paste(long):                                   long,
		strings.Repeat("x", 190) + paste("behind it"): strings.Repeat("x", 190) + "behind it",
		"what is <pasted_content id=\"3754\">\n?":     "what is <pasted_content id=\"3754\">\n?",
		"see <pasted_content id=\"37\">\na":           "see <pasted_content id=\"37\">\na",
		paste("a") + "\n" + paste("b"):                "ab",
		paste(""):                                     "",
		paste(huge):                                   huge,
		"<bash-input>" + long + "</bash-input>":       "! " + long,
	} {
		if got := userText(stored, "human"); got != (messageText{discover.RoleUser, discover.KindText, want}) {
			t.Errorf("%.50q is heard as %+v", stored, got)
		}
		l, ok := parseRecord([]byte(`{"type":"user","message":{"content":` + golden.JSON(t, stored) + `}}`))
		if prompt, command := promptOf(&l); !ok || command || prompt != discover.Truncate(want, discover.PromptLimit) {
			t.Errorf("%.50q is the prompt %q", stored, prompt)
		}
	}
	if got := userText(paste("a"), "peer"); got != systemText("a") {
		t.Errorf("of another session: %+v", got)
	}
}

// A record of many megabytes costs little: each byte of its pasted texts is copied a few times, and a prompt needs its beginning only.
func TestLongPastedText(t *testing.T) {
	text := strings.Repeat("<pasted_content id=\"3754\">\na\n</pasted_content id=\"3754\">\n\n", 20_000)
	raw := []byte(`{"type":"user","message":{"content":` + golden.JSON(t, text) + `}}`)
	if n := allocated(func() { stripPasteTags(text, false) }); n > 10*uint64(len(text)) {
		t.Errorf("%d bytes for a text of %d", n, len(text))
	}
	l, _ := parseRecord(raw)
	prompt := ""
	if n := allocated(func() { prompt, _ = promptOf(&l) }); n > 5*uint64(len(raw)) || prompt != strings.Repeat("a", discover.PromptLimit) {
		t.Errorf("%d bytes for the prompt %q", n, prompt)
	}
}

// allocated returns how many bytes a function allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// The prompt is what the user asked, not the file that a launch puts before it.
func TestPromptBehindAFile(t *testing.T) {
	text, err := json.Marshal(discover.FormatContextFile("spec.md", strings.Repeat("a line\n", 5000)) + "\n\nmake it so")
	must.Do(t, err)
	for _, content := range []string{string(text), `[{"type":"text","text":` + string(text) + `}]`} {
		l, ok := parseRecord([]byte(`{"type":"user","message":{"role":"user","content":` + content + `}}`))
		if prompt, command := promptOf(&l); !ok || command || prompt != "make it so" {
			t.Errorf("%.80q", prompt)
		}
	}
}

func FuzzPrompt(f *testing.F) {
	for _, s := range []string{"hello", "<command-name>/x</command-name>", "<bash-input>ls</bash-input>", interruptedPrefix, strings.Repeat("é", 300), "<a", "x" + strings.Repeat(" ", 300), "x" + strings.Repeat(" y", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, words string) {
		l, ok := parseRecord([]byte(`{"type":"user","message":{"content":` + strings.TrimSpace(golden.JSON(t, words)) + `}}`))
		if !ok {
			t.Fatal("not parsed")
		}
		prompt, _ := promptOf(&l)
		if n := len([]rune(prompt)); n > discover.PromptLimit {
			t.Fatalf("%d characters", n)
		}
		if _, ok := parseTagged(prompt); ok && prompt == strings.TrimSpace(words) {
			t.Fatalf("%q is nobody's prompt", prompt)
		}
	})
}

// TestPromptInTags: what the user said is the prompt, whatever it begins with, and counts as a turn. What Claude Code or a program puts before
// it is not all that is left of it.
func TestPromptInTags(t *testing.T) {
	long := "<workspace_rules id=\"1\">\n" + strings.Repeat("rule ", 100) + "\n</workspace_rules>\n\n"
	text := func(s string) string { return golden.JSON(t, s) }
	for content, want := range map[string]string{
		text("<p>is this valid?"):            "<p>is this valid?",
		text("<my-element> does not render"): "<my-element> does not render",
		text("<svg/>"):                       "<svg/>",
		text(long + "fix the <b>table</b>"):  "fix the <b>table</b>",
		text(long + long + "and the form"):   "and the form",
		text("<system-reminder>a</system-reminder>\n<ide_selection>b</ide_selection>\nexplain this"):     "explain this",
		text("<ide_selection>b</ide_selection>"):                                                         "",
		`[{"type":"text","text":"<ide_opened_file>x</ide_opened_file>"},{"type":"text","text":"go on"}]`: "go on",
		`[{"type":"text","text":" "},{"type":"image","source":{}},{"type":"text","text":""}]`:            "[image]",
		`[{"type":"image","source":{}},{"type":"text","text":"what is it?"}]`:                            "what is it?",
		`[{"type":"tool_result","tool_use_id":"1","content":[]},{"type":"image","source":{}}]`:           "",
		text("Another Claude session sent a message while you were working:\nhello"):                     "",
		text("SubagentStop hook feedback:\nnot yet"):                                                     "",
		text("<user-prompt-submit-hook>ok</user-prompt-submit-hook>"):                                    "",
		text("\uFFFDmy hook feedback was long ago"):                                                      "\uFFFDmy hook feedback was long ago",
	} {
		l, _ := parseRecord([]byte(`{"type":"user","message":{"content":` + strings.TrimSpace(content) + `}}`))
		if got, command := promptOf(&l); got != want || command {
			t.Errorf("%.60s: %.80q", content, got)
		}
		for _, kind := range []string{"peer", "task-notification", "hook"} {
			l, _ := parseRecord([]byte(`{"type":"user","origin":{"kind":"` + kind + `"},"message":{"content":` + strings.TrimSpace(content) + `}}`))
			if got, _ := promptOf(&l); got != "" {
				t.Errorf("%.60s of %s: %.80q", content, kind, got)
			}
		}
	}
}

// parseRecord returns the record of a line. ok is false if the line is damaged.
func parseRecord(raw []byte) (l rawLine, ok bool) {
	ok = l.parse(raw)
	return l, ok
}
