package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/claudecode/transcript"
	"agentctl/proc"
)

// TestResumeMeta: the permission mode and the project's directory are those of the newest record that has them, however old
// it is. Sub-agents' records do not count.
func TestResumeMeta(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".claude")
	path := transcriptPath(dir, "/w/my repo", alive)
	prompt := func(minute int, mode, cwd string, sidechain bool) string {
		return fmt.Sprintf(`{"parentUuid":"p","isSidechain":%v,"type":"user","message":{"role":"user","content":"hi"},`+
			`"timestamp":"2026-01-01T00:%02d:00.000Z","permissionMode":"%s","cwd":"%s"}`+"\n", sidechain, minute, mode, cwd)
	}
	note := `{"type":"permission-mode","permissionMode":"plan","sessionId":"` + alive + `"}` + "\n"
	answers := strings.Repeat(`{"isSidechain":false,"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"`+
		strings.Repeat("x", 1000)+`"}],"stop_reason":"end_turn"},"timestamp":"2026-01-01T00:09:00.000Z","cwd":"/w/other"}`+"\n", 40)
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	for _, test := range []struct{ text, mode, dir string }{
		{prompt(1, "default", "/w/my repo", false), "default", ""},
		{prompt(1, "default", "/w/my repo", false) + prompt(2, "acceptEdits", "/w/my repo/sub", false), "acceptEdits", "/w/my repo"},
		{prompt(1, "auto", "/w/my repo", false) + prompt(2, "bypassPermissions", "/w/my repo", true), "auto", ""},
		{prompt(1, "default", "/w/my repo", false) + note, "plan", ""},
		{prompt(1, "acceptEdits", "/w/my_repo", false) + answers, "acceptEdits", "/w/my_repo"}, // beyond a quick look
		{prompt(1, "default", "/w/elsewhere", false), "default", ""},
	} {
		must(t, os.WriteFile(path, []byte(test.text), 0o600))
		got, warned := records(t, dir, discover.EntryFilter{}, discover.ReadOptions{Full: true})
		if len(got) != 1 || len(warned) > 0 {
			t.Fatalf("%d records, %v", len(got), warned)
		}
		mode, _ := got[0].Meta.Get(modeMeta).(string)
		if project, _ := got[0].Meta.Get(dirMeta).(string); mode != test.mode || project != test.dir {
			t.Errorf("%.400s\nmode %q, directory %q", test.text, mode, project)
		}
	}
}

// TestTurnStart: a turn begins with the newest prompt, though answers and Claude Code's own records follow it.
func TestTurnStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".claude")
	path := transcriptPath(dir, "/w", alive)
	record := func(second int, kind, message, rest string) string {
		return fmt.Sprintf(`{"parentUuid":"p","isSidechain":false,"type":"%s","message":%s,"timestamp":"2026-01-01T00:00:%02d.000Z"%s,"cwd":"/w"}`+"\n",
			kind, message, second, rest)
	}
	user := func(second int, content, rest string) string {
		return record(second, "user", `{"role":"user","content":`+content+`}`, rest)
	}
	const mode = `,"permissionMode":"default"`
	answer := record(5, "assistant", `{"model":"m","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn"}`, "")
	call := record(6, "assistant", `{"model":"m","content":[{"type":"tool_use","id":"t","name":"Bash"}],"stop_reason":"tool_use"}`, "")
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	for text, want := range map[string]int{
		user(1, `"one"`, mode): 1,
		user(1, `"one"`, mode) + answer + user(7, `"two"`, mode):                                                    7,
		user(1, `"one"`, mode) + answer:                                                                             1,
		user(1, `"one"`, mode) + call + user(7, `[{"type":"tool_result","tool_use_id":"t"}]`, ""):                   1,
		user(1, `"one"`, mode) + user(8, `"[Request interrupted by user]"`, ""):                                     1,
		user(1, `"one"`, mode) + answer + user(8, `"<local-command-stdout>x</local-command-stdout>"`, ""):           1,
		user(1, `"one"`, mode) + answer + user(8, `"a caveat"`, `,"isMeta":true`+mode):                              1,
		user(1, `"one"`, mode) + answer + user(9, `"of a peer"`, `,"isMeta":true,"origin":{"kind":"peer"}`+mode):    9,
		user(1, `"one"`, mode) + call + user(7, `[{"type":"tool_result","tool_use_id":"t"}]`, "") + answer + answer: 1,
	} {
		must(t, os.WriteFile(path, []byte(text), 0o600))
		got, _ := records(t, dir, discover.EntryFilter{}, discover.ReadOptions{})
		if began := time.Date(2026, 1, 1, 0, 0, want, 0, time.UTC); len(got) != 1 || !got[0].Turn.Began.Equal(began) {
			t.Errorf("%s\nbegan %v, want %v", text, got[0].Turn.Began, began)
		}
	}
}

