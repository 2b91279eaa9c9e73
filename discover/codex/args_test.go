package codex

import (
	"strings"
	"testing"
)

// Any command line gives no panic, and a session or a role only with the words for it.
func FuzzArgs(f *testing.F) {
	for _, line := range []string{"codex", "codex exec hi", "codex -C /x app-server daemon", "codex -- exec", "codex resume " + threadA, "codex -C", "codex remote-control --no-daemon"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		in := parseArgs(strings.Split(line, " "))
		if in.session != "" && (!isThreadID(in.session) || !strings.Contains(line, "resume")) {
			t.Fatalf("%q: %+v", line, in)
		}
		if in.role == server && !strings.Contains(line, "server") && !strings.Contains(line, "remote-control") || in.role == exec && !strings.Contains(line, "e") {
			t.Fatalf("%q: %+v", line, in)
		}
	})
}
