package cli

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"
)

// The stream ends quietly once nobody reads it, though nothing happens that could be written.
func TestEventsEndWithTheirReader(t *testing.T) {
	f, out := testFactory(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	f.Stdout = w
	exit := make(chan int)
	go func() { exit <- Run(t.Context(), f, "events", "--initial") }()
	var got []string
	for lines := bufio.NewScanner(r); len(got) < 4 && lines.Scan(); {
		typ, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), `{"type":"`), `"`)
		got = append(got, typ)
	}
	if want := []string{"session.started", "session.running", "session.started", "session.running"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	r.Close()
	if code := <-exit; code != ExitNoReader || out.Stderr.Len() > 0 {
		t.Errorf("exit %d, %s", code, out.Stderr.String())
	}
}

func TestEventsRefuse(t *testing.T) {
	f, out := testFactory(t)
	for _, tc := range []struct {
		args string
		exit int
	}{
		{"--webhook ftp://x", ExitUsage},
		{"--webhook http://x --secret-env NOTHING_THERE", ExitUsage},
		{"--secret-env HOME", ExitUsage},
		{"--adapter vim", ExitUsage},
		{"--cwd /nowhere/at/all", ExitUsage},
		{"more", ExitUsage},
	} {
		if code := Run(t.Context(), f, append([]string{"events"}, strings.Fields(tc.args)...)...); code != tc.exit || out.Stdout.Len() > 0 {
			t.Errorf("%s: exit %d, %s%s", tc.args, code, out.Stdout.String(), out.Stderr.String())
		}
	}
}
