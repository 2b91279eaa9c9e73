package opencode

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover/native/fsread"
)

const lineStart = "timestamp=2026-11-20T19:26:37.928Z level=INFO run=e5f72788 "

func TestParseLogLine(t *testing.T) {
	const id = "ses_e0593310dffecX97Nvcf9s8a1P"
	for line, want := range map[string]struct {
		session string
		over    bool
	}{
		lineStart + "message=loop session.id=" + id + " step=0":                                                {id, false},
		strings.Replace(lineStart, "INFO", "ERROR", 1) + `message=process session.id=` + id + ` error=Aborted`: {id, true},
		lineStart + `message=process session.id=` + id:                                                         {id, false},
		lineStart + `message="exiting loop" session.id=` + id:                                                  {id, true},
		lineStart + "message=cancel session.id=" + id:                                                          {id, true},
		lineStart + "message=created id=" + id + ` slug=x parentID=undefined title="t"`:                        {id, false},
		lineStart + "message=asking id=" + id:                                                                  {"", false},
		lineStart + "message=created id=per_1 parentID=" + id:                                                  {"", false},
		lineStart + `message=x title="a session.id=` + id + ` b"`:                                              {"", false},
		lineStart + `message=x error="a \" session.id=` + id + `" step=1`:                                      {"", false},
		lineStart + `message="session.id=` + id + ``:                                                           {"", false},
		lineStart + "message=loop session.id=../../etc step=0":                                                 {"", false},
		"    at run (session.id=" + id + ")":                                                                   {"", false},
		`{"run":"e5f72788","session.id":"` + id + `"}`:                                                         {"", false},
		lineStart + "message=stream providerID=anthropic session.id=" + id + " small=false agent=x":            {id, false},
	} {
		got := parseLogLine([]byte(line))
		if got.session != want.session || got.ended != want.over {
			t.Errorf("%s\ngot %+v", line, got)
		}
		if strings.HasPrefix(line, lineStart) && want.session != "" && got.run != "e5f72788" {
			t.Errorf("%s\nrun %q", line, got.run)
		}
	}
}

// The run of a process is in the last line before its offset that names a run. Later lines are of other processes.
func TestLastRun(t *testing.T) {
	first := lineStart + "message=init\n    at a stack trace\n    of two lines\n"
	log := fsread.NewMemoryFile("log", []byte(first+strings.ReplaceAll(lineStart, "e5f72788", "bbbbbbbb")+"message=init\n"), at(t, "19:26:37"))
	if run, _, err := lastRun(log, int64(len(first))); run != "e5f72788" || err != nil {
		t.Errorf("got %q, %v", run, err)
	}
	if run, _, err := lastRun(log, log.Size()); run != "bbbbbbbb" || err != nil {
		t.Errorf("got %q, %v", run, err)
	}
	if run, _, err := lastRun(log, log.Size()+99); run != "bbbbbbbb" || err != nil {
		t.Errorf("beyond the end: %q, %v", run, err)
	}
}

