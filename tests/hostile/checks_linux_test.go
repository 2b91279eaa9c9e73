package hostile

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// A program that does what agentctl must not is found out.
func TestChecksFindFaults(t *testing.T) {
	for name, c := range map[string]struct{ script, class string }{
		"nothing wrong":                   {"echo '[]'", ""},
		"an exit code that is not known":  {"exit 42", "exit code"},
		"a panic":                         {"echo 'panic: oops' >&2; exit 2", "panic"},
		"a signal of its own":             {"kill -SEGV $$", "exit code"},
		"what is no JSON":                 {"echo '[{]'", "output"},
		"JSON that the schema has not":    {`echo '[{"id":1}]'`, "output"},
		"an escape sequence":              {`printf 'x\033[2J' >&2`, "output"},
		"a bidirectional override":        {`printf '\342\200\256' >&2`, "output"},
		"text on stderr":                  {"echo 'agentctl: warning: x' >&2", "output"},
		"partial, and nothing says what":  {"echo '[]'; exit 6", "silent 6"},
		"a file is new":                   {`echo '[]'; touch "$HOME/new"`, "written"},
		"a file is written":               {`echo '[]'; echo x >>"$HOME/a"`, "written"},
		"a file has another time":         {`echo '[]'; touch -d 2020-01-01 "$HOME/a"`, "written"},
		"a file has another mode":         {`echo '[]'; chmod 600 "$HOME/a"`, "written"},
		"a session is not listed":         {"echo '[]'", "lost session"},
		"a FIFO in place of one, exit 0":  {"echo '[]'", "lost in silence"},
		"a program of the store's is run": {"echo '[]'; claude", "command run"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &worker{job: job{Dir: t.TempDir(), Bases: t.TempDir(), Binary: filepath.Join(t.TempDir(), "agentctl")}}
			if err := os.WriteFile(w.Binary, []byte("#!/bin/sh\n"+c.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(w.Bases, "repo"), 0o755); err != nil {
				t.Fatal(err)
			}
			x := newTrial(w, 0)
			if err := x.prepare(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(x.home, "a"), []byte("a"), 0o644); err != nil {
				t.Fatal(err)
			}
			id := "01"
			b := &base{}
			switch c.class {
			case "lost session":
				b.sessions = []session{{ID: &id, Path: "a", files: []string{"a"}}}
			case "lost in silence":
				b.sessions = []session{{ID: &id, Path: "b", files: []string{"b"}}}
				if err := syscall.Mkfifo(filepath.Join(x.home, "b"), 0o600); err != nil {
					t.Fatal(err)
				}
				x.touch(filepath.Join(x.home, "b"), "FIFO")
			}
			before, err := readTree(x.home)
			if err != nil {
				t.Fatal(err)
			}
			x.lost(b, x.run("list", "--json"))
			x.unchanged("home", x.home, before)
			x.canaries(0)
			var classes []string
			for _, f := range x.Failures {
				if f.Class != "lost session" || c.class == "lost session" {
					classes = append(classes, f.Class)
				}
			}
			if found := slices.Contains(classes, c.class); c.class != "" && !found || c.class == "" && len(classes) > 0 {
				t.Errorf("%v", x.Failures)
			}
		})
	}
}
