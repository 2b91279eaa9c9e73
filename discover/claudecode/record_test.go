package claudecode

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/tests/golden"
	"agentctl/tests/must"
)

// readBytes reads one transcript of this content.
func readBytes(t testing.TB, dir string, content []byte) (discover.Record, bool) {
	t.Helper()
	path := writeTranscript(t, dir, string(content))
	written := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) // it replaces a time that the newest record lacks
	must.Do(t, os.Chtimes(path, written, written))
	return readFile(t, dir, path)
}

func readFile(t testing.TB, dir, path string) (discover.Record, bool) {
	t.Helper()
	var r sessionUsage
	x := reader{ReadOptions: discover.ReadOptions{Full: true}}
	e := discover.Entry{Agent: "claude-code", ID: alive, Path: path, Home: dir}
	ok, err := x.readSession(t.Context(), e, &r)
	warningsIn(t, err)
	if ok && (r.ID != alive || r.Home != dir) {
		t.Fatalf("another session's record: %s", golden.JSON(t, r.Record))
	}
	return r.Record, ok
}

// asIfComplete cuts off the record that the writer has not finished, or adds the line break that one lacks.
func asIfComplete(content []byte) []byte {
	last := content[bytes.LastIndexByte(content, '\n')+1:]
	if storage.Object(last).Complete() {
		return append(slices.Clone(content), '\n')
	}
	return content[:len(content)-len(last)]
}

// summary is the part of a record that must not depend on an unfinished last line.
func summary(t testing.TB, r discover.Record, ok bool) string {
	t.Helper()
	return fmt.Sprint(ok) + golden.JSON(t, stored(r))
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
	must.Do(t, err)
	content, err := os.ReadFile(files[0])
	must.Do(t, err)
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
	must.Do(f, err)
	for _, path := range files {
		content, err := os.ReadFile(path)
		must.Do(f, err)
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

// TestRecordsOfRealStores reads every captured store whole and compares with the golden records.
func TestRecordsOfRealStores(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(fixtures, "[0-9]*"))
	must.Do(t, err)
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
			golden.Compare(t, filepath.Join("testdata/golden", name+".json"), golden.JSON(t, got))
		})
	}
}

// TestQuickReadAgreesWithWhole: reading only parts of a transcript gives the same record as reading it whole, except for a
// title in the middle of a long transcript.
func TestQuickReadAgreesWithWhole(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(fixtures, "[0-9]*"))
	must.Do(t, err)
	for _, folder := range folders {
		dir := home(t, filepath.Base(folder))
		quick, _ := records(t, dir, discover.EntryFilter{Subagents: true}, discover.ReadOptions{})
		whole, _ := records(t, dir, discover.EntryFilter{Subagents: true}, discover.ReadOptions{Full: true})
		byKey := map[discover.Key]discover.Record{}
		for _, r := range whole {
			r.Tokens, r.Quotas = nil, nil
			if r.Meta["costWithOrigin"] != nil {
				r.ForkedFrom = "" // which the answers tell
			}
			maps.DeleteFunc(r.Meta, func(name string, _ any) bool { return name == "turns" || name == modeMeta || name == dirMeta })
			byKey[r.Key()] = r
		}
		for _, r := range quick {
			if info, err := os.Stat(r.Path); err == nil && info.Size() > 64<<10 {
				r.Title = byKey[r.Key()].Title
			}
			if a, b := golden.JSON(t, r), golden.JSON(t, byKey[r.Key()]); a != b {
				t.Errorf("%s:\nquick %s\nwhole %s", r.Path, a, b)
			}
		}
		if len(quick) != len(whole) {
			t.Errorf("%s: %d records read quickly, %d whole", folder, len(quick), len(whole))
		}
	}
}

// A quick read finds the same title as a whole read where Claude Code itself finds one: in the last 64 KB, or at the beginning.
func TestTitlesOfLongSessions(t *testing.T) {
	record := func(kind, message string) string {
		return fmt.Sprintf(`{"parentUuid":"p","isSidechain":false,"type":"%s","message":%s,"uuid":"u","timestamp":"2026-01-01T00:00:00.000Z","entrypoint":"cli","cwd":"/w"}`+"\n", kind, message)
	}
	titled := func(kind, title string) string {
		return fmt.Sprintf(`{"type":"%s-title","%[1]sTitle":"%s","sessionId":"s"}`+"\n", kind, title)
	}
	worked := func(kilobytes int) string {
		return strings.Repeat(record("assistant", `{"model":"m","content":[{"type":"text","text":"`+strings.Repeat("word ", 160)+`"}],"stop_reason":"end_turn"}`), kilobytes)
	}
	begun := titled("ai", "agent's") + record("user", `{"role":"user","content":"one"}`) + worked(60)
	const left = `{"type":"last-prompt","lastPrompt":"one","leafUuid":"u","sessionId":"s"}` + "\n"
	for name, c := range map[string]struct{ content, want string }{
		"left 27 KB later":       {begun + titled("custom", "person's") + worked(27) + left, "person's"},
		"killed 55 KB later":     {begun + titled("custom", "person's") + worked(55), "person's"},
		"the agent's, later":     {begun + titled("custom", "person's") + titled("ai", "newer") + worked(20), "person's"},
		"the user's, before all": {titled("custom", "person's") + begun + worked(90) + titled("ai", "agent's"), "person's"},
		"taken away":             {begun + titled("custom", "person's") + worked(10) + titled("custom", "") + worked(20), "agent's"},
		"nobody's":               {record("user", `{"role":"user","content":"one"}`) + worked(90), ""},
	} {
		dir := t.TempDir()
		writeTranscript(t, dir, c.content)
		for _, want := range []discover.ReadOptions{{}, {Tokens: true}, {Full: true}} {
			if got, _ := records(t, dir, discover.EntryFilter{}, want); len(got) != 1 || got[0].Title != c.want {
				t.Errorf("%s, %+v: %+v, want %q", name, want, got, c.want)
			}
		}
	}
}

