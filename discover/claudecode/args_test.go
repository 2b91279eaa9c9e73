package claudecode

import (
	"strings"
	"testing"
)

func FuzzCmdline(f *testing.F) {
	for _, args := range []string{"-p --resume " + alive, "mcp serve", "--bg-pty-host x -- claude --session-id " + alive, "-n doctor -- x", "--session-id=" + alive} {
		f.Add(args)
	}
	f.Fuzz(func(t *testing.T, joined string) {
		args := strings.Split(joined, " ")
		c := parseCmdline(args)
		if id := c.namedSession(); id != "" && !isUUID(id) {
			t.Fatalf("%q names %q", args, id)
		}
		// The prompt after "--" changes nothing.
		if before, _, ok := strings.Cut(joined, " -- "); ok && parseCmdline(strings.Split(before, " ")) != c {
			t.Fatalf("%q: the prompt was read", args)
		}
	})
}
