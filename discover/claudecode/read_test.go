package claudecode

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/discover"
)

// readBytes reads one transcript of this content.
func readBytes(t testing.TB, dir string, content []byte) (discover.Record, bool) {
	t.Helper()
	return readFile(t, dir, writeTranscript(t, dir, string(content)))
}

func readFile(t testing.TB, dir, path string) (discover.Record, bool) {
	t.Helper()
	var r discover.Record
	x := reader{discover.ReadOptions{Full: true}}
	e := discover.Entry{Agent: "claude-code", ID: alive, Path: path, Home: dir}
	ok, err := x.read(t.Context(), e, &r)
	if !errors.Is(err, errNoRecords) {
		must(t, err)
	}
	if ok && (r.ID != alive || r.Home != dir) {
		t.Fatalf("another session's record: %s", asJSON(t, r))
	}
	return r, ok
}

// asIfComplete cuts off the line that the writer has not finished.
func asIfComplete(content []byte) []byte { return content[:bytes.LastIndexByte(content, '\n')+1] }

// summary is the part of a record that must not depend on an unfinished last line.
func summary(t testing.TB, r discover.Record, ok bool) string {
	t.Helper()
	return fmt.Sprint(ok) + asJSON(t, stored(r))
}

// stored leaves out the file's time, which replaces a missing time of the records.
func stored(r discover.Record) discover.Record {
	if r.Created.IsZero() {
		r.Updated = r.Created
	}
	return r
}

// The first prompt and the time of creation do not change when the transcript grows.
func TestGrowingTranscriptKeepsItsBeginning(t *testing.T) {
	dir := t.TempDir()
	files, err := filepath.Glob(filepath.Join(fixtures, "03-*/projects/*/"+tui1+transcriptSuffix))
	must(t, err)
	content, err := os.ReadFile(files[0])
	must(t, err)
	var first discover.Record
	lines := bytes.SplitAfter(content, []byte{'\n'})
	for n := range lines {
		r, ok := readBytes(t, dir, bytes.Join(lines[:n], nil))
		if !ok {
			if first.ID != "" {
				t.Fatalf("after %d lines the session is gone", n)
			}
			continue
		}
		if first.ID == "" {
			first = r
		}
		if r.Prompt != first.Prompt || !r.Created.Equal(first.Created) || r.Updated.Before(first.Updated) {
			t.Fatalf("after %d lines: prompt %q, created %s, updated %s; at first %q, %s, %s",
				n, r.Prompt, r.Created, r.Updated, first.Prompt, first.Created, first.Updated)
		}
		first.Updated = r.Updated
	}
	if first.ID == "" {
		t.Fatal("no session was ever read")
	}
}

func FuzzTranscript(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(fixtures, "*/projects/*/*"+transcriptSuffix))
	must(f, err)
	for _, path := range files {
		content, err := os.ReadFile(path)
		must(f, err)
		if len(content) < 4_000 { // small ones are soon varied
			f.Add(content)
		}
	}
	f.Add([]byte(strings.Repeat("[", 2_000) + "\n"))
	f.Add([]byte("{\"type\":\"user\",\"message\":{\"content\":[{\"type\":7}]},\"cwd\":[]}\n\xff\xfe\x00\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte) {
		got, ok := readBytes(t, dir, content)
		want, wantOK := readBytes(t, dir, asIfComplete(content))
		if summary(t, got, ok) != summary(t, want, wantOK) {
			t.Fatalf("torn %s\ncomplete %s", summary(t, got, ok), summary(t, want, wantOK))
		}
	})
}