// While the API refuses requests, each attempt and each error is a line (SEEN 1.18.33). Errors about the title do not count.
func TestLogEventsOfAnError(t *testing.T) {
	const id = "ses_e05979612ffe415jjjvmTetWgF"
	line := func(second int, text string) string {
		return fmt.Sprintf("timestamp=2026-11-20T19:26:%02dZ level=INFO run=e5f72788 message=%s session.id=%s", second, text, id)
	}
	attempt := func(second int, small bool) string {
		return line(second, "stream providerID=anthropic") + fmt.Sprintf(" small=%v agent=build\n", small)
	}
	refused := func(second int, small bool, words string) string {
		return line(second, `"stream error" providerID=anthropic`) + fmt.Sprintf(" small=%v agent=build error.error=%q\n", small, words)
	}
	const limit = `AI_APICallError: "slow" down: 429`
	for name, test := range map[string]struct{ log, want string }{
		"refused":             {attempt(1, false) + refused(2, false, limit), `"slow" down: 429`},
		"asked again":         {attempt(1, false) + refused(2, false, limit) + attempt(3, false), ""},
		"refused again":       {refused(2, false, "one: 1") + attempt(3, false) + refused(4, false, "no kind here: 2"), "no kind here: 2"},
		"the title, too":      {refused(2, false, limit) + attempt(3, true) + refused(4, true, "E: of the title"), `"slow" down: 429`},
		"the title alone":     {attempt(1, false) + refused(2, true, "E: of the title"), ""},
		"lines out of order":  {refused(4, false, "E: later") + attempt(3, false), "later"},
		"the end of the turn": {refused(2, false, limit) + line(3, `"exiting loop"`) + "\n", ""},
	} {
		got, _, err := readLogEvents(fsread.NewMemoryFile("log", []byte(test.log), at(t, "19:27:00")), map[string]time.Time{"e5f72788": at(t, "19:26:00")})
		if m := got["e5f72788"][id]; err != nil || m.retryError != test.want || m.ended != (name == "the end of the turn") {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

func TestProcessLogSession(t *testing.T) {
	const id = "ses_e05979612ffe415jjjmvTetWgF"
	for line, want := range map[string]string{
		"INFO  2026-11-20T19:21:49 +2ms service=session id=" + id + " slug=swift-knight title=x":  id,
		"INFO  2026-11-20T19:21:49 +2ms service=session.prompt step=0 sessionID=" + id + " loop":  id,
		"INFO  2026-11-20T19:21:49 +2ms service=session.prompt sessionID=" + id + " exiting loop": id,
		"INFO  2026-11-20T19:21:49 +2ms service=session slug=a title=x id=" + id:                  "",
		"INFO  2026-11-20T19:21:49 +2ms service=llm title=ms service=session id=ses_../x":         "",
		"INFO  2026-11-20T19:21:49 +2ms service=server path=/session/" + id + "/message":          "",
		"INFO  2026-11-20T19:21:49 +2ms service=session":                                          "",
	} {
		if got := processLogSession([]byte(line)); got != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}

func TestParseStart(t *testing.T) {
	line := []byte(`INFO  2026-11-20T19:21:49 +327ms service=default version=1.14.41 args=["run","a \"b\""] process_role=main opencode`)
	version, v, ok := parseStart(line)
	if !ok || version.String() != "1.14.41" || !slices.Equal(v, []string{"run", `a "b"`}) {
		t.Errorf("%s, %v", v, ok)
	}
}

func FuzzLogLine(f *testing.F) {
	f.Add(lineStart + "message=loop session.id=ses_e0593310dffecX97Nvcf9s8a1P step=0")
	f.Add(lineStart + `message="a\"`)
	f.Add("timestamp==")
	f.Fuzz(func(t *testing.T, line string) {
		got := parseLogLine([]byte(line))
		if got.session != "" && (!isSessionID(got.session) || !strings.Contains(line, "="+got.session) && !strings.Contains(line, `="`+got.session)) {
			t.Errorf("%q: session %q", line, got.session)
		}
		// A quoted text has no fields.
		quoted := parseLogLine([]byte(lineStart + `title="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(line) + `" session.id=ses_1`))
		if quoted.session != "ses_1" && !strings.Contains(line, "\n") {
			t.Errorf("%q in quotes: %+v", line, quoted)
		}
		_ = processLogSession([]byte(line))
	})
}

func FuzzProcessLog(f *testing.F) {
	f.Add([]byte("INFO  2026-11-20T19:21:49 +2ms service=session id=ses_1 x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var whole, torn processLogs
		err := whole.read(fsread.NewMemoryFile("log", data, at(t, "19:00:00")), nil)
		if err != nil {
			t.Fatal(err)
		}
		// A torn last line changes nothing before it.
		err = torn.read(fsread.NewMemoryFile("log", append(data, "\nINFO  x +2ms service=session id=ses_torn"...), at(t, "19:00:00")), nil)
		if err != nil || slices.Contains(torn.sessions, "ses_torn") && !slices.Contains(whole.sessions, "ses_torn") && !strings.Contains(string(data), "ses_torn") {
			t.Errorf("%v, %v, %v", whole, torn, err)
		}
	})
}
