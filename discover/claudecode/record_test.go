package claudecode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

var update = flag.Bool("update", false, "write the golden files anew")

// TestRecordsOfRealStores reads every captured store whole and compares with the golden records.
func TestRecordsOfRealStores(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(fixtures, "[0-9]*"))
	must(t, err)
	for _, folder := range folders {
		name := filepath.Base(folder)
		t.Run(name, func(t *testing.T) {
			dir := home(t, name)
			got, warned := records(t, dir, discover.EntryFilter{Subagents: true}, discover.ReadOptions{Full: true})
			if len(warned) > 0 {
				t.Errorf("warnings: %v", warned)
			}
			slices.SortFunc(got, func(a, b discover.Record) int { return cmp.Compare(a.Path, b.Path) })
			for i := range got {
				got[i].Path = strings.TrimPrefix(got[i].Path, dir+"/")
				got[i].Home = strings.TrimPrefix(got[i].Home, dir)
			}
			golden(t, filepath.Join("testdata/golden", name+".json"), got)
		})
	}
}

// TestQuickReadAgreesWithWhole: reading only parts of a transcript gives the same record as reading it whole, except for a
// title in the middle of a long transcript.
func TestQuickReadAgreesWithWhole(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(fixtures, "[0-9]*"))
	must(t, err)
	for _, folder := range folders {
		dir := home(t, filepath.Base(folder))
		quick, _ := records(t, dir, discover.EntryFilter{Subagents: true}, discover.ReadOptions{})
		whole, _ := records(t, dir, discover.EntryFilter{Subagents: true}, discover.ReadOptions{Full: true})
		byKey := map[discover.Key]discover.Record{}
		for _, r := range whole {
			r.Tokens, r.Quotas = nil, nil
			if r.Meta.Get("costWithOrigin") != nil {
				r.ForkedFrom = "" // which the answers tell
			}
			r.Meta = slices.DeleteFunc(r.Meta, func(f discover.Fact) bool {
				return f.Name == "turns" || f.Name == modeMeta || f.Name == dirMeta
			})
			byKey[r.Key()] = r
		}
		for _, r := range quick {
			if info, err := os.Stat(r.Path); err == nil && info.Size() > 64<<10 {
				r.Title = byKey[r.Key()].Title
			}
			if a, b := asJSON(t, r), asJSON(t, byKey[r.Key()]); a != b {
				t.Errorf("%s:\nquick %s\nwhole %s", r.Path, a, b)
			}
		}
		if len(quick) != len(whole) {
			t.Errorf("%s: %d records read quickly, %d whole", folder, len(quick), len(whole))
		}
	}
}

func golden(t *testing.T, path string, got any) {
	t.Helper()
	goldenText(t, path, asJSON(t, got))
}

func goldenText(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if text != string(want) {
		t.Errorf("%s differs; got:\n%s", path, text)
	}
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.MarshalIndent(v, "", "  ")
	must(t, err)
	return string(raw) + "\n"
}

// script is a transcript under construction: each method appends to it.
type script struct{ strings.Builder }

func (t *script) note(format string, args ...any) *script {
	fmt.Fprintf(t, format+"\n", args...)
	return t
}

func (t *script) titled(title string) *script {
	return t.note(`{"type":"custom-title","customTitle":"%s","sessionId":"s"}`, title)
}

func (t *script) agentTitled(title string) *script {
	return t.note(`{"type":"ai-title","aiTitle":"%s","sessionId":"s"}`, title)
}

func (t *script) left(prompt string) *script {
	return t.note(`{"type":"last-prompt","lastPrompt":"%s","leafUuid":"u","sessionId":"s"}`, prompt)
}

// settings appends those of a terminal.
func (t *script) settings() *script {
	return t.note(`{"type":"mode","mode":"normal","sessionId":"s"}`).note(`{"type":"permission-mode","permissionMode":"default","sessionId":"s"}`)
}

func (t *script) checkpoint() *script {
	return t.note(`{"type":"last-prompt","leafUuid":"u","explicit":true,"sessionId":"s"}`)
}

