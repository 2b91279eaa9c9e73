package output_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/internal/output"
)

// The names of the contract are spelled out, so that renaming a struct field fails a test.
func TestSessionFieldNames(t *testing.T) {
	want := []string{
		"id", "host", "adapter", "status", "outcome", "waitingFor", "waitingOn", "error", "pid", "pids", "processStartedAt", "tty", "terminal",
		"startedAt", "lastActivityAt", "stoppedAt", "cwd", "title", "prompt", "model", "branch", "version", "source", "tokens", "cost",
		"group", "parentId", "forkedFrom", "path", "home", "quotas", "changes", "processes", "orphans", "evidence", "meta",
	}
	if got := output.SessionFields(); !slices.Equal(got, want) {
		t.Errorf("fields\n%v, want\n%v", got, want)
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	if err := output.JSON(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestJSONOfCompleteSession(t *testing.T) {
	s := output.NewSessionWithResources(completeSession(), exampleResources())
	s.Explain = output.Explain(completeSession())
	want := `{
  "id": "01a1fa5c-c285-7d91-bd0a-842a7d8b5424",
  "adapter": "codex",
  "status": "waiting",
  "waitingFor": "permission",
  "waitingOn": {
    "tool": "shell",
    "brief": "make",
    "path": "/x",
    "questions": [
      "Go on?"
    ],
    "diff": {
      "added": 3,
      "removed": 1
    }
  },
  "error": "the last turn failed",
  "pid": 4711,
  "pids": [
    4711,
    4712
  ],
  "processStartedAt": "2026-11-20T10:00:00.000Z",
  "startedAt": "2026-11-20T09:00:00.000Z",
  "lastActivityAt": "2026-11-20T11:58:30.000Z",
  "cwd": "/home/me/repo",
  "title": "mend the parser",
  "prompt": "please mend the parser",
  "model": "gpt-5.5",
  "branch": "main",
  "version": "0.169.0",
  "source": "exec",
  "tokens": {
    "in": 1,
    "out": 2,
    "cacheRead": 3,
    "cacheWrite": 4,
    "reasoning": 5,
    "total": 6,
    "context": 7
  },
  "cost": 1.25,
  "group": "g-1",
  "parentId": "01a1fa5c-0000",
  "forkedFrom": "01a1fa5c-1111",
  "path": "/home/me/.codex/sessions/r.jsonl",
  "home": "/home/me/.codex",
  "quotas": [
    {
      "name": "primary",
      "used": 87.4,
      "resetsAt": "2026-11-20T12:38:00.000Z",
      "time": "2026-11-20T11:58:30.000Z"
    },
    {
      "reached": true,
      "resetsAt": "2026-11-19T10:00:00.000Z",
      "text": "You've hit your limit\u001b[31m"
    }
  ],
  "changes": {
    "changed": 3,
    "untracked": 1,
    "upstream": "origin/main",
    "ahead": 2,
    "behind": 0
  },
  "processes": [
    {
      "pid": 4711,
      "ppid": 4700,
      "name": "codex",
      "command": "codex exec",
      "startedAt": "2026-11-20T10:00:00.000Z",
      "cpu": 11100,
      "memory": 2147483648,
      "shared": true
    },
    {
      "pid": 4720,
      "ppid": 4711,
      "name": "bash",
      "command": "bash -c 'npm run dev\n\u001b[2J'",
      "startedAt": "2026-11-20T11:59:00.000Z",
      "cpu": 0.1,
      "memory": 512
    },
    {
      "pid": 4723,
      "ppid": 4720,
      "name": "node",
      "startedAt": "2026-11-20T12:00:00.000Z",
      "cpu": 72.5,
      "memory": 4194404,
      "ports": [
        3000,
        9229
      ]
    },
    {
      "pid": 4730,
      "ppid": 4711,
      "name": "claude",
      "command": "claude",
      "adapter": "claude-code",
      "sessions": [
        "88d1d394-0000-4000-8000-000000000000"
      ]
    },
    {
      "pid": 4740,
      "ppid": 1,
      "name": "sshd"
    }
  ],
  "evidence": {
    "strength": "exact",
    "kind": "writer-lock",
    "detail": "/home/me/.codex/thread-writer-locks/x.lock"
  },
  "meta": {
    "archived": true,
    "originator": "codex_exec",
    "ports": [
      4096
    ],
    "shared": true,
    "turnDetail": "tool: shell"
  },
  "explain": {
    "verdict": "processes 4711, 4712 are live; process 4711 shows that the turn is blocked on the user",
    "turn": "waiting",
    "considered": [
      {
        "pid": 4711,
        "strength": "exact",
        "kind": "writer-lock",
        "detail": "/home/me/.codex/thread-writer-locks/x.lock",
        "turn": "waiting",
        "accepted": true,
        "why": "the agent or the kernel says so"
      },
      {
        "pid": 4712,
        "strength": "weak",
        "kind": "cwd",
        "detail": "/home/me/repo",
        "accepted": false,
        "why": "ambiguous"
      }
    ]
  }
}
`
	if got := text(t, s); got != want {
		t.Errorf("got\n%s", got)
	}
}

// Unknown facts are absent. The ID of an unidentified session is null.
func TestJSONOmitsUnknownFacts(t *testing.T) {
	for want, s := range map[string]discover.Session{
		`{"id":"88d1d394-0000-4000-8000-000000000000","adapter":"claude-code","status":"stopped","outcome":"completed","lastActivityAt":"2026-11-18T11:00:00.000Z","stoppedAt":"2026-11-18T11:00:00.000Z","meta":{}}`: stoppedSession(),
		`{"id":null,"adapter":"opencode","status":"unknown","pid":99,"evidence":{"strength":"none","kind":"process","detail":"open files: permission denied"},"meta":{}}`:                                             unidentifiedSession(),
	} {
		var b bytes.Buffer
		if err := output.JSONLine(&b, output.NewSession(s)); err != nil || b.String() != want+"\n" {
			t.Errorf("%v\n%s, want\n%s", err, b.String(), want)
		}
	}
}

// A session of unknown status shows the rejected evidence; other sessions do not.
func TestEvidenceOfUnknownStatus(t *testing.T) {
	s := stoppedSession()
	s.Evidence = []discover.Evidence{{Claim: discover.Claim{Strength: discover.Weak, Kind: "cwd", Detail: "/w"}, Why: "ambiguous"}}
	if e := output.NewSession(s).Evidence; e != nil {
		t.Errorf("a stopped session rests on %+v", e)
	}
	s.Status, s.Outcome = discover.Unknown, ""
	if e := output.NewSession(s).Evidence; e == nil || e.Detail != "/w (ambiguous)" {
		t.Errorf("an unknown session rests on %+v", e)
	}
}

func TestJSONAcceptsAnyFacts(t *testing.T) {
	s := completeSession()
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		s.Cost = &v
		if output.NewSession(s).Cost != nil {
			t.Errorf("cost %v is printed", v)
		}
	}
	for _, at := range []time.Time{{}, time.Unix(1<<40, 0), time.Unix(-1<<40, 0)} {
		if got := output.Timestamp(at); got != "" {
			t.Errorf("Stamp(%v) = %s", at, got)
		}
	}
	if got := output.Timestamp(now.Add(1500 * time.Microsecond).In(time.FixedZone("", 3600))); got != "2026-11-20T12:00:00.001Z" {
		t.Error(got)
	}
}

func TestJSONArray(t *testing.T) {
	for want, values := range map[string][]int{"[]\n": nil, "[\n1\n]\n": {1}, "[\n1,\n2\n]\n": {1, 2}} {
		var b bytes.Buffer
		if err := output.JSONArray(&b, values); err != nil || b.String() != want {
			t.Errorf("%v: %q, %v", values, b.String(), err)
		}
	}
}

// An array that is encoded in parallel equals its elements encoded one by one.
func TestJSONArrayKeepsOrder(t *testing.T) {
	list := manySessions()
	var got, want bytes.Buffer
	for i, s := range list {
		want.WriteString(map[bool]string{true: "[\n", false: ",\n"}[i == 0])
		if err := output.JSONLine(&want, output.NewSession(s)); err != nil {
			t.Fatal(err)
		}
		want.Truncate(want.Len() - 1)
	}
	want.WriteString("\n]\n")
	if err := output.JSONArrayFunc(&got, list, output.NewSession); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("%v, %d bytes, want %d", err, got.Len(), want.Len())
	}
}

// closedPipe fails after a number of writes, as a pipe does whose reader has closed it.
type closedPipe struct{ after int }

func (c *closedPipe) Write(p []byte) (int, error) {
	if c.after--; c.after < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func TestJSONArrayStopsOnWriteError(t *testing.T) {
	for after := range 5 {
		if err := output.JSONArrayFunc(&closedPipe{after}, manySessions(), output.NewSession); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("after %d writes: %v", after, err)
		}
	}
}

// JSON of any text is valid, keeps the text, and contains nothing that a terminal interprets.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{"", "a", "\x1b[31m", "\u009b31m", "\u202e\u2066", "\x7f", "\xff", "\U000e0041", "\u2028", `"\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := discover.Session{Record: &discover.Record{ID: s, Title: s, Meta: discover.Facts{{s, s}}}}
		out := text(t, output.NewSession(r))
		if h := unsafeReason(strings.Map(dropLayout, out)); h != "" {
			t.Errorf("%q: %s", out, h)
		}
		var got struct {
			Title string
			Meta  map[string]string
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		valid := string([]rune(s)) // each invalid byte is one U+FFFD
		if got.Title != valid || !reflect.DeepEqual(got.Meta, map[string]string{valid: valid}) {
			t.Errorf("%q came back as %q", s, got)
		}
	})
}

func dropLayout(r rune) rune {
	if r == '\n' {
		return -1
	}
	return r
}

// manySessions returns sessions as a heavy user has after some years.
func manySessions() []discover.Session {
	list := make([]discover.Session, 1000)
	for i := range list {
		list[i] = completeSession()
		list[i].ID = fmt.Sprintf("%08x-c285-7d91-bd0a-842a7d8b5424", i*7919)
	}
	return list
}
