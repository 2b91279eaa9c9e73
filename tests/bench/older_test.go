package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the other program fails with is printed, and is no failure of the run; what ours fails with is.
func TestOlder(t *testing.T) {
	work := t.TempDir()
	program := func(name, does string) string {
		path := filepath.Join(work, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+does+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, bad := program("good", `test "$1" = list`), program("bad", "echo too old >&2; exit 3")
	for name, test := range map[string]struct {
		older, ours, said string
		fails             bool
	}{
		"both work":      {good, good, good + " list --json", false},
		"theirs fails":   {bad, good, "FAILED: " + bad + " list --json (5 sessions): exit status 3: too old", false},
		"theirs is gone": {bad + "-gone", good, "no such file", false},
		"ours fails":     {good, bad, "FAILED: " + live, true},
	} {
		var out strings.Builder
		o := options{rounds: 2, sizes: []int{5}, older: test.older}
		err := measureOlder(&out, binaries{agentctl: test.ours}, o, t.TempDir())
		if (err != nil) != test.fails || !strings.Contains(out.String(), test.said) {
			t.Errorf("%s: %v\n%s", name, err, out.String())
		}
	}
}
