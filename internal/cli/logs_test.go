package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
)

// peeked runs a command line and returns what it prints and how it ends.
func peeked(t *testing.T, env Env, out *Output, words string) (stdout, stderr string, exit int) {
	out.Stdout.Reset()
	out.Stderr.Reset()
	exit = Run(t.Context(), env, strings.Fields(words)...)
	return out.Stdout.String(), out.Stderr.String(), exit
}

// The example in docs/json.md is what a session that waits looks like.
func TestPeekAsJSON(t *testing.T) {
	f, out := WithMessages(t)
	s := f.Adapters[1].(Stub)
	s.Transcripts["aaaaaaaa-1"] = []discover.Message{
		Text("610b…", discover.RoleUser, "make the tests pass", 0), Pending("toolu_01", "npm test", -4120*time.Millisecond),
	}
	s.ClaimList[1].Turn = &discover.Turn{State: discover.TurnWaiting, WaitingFor: "permission"}
	stdout, stderr, exit := peeked(t, f, out, "peek aaaaaaaa-1 --json")
	if exit != 0 || stderr != "" || !strings.Contains(Doc(t, "json.md"), "```json messages\n"+stdout+"```\n") {
		t.Errorf("exit %d, the document has something else than\n%s%s", exit, stdout, stderr)
	}
	CheckSchema(t, "messages", stdout)
	if stdout, _, _ := peeked(t, f, out, "peek aaaaaaaa-1 -n1"); !strings.HasSuffix(stdout, "⏺ Bash  npm test  waiting for permission\n") {
		t.Error(stdout)
	}
	s.Transcripts["aaaaaaaa-1"] = s.Transcripts["aaaaaaaa-1"][:1]
	if stdout, _, _ := peeked(t, f, out, "peek aaaaaaaa-1"); !strings.HasSuffix(stdout, "  make the tests pass\n\nwaiting for permission\n") {
		t.Error(stdout)
	}
}

func TestPeekWithSubagents(t *testing.T) {
	f, out := WithMessages(t)
	want := `user  2026-11-20 11:51:00 (9m ago)
  one

[eeeeeeee-1] user  2026-11-20 11:52:00 (8m ago)
  two

[eeeeeeee-1] assistant  2026-11-20 11:53:00 (7m ago)
  three

assistant  2026-11-20 11:54:00 (6m ago)
  four

[eeeeeeee-2] user  2026-11-20 11:55:00 (5m ago)
  five
`
	if stdout, stderr, exit := peeked(t, f, out, "peek aaaaaaaa-2 --children"); exit != 0 || stdout != want {
		t.Errorf("exit %d\n%s%s", exit, stdout, stderr)
	}
	stdout, _, _ := peeked(t, f, out, "peek aaaaaaaa-2 --children -n2 --json")
	CheckSchema(t, "messages", stdout)
	var list []struct{ ID, Session string }
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || fmt.Sprint(list) != "[{d aaaaaaaa-2} {e eeeeeeee-2}]" {
		t.Errorf("%v, %v", list, err)
	}
	followed, _, exit := peeked(t, f, out, "logs -f aaaaaaaa-2 --children --json")
	if exit != 0 || strings.Count(followed, "\n") != 5 || !strings.Contains(followed, `{"id":"c","session":"eeeeeeee-1"`) {
		t.Errorf("exit %d\n%s", exit, followed)
	}
}

func TestPager(t *testing.T) {
	f, out := WithMessages(t)
	f.Width, f.Height, f.Environ = 80, 6, []string{"PATH=/usr/bin:/bin"}
	f = Setenv(f, "NO_COLOR", "1")
	plain, _, _ := peeked(t, f, out, "peek aaaaaaaa-1 --no-pager")
	marked := "P" + strings.ReplaceAll(strings.TrimSuffix(plain, "\n"), "\n", "\nP") + "\n"
	for _, tc := range []struct {
		vars   string
		height int
		words  string
		want   string
	}{
		{"PAGER=sed s/^/P/", 6, "peek aaaaaaaa-1", marked},
		{"PAGER=sed s/^/P/", 7, "peek aaaaaaaa-1", marked},
		{"PAGER=sed s/^/P/", 8, "peek aaaaaaaa-1", plain},
		{"PAGER=sed s/^/P/", 6, "logs aaaaaaaa-1 --no-pager", plain},
		{"PAGER=", 6, "peek aaaaaaaa-1", plain},
		{"PAGER=cat", 6, "peek aaaaaaaa-1", plain},
		{"PAGER=/no/such/pager -x", 6, "peek aaaaaaaa-1", plain},
		{"PAGER=/", 6, "peek aaaaaaaa-1", plain},
		{"PAGER=true", 6, "peek aaaaaaaa-1", ""},
		{"PAGER=exit 3", 6, "peek aaaaaaaa-1", ""},
		{"PAGER=echo $LESS $LV", 6, "peek aaaaaaaa-1", "FRX -c\n"},
		{"LESS=S PAGER=echo $LESS", 6, "peek aaaaaaaa-1", "S\n"},
	} {
		f.Height, f.Environ = tc.height, []string{"PATH=/usr/bin:/bin"}
		less, pager, _ := strings.Cut(tc.vars, "PAGER=")
		if less != "" {
			f.Environ = append(f.Environ, strings.TrimSpace(less))
		}
		f.Environ = append(f.Environ, "PAGER="+pager)
		if stdout, _, exit := peeked(t, f, out, tc.words); exit != 0 || stdout != tc.want {
			t.Errorf("%+v: exit %d\n%s", tc, exit, stdout)
		}
	}
	f.Environ = []string{"PATH=" + t.TempDir()} // no less
	if stdout, _, exit := peeked(t, f, out, "peek aaaaaaaa-1"); exit != 0 || stdout != plain {
		t.Errorf("without less: exit %d\n%s", exit, stdout)
	}
	f = Setenv(f, "TERM", "dumb")
	f.Environ = []string{"PAGER=sed s/^/P/"}
	if stdout, _, exit := peeked(t, f, out, "peek aaaaaaaa-1"); exit != 0 || stdout != plain {
		t.Errorf("on a dumb terminal: exit %d\n%s", exit, stdout)
	}
}
