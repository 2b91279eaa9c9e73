package launch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/tests/must"
)

func TestCheckMessage(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\nc\r\n\n":                "",
		"日本語 \U0001f600 \u202e \ufffd": "",
		strings.Repeat("x", 1<<20):     "",
		"":                             "empty",
		" \n\t":                        "empty",
		strings.Repeat("x", 1<<20+1):   "1048577 bytes",
		"a\x1b[2J":                     "control character U+001B at offset 1",
		"a\r\nb":                       "control character U+000D at offset 1",
		"ab\x00":                       "control character U+0000 at offset 2",
		"\x7f":                         "U+007F",
		"\u009b":                       "U+009B",
		"a\xff":                        "not UTF-8 text at offset 1",
	} {
		got, err := CheckMessage(text)
		switch {
		case want == "" && (err != nil || got != strings.TrimRight(text, "\r\n")):
			t.Errorf("%.20q: %.20q, %v", text, got, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func TestTheEnvironmentHasNoMarkersOfAgents(t *testing.T) {
	h := NewEnvironment([]string{"A=1", "PUPPET=x", "PUPPET_MARK_PID=3", "PUPPET_HOME=/h", "A=2"}, []discover.Adapter{puppets{}}, "B=3", "PUPPET=mine")
	if want := []string{"A=1", "PUPPET_HOME=/h", "A=2", "B=3", "PUPPET=mine"}; !slices.Equal(h.Environ, want) {
		t.Errorf("%q", h.Environ)
	}
	if h.Getenv("A") != "2" || h.Getenv("PUPPET") != "mine" || h.Getenv("C") != "" {
		t.Errorf("%q", h.Environ)
	}
}

func TestLookPath(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	for path, mode := range map[string]fs.FileMode{one + "/agent": 0o644, two + "/agent": 0o755, two + "/other": 0o755} {
		must.Do(t, os.WriteFile(path, nil, mode))
	}
	must.Do(t, os.Mkdir(one+"/other", 0o755))
	h := Environment{[]string{"PATH=" + one + "::" + two}}
	for _, name := range []string{"agent", "other"} {
		if path, err := h.LookPath(name); err != nil || path != filepath.Join(two, name) {
			t.Errorf("%s: %s, %v", name, path, err)
		}
	}
	if _, err := h.LookPath("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestStartFails(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(dir+"/broken", []byte("nonsense"), 0o755))
	for _, spec := range []Spec{
		{Args: []string{dir + "/missing"}, Dir: dir},
		{Args: []string{dir + "/broken"}, Dir: dir},
		{Args: []string{self()}, Dir: dir + "/missing"},
	} {
		if c, err := (&Plan{Spec: spec, Environment: Environment{os.Environ()}}).Execute(""); err == nil {
			t.Errorf("%q has started", spec.Args)
			_ = c.KillTree(context.Background())
		}
	}
	if _, err := (&Plan{Spec: Spec{Args: []string{self()}, Dir: dir}}).Execute(dir); err == nil {
		t.Error("a directory was taken for an output file")
	}
}

// Of an endless output the beginning and the end are read.
func TestOutputIsBounded(t *testing.T) {
	f, err := AnonymousFile("test")
	must.Do(t, err)
	defer f.Close()
	if _, err := f.WriteString("first\n" + strings.Repeat("x", 3<<20) + "\nlast\n"); err != nil {
		t.Fatal(err)
	}
	got := string(outputFile{file: f}.read())
	if len(got) != headLimit+tailLimit || !strings.HasPrefix(got, "first\n") || !strings.HasSuffix(got, "\nlast\n") {
		t.Errorf("%d bytes", len(got))
	}
}

// The session went on with the answer only if it does not wait any more, and if what its transcript has of the call agrees.
func TestJudgeAnswer(t *testing.T) {
	waiting := func(call string) discover.Session {
		return discover.Session{Record: &discover.Record{}, Status: discover.Waiting, WaitingOn: &discover.WaitingOn{ID: call}}
	}
	running, stopped := discover.Session{Record: &discover.Record{}, Status: discover.Running}, discover.Session{Record: &discover.Record{}, Status: discover.Stopped}
	yes, no, text := Reply{Kind: ReplyYes}, Reply{Kind: ReplyNo}, Reply{Kind: ReplyText, Answers: [][]string{{"the second"}}}
	call := func(state discover.ToolState, output string) *discover.ToolCall {
		return &discover.ToolCall{ID: "c", State: state, Output: output}
	}
	for name, c := range map[string]struct {
		session discover.Session
		reply   Reply
		call    *discover.ToolCall
		want    Answered
	}{
		"it still waits":                       {waiting("c"), yes, call(discover.ToolWaiting, ""), NotSeen},
		"it waits on another call":             {waiting("d"), yes, nil, WentOn},
		"the command runs":                     {running, yes, call(discover.ToolRunning, ""), WentOn},
		"a sub-agent's command runs":           {running, yes, nil, WentOn},
		"the command has failed":               {running, yes, call(discover.ToolFailed, "exit code 1"), WentOn},
		"the terminal refused it":              {running, yes, call(discover.ToolRefused, ""), Contradicted},
		"refused":                              {running, no, call(discover.ToolRefused, ""), WentOn},
		"the refusal is not stored yet":        {running, no, call(discover.ToolRunning, ""), NotSeen},
		"the terminal allowed it":              {running, no, call(discover.ToolDone, "ok"), Contradicted},
		"a sub-agent's call is refused":        {running, no, nil, WentOn},
		"a question":                           {running, text, call(discover.ToolDone, `{"answers":["the second"]}`), WentOn},
		"a question, answered in the terminal": {running, text, call(discover.ToolDone, `{"answers":["the first"]}`), Contradicted},
		"killed":                               {stopped, yes, call(discover.ToolInterrupted, ""), Ended},
		"killed, and nothing is stored":        {stopped, yes, nil, Ended},
		"ended after the command":              {stopped, yes, call(discover.ToolDone, "ok"), WentOn},
	} {
		if got := judgeAnswer(c.session, OpenRequest{ID: "r", Call: "c"}, c.reply, c.call); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A request is picked by its own ID or its call's; without one, only if it is the only one.
func TestPick(t *testing.T) {
	one := []OpenRequest{{ID: "r1", Call: "c1"}}
	two := append(one, OpenRequest{ID: "r2"})
	for _, c := range []struct {
		open []OpenRequest
		id   string
		want string
		err  error
	}{
		{one, "", "r1", nil},
		{two, "r2", "r2", nil},
		{two, "c1", "r1", nil},
		{two, "", "", ErrSeveral},
		{one, "r2", "", ErrAnswered},
		{nil, "", "", ErrAnswered},
	} {
		if got, err := Pick(c.open, c.id); got.ID != c.want || !errors.Is(err, c.err) {
			t.Errorf("%d open, %q: %q, %v", len(c.open), c.id, got.ID, err)
		}
	}
}