// TestTurnStartOfALongTurn: the start of a turn of any length is found, but only if it is asked for.
func TestTurnStartOfALongTurn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".claude")
	path := transcriptPath(dir, "/w", alive)
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	record := func(second int, kind, content string) string {
		return fmt.Sprintf(`{"parentUuid":"p","isSidechain":false,"type":"%s","message":{"role":"%s","model":"m","content":%s,"stop_reason":"end_turn"},"timestamp":"2026-01-01T00:00:%02d.000Z","cwd":"/w"}`+"\n", kind, kind, content, second)
	}
	const part = 64 << 10
	for _, length := range []int{2 * part, 2 * transcript.TurnReach} {
		answer := `[{"type":"text","text":"` + strings.Repeat("a", part) + `"}]`
		text := record(1, "user", `"one"`) + record(2, "assistant", answer) + record(3, "user", `"two"`) +
			strings.Repeat(record(4, "assistant", answer), length/part)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		for want, second := range map[discover.ReadOptions]int{{}: 0, {TurnStart: true}: 3} {
			got, _ := records(t, dir, discover.EntryFilter{}, want)
			if len(got) != 1 || got[0].Turn.State != discover.TurnDone || got[0].Turn.Began.IsZero() != (second == 0) ||
				second > 0 && got[0].Turn.Began.Second() != second {
				t.Errorf("%d bytes, %+v: %+v", length, want, got[0].Turn)
			}
		}
	}
}

// TestHasMarker: a process has a session's marker by the session's ID, or by the PID of the session's process if that
// started earlier.
func TestHasMarker(t *testing.T) {
	claude, _ := proc.NewFakeTable(native329(100, 1000, "/h", "/w")).ByPID(100)
	session := discover.Session{Record: &discover.Record{ID: alive}, Processes: []proc.Process{claude}}
	for _, test := range []struct {
		env   map[string]string
		ticks uint64
		want  bool
	}{
		{map[string]string{markerKey: "1", sessionKey: alive}, 2000, true},
		{map[string]string{markerKey: "1", sessionKey: alive}, 500, true}, // of an earlier run
		{map[string]string{sessionKey: alive}, 2000, false},               // a person may have exported it
		{map[string]string{markerKey: "1", sessionKey: strings.Replace(alive, "c", "d", 1)}, 2000, false},
		{map[string]string{markerKey: "1", pidKey: "100"}, 2000, true},
		{map[string]string{markerKey: "1", pidKey: "100"}, 500, false},
		{map[string]string{markerKey: "1", pidKey: "101"}, 2000, false},
		{map[string]string{markerKey: "1"}, 2000, false},
		{nil, 2000, false},
	} {
		tool := process0(200, test.ticks, "/h", "/w")
		tool.Environ = test.env
		p, _ := proc.NewFakeTable(tool).ByPID(200)
		if got := New().HasMarker(p, session); got != test.want {
			t.Errorf("%v at %d: %v", test.env, test.ticks, got)
		}
	}
}