// TestDamageIsSaid: records beside a damaged one are read, and each reader names the file and the line of what is lost.
func TestDamageIsSaid(t *testing.T) {
	dir := t.TempDir()
	const later = `{"sessionId" : "x", "message": {"id": "m2", "model": "m", "content": "second answer", "usage": {"input_tokens": 7}}, ` +
		`"type": "assistant", "timestamp": "2026-01-01T00:00:10.000Z", "cwd": "/w", "uuid": "u9"}`
	for name, damage := range map[string]string{
		"a cut record": `{"type":"mode","mo`, "a cut answer": minimal[:len(minimal)/2], "zeros": "\x00\x00\x00", "a whole one before it": `{"type":"mode"}{"type":`,
	} {
		path := writeTranscript(t, dir, minimal+damage+later+"\n")
		place := fmt.Sprintf("line %d", strings.Count(minimal+damage, "\n")+1)
		e := discover.Entry{Agent: agentName, ID: alive, Path: path, Home: dir}
		check := func(reader, got string, want bool, err error) {
			t.Helper()
			if warned := warningsIn(t, err); !want || len(warned) != 1 || warned[0].Path != path || !strings.Contains(warned[0].Error(), place+":") {
				t.Errorf("%s: %s: %s, %v, want %s", name, reader, got, err, place)
			}
		}
		for _, options := range []discover.ReadOptions{{Tokens: true}, {Full: true}} {
			var r sessionUsage
			ok, err := reader{ReadOptions: options}.readSession(t.Context(), e, &r)
			check("record", golden.JSON(t, r.Record), ok && r.Prompt == "hi" && r.Tokens != nil && r.Tokens.In == 7, err)
		}
		var texts []string
		var warned error
		for m, err := range New().Messages(t.Context(), discover.Record{ID: alive, Path: path}) {
			if warned = cmp.Or(warned, err); err == nil {
				texts = append(texts, m.Text)
			}
		}
		check("messages", fmt.Sprint(texts), len(texts) > 1 && texts[0] == "second answer", warned)
	}
}

// TestOneTitle: a session has one title, however much of it is read: that of the file beside it, else that of the records near its ends.
func TestOneTitle(t *testing.T) {
	filler := strings.Repeat(strings.Replace(minimal, `"hi"`, `"`+strings.Repeat("x", 1000)+`"`, 1), 100)
	named := func(name string) string { return `{ "customTitle" : "` + name + `", "type" : "custom-title" }` + "\n" }
	for name, c := range map[string]struct{ transcript, file, want string }{
		"a file alone":             {minimal, "\uFEFF{ \"customTitle\" : \" File \" }", "File"},
		"a file and a record":      {minimal + named("Record"), `{"customTitle":"File"}`, "File"},
		"a blank file":             {minimal + named("Record"), `{"customTitle":" "}`, "Record"},
		"a blank name":             {minimal + named("Record") + named("  "), "", ""},
		"before the first prompt":  {named("Early") + minimal + filler, "", "Early"},
		"long before the end":      {minimal + named("Middle") + filler, "", ""},
		"in the middle of all":     {minimal + filler + filler + filler + named("Middle") + filler, "", ""},
		"the newest near the ends": {minimal + named("Old") + filler + named("New"), "", "New"},
	} {
		dir := t.TempDir()
		path := writeTranscript(t, dir, c.transcript)
		if c.file != "" {
			beside := strings.TrimSuffix(path, transcriptSuffix)
			must.Do(t, os.MkdirAll(beside, 0o700))
			must.Do(t, os.WriteFile(filepath.Join(beside, "custom-title.json"), []byte(c.file), 0o600))
		}
		for _, options := range []discover.ReadOptions{{}, {Tokens: true}, {Full: true}, {Quotas: true}, {TurnStart: true}} {
			got, warned := records(t, dir, discover.EntryFilter{}, options)
			if len(got) != 1 || got[0].Title != c.want || len(warned) > 0 {
				t.Errorf("%s, %+v: %q, %v, want %q", name, options, got[0].Title, warned, c.want)
			}
		}
	}
}