// record appends one of a terminal's session, or of a print run's.
func (t *script) record(entrypoint, kind, message string) *script {
	return t.note(`{"parentUuid":"p","isSidechain":false,"type":"%s","message":%s,"uuid":"u","timestamp":"2026-01-01T00:00:00.000Z","entrypoint":"%s","cwd":"/w","version":"2.1.330"}`, kind, message, entrypoint)
}

func (t *script) asked(entrypoint, prompt string) *script {
	return t.record(entrypoint, "user", fmt.Sprintf(`{"role":"user","content":"%s"}`, prompt))
}

// worked appends so many kilobytes of answers, the last of which ends the turn.
func (t *script) worked(entrypoint string, kilobytes int) *script {
	text := strings.Repeat("word ", 160)
	for n := range kilobytes {
		stop := "tool_use"
		if n == kilobytes-1 {
			stop = "end_turn"
		}
		t.record(entrypoint, "assistant", fmt.Sprintf(`{"id":"m%d","model":"m","role":"assistant","content":[{"type":"text","text":"%s"}],"stop_reason":"%s"}`, n, text, stop))
	}
	return t
}

// TestTitlesOfLongSessions: a quick read finds the same title as a whole read, wherever Claude Code writes its metadata
// anew.
func TestTitlesOfLongSessions(t *testing.T) {
	const tui, print = "cli", "sdk-cli"
	begun := func(entrypoint string) *script {
		return new(script).agentTitled("agent's").asked(entrypoint, "one").worked(entrypoint, 60)
	}
	for name, c := range map[string]struct {
		content *script
		want    string
	}{
		"left 27 KB later":             {begun(tui).titled("person's").worked(tui, 27).left("one"), "person's"},
		"left, and opened again":       {begun(tui).titled("person's").worked(tui, 27).left("one").note(`{"type":"mode","mode":"normal"}`), "person's"},
		"killed 55 KB later":           {begun(tui).titled("person's").worked(tui, 55), "person's"},
		"killed behind a checkpoint":   {begun(tui).titled("person's").worked(tui, 55).checkpoint(), "person's"},
		"the agent's, later":           {begun(tui).titled("person's").agentTitled("newer").worked(tui, 20).left("one"), "person's"},
		"the user's, before all":       {new(script).titled("person's").asked(tui, "one").worked(tui, 90).agentTitled("agent's").left("one"), "person's"},
		"taken away":                   {begun(tui).titled("person's").worked(tui, 10).titled("").worked(tui, 20).left("one"), "agent's"},
		"stated in a turn":             {begun(tui).titled("person's").worked(tui, 40).left("one").titled("person's").settings().worked(tui, 20).left("one"), "person's"},
		"stated in a turn, nameless":   {begun(tui).worked(tui, 40).left("one").settings().worked(tui, 20).left("one"), "agent's"},
		"left, and gone on with":       {begun(tui).titled("person's").worked(tui, 5).left("one").settings().asked(tui, "two").worked(tui, 15).left("two"), "person's"},
		"a checkpoint in a turn":       {begun(tui).titled("person's").worked(tui, 5).checkpoint().worked(tui, 15).left("one"), "person's"},
		"a print run goes on":          {begun(tui).titled("person's").asked(print, "two").worked(print, 20).left("two"), "person's"},
		"print runs, named in between": {begun(print).titled("person's").asked(print, "two").worked(print, 20).left("two"), "person's"},
		"one print run":                {new(script).titled("person's").asked(print, `one\nline`).worked(print, 200).left("one line"), "person's"},
		"nobody's":                     {new(script).asked(tui, "one").worked(tui, 90).left("one"), ""},
	} {
		dir := filepath.Join(t.TempDir(), ".claude")
		path := transcriptPath(dir, "/w", alive)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(c.content.String()), 0o600))
		for _, want := range []discover.ReadOptions{{}, {Tokens: true}, {Full: true}} {
			if got, _ := records(t, dir, discover.EntryFilter{}, want); len(got) != 1 {
				t.Errorf("%s, %+v: %d records", name, want, len(got))
			} else if got[0].Title != c.want {
				t.Errorf("%s, %+v: %q, want %q", name, want, got[0].Title, c.want)
			}
		}
	}
}
