package cli

import (
	"context"
	"iter"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
)

// interrupting is an agent of which one session takes until the interrupt to be read.
type interrupting struct {
	Stub
	slow      string
	interrupt func()
}

// Messages implements [discover.Adapter].
func (a interrupting) Messages(ctx context.Context, r discover.Record) iter.Seq2[discover.Message, error] {
	if r.ID == a.slow {
		a.interrupt()
		<-ctx.Done()
	}
	return a.Stub.Messages(ctx, r)
}

// lines is the output of a command, which calls found with each piece.
type lines struct {
	strings.Builder
	found chan struct{}
}

// Write implements [io.Writer].
func (l *lines) Write(text []byte) (int, error) {
	close(l.found)
	return l.Builder.Write(text)
}

// An interrupt ends the search and keeps what was found; stderr says how much was searched.
func TestInterruptKeepsWhatWasFound(t *testing.T) {
	f, out := WithMessages(t)
	ctx, cancel := context.WithCancel(t.Context())
	stdout := &lines{found: make(chan struct{})}
	f.Stdout = stdout
	s := f.Adapters[1].(Stub)
	s.Records = []discover.Record{Record("new", "/w/a", discover.TurnDone, time.Minute), Record("old", "/w/a", discover.TurnDone, time.Hour)}
	s.Transcripts = map[string][]discover.Message{"new": {Text("x", discover.RoleUser, "a needle", time.Minute)}}
	f.Adapters = []discover.Adapter{interrupting{s, "old", func() { <-stdout.found; cancel() }}}
	if err := runSearch(ctx, f, []string{"needle"}, &searchOptions{since: "all", CommonFlags: CommonFlags{Quiet: true}}); err == nil || ctx.Err() == nil {
		t.Errorf("no error: %v", err)
	}
	if got, want := out.Stderr.String(), "agentctl: interrupted: at least 0 of 2 sessions were searched\n"; stdout.String() != "new\n" || got != want {
		t.Errorf("%q, %q, want %q", stdout.String(), got, want)
	}
}

// -A and -B count before -C, 0 too.
func TestContextOfOneSide(t *testing.T) {
	for args, want := range map[string]string{
		"-C 1":         "make the tests pass|them|npm test",
		"-C 1 -A 0":    "make the tests pass|them|",
		"-B 0 -C 1":    "|them|npm test",
		"-A 1":         "|them|npm test",
		"-C 1 -A0 -B0": "|them|",
	} {
		f, out := WithMessages(t)
		Run(t.Context(), f, append([]string{"search", "them"}, strings.Fields(args)...)...)
		var got []string
		for _, text := range []string{"make the tests pass", "them", "npm test"} {
			if !strings.Contains(out.Stdout.String(), text) {
				text = ""
			}
			got = append(got, text)
		}
		if got := strings.Join(got, "|"); got != want {
			t.Errorf("%s: %s, want %s:\n%s", args, got, want, out.Stdout.String())
		}
	}
}

// A template has the matches.
func TestFormatOfMatches(t *testing.T) {
	f, out := WithMessages(t)
	exit := Run(t.Context(), f, "search", "them", "--format", "{{.id}}{{range .matches}} {{.message.role}}: {{.message.text}}{{end}}")
	if got, want := out.Stdout.String(), "aaaaaaaa-1 assistant: I run them.\n"; exit != 0 || got != want {
		t.Errorf("exit %d, %q, want %q: %s", exit, got, want, out.Stderr.String())
	}
}
