package claudecode

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/must"
)

// TestKindsAreKnown: the captured transcripts of all versions have only types of records that are known.
func TestKindsAreKnown(t *testing.T) {
	n := 0
	must.Do(t, filepath.WalkDir(fixtures, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) != transcriptSuffix {
			return err
		}
		n++
		unknown, err := New().Tried().UnknownKinds(t.Context(), discover.Record{Path: path})
		if len(unknown) > 0 {
			t.Errorf("%s: %q", path, unknown)
		}
		return err
	}))
	if n < 30 {
		t.Errorf("%d transcripts", n)
	}
}

// TestUnknownKinds: each is reported once, and no more than a few are; what is no record is not.
func TestUnknownKinds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	text := `{"type":"thought"}` + "\n" + `{"type":"user"}` + "\n{}\nnull\n" + `{"type":"thought"}` + "\n" + `{"type":"newer"}` + "\n" + `{"type":"torn"`
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	got, err := New().Tried().UnknownKinds(t.Context(), discover.Record{Path: path})
	if want := []string{"newer", "thought"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	text = ""
	for i := range 100 {
		text += `{"type":"kind` + string(rune('a'+i%26)) + `"}` + "\n"
	}
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	if got, err := New().Tried().UnknownKinds(t.Context(), discover.Record{Path: path}); err != nil || len(got) != 8 {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := New().Tried().UnknownKinds(t.Context(), discover.Record{Path: t.TempDir()}); err == nil {
		t.Error("a directory is no transcript")
	}
}

// TestNewerVersion: the program that runs counts before the version in the transcript.
func TestNewerVersion(t *testing.T) {
	for _, x := range []struct{ recorded, exe, want string }{
		{newestTried, "/usr/bin/node", ""},
		{"2.1.9999", "/usr/bin/node", "2.1.9999"},
		{"2.1.9999", "/h/claude/versions/2.1.197", ""},
		{"2.1.197", "/h/claude/versions/3.0.0", "3.0.0"},
		{"", "", ""},
	} {
		if x.exe != "" && filepath.Base(x.exe) != "node" {
			x.exe = filepath.Join(t.TempDir(), x.exe)
			must.Do(t, os.MkdirAll(filepath.Dir(x.exe), 0o700))
			must.Do(t, os.WriteFile(x.exe, nil, 0o700))
		}
		s := discover.Session{Record: &discover.Record{Version: x.recorded}, Processes: []proc.Process{{Exe: x.exe}}}
		if got := New().Tried().NewerVersion(s); got != x.want {
			t.Errorf("%+v: %q", x, got)
		}
	}
}

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
