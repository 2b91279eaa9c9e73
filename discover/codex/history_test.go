package codex

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"agentctl/discover"
	"agentctl/tests/must"
)

// damages are what a rollout can suffer so that it cannot be read.
var damages = map[string]func(path string) error{
	"no record":       func(path string) error { return os.WriteFile(path, []byte("no rollout\n"), 0o600) },
	"an endless line": func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("x"), 5<<20), 0o600) },
	"another thread's": func(path string) error {
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, bytes.ReplaceAll(raw, []byte("01a1ffee-adaf"), []byte("01a1ffee-0000")), 0o600)
	},
	"a directory": func(path string) error {
		if err := os.Remove(path); err != nil {
			return err
		}
		return os.Mkdir(path, 0o700)
	},
}

// A session of several rollouts is read from the intact ones, whichever is damaged. A warning names the damaged one.
func TestDamagedSegment(t *testing.T) {
	whole := readHome(t, editedPrompts(t), discover.ReadOptions{})[0]
	rollouts, err := filepath.Glob("testdata/30-edited-prompt/sessions/*/*/*/*")
	if err != nil || len(rollouts) != 4 {
		t.Fatalf("%v, %v", rollouts, err)
	}
	for i, rollout := range rollouts {
		name := strings.TrimPrefix(rollout, "testdata/30-edited-prompt/")
		first, newest := i == 0, i == len(rollouts)-1
		for what, damage := range damages {
			home := editedPrompts(t)
			must.Do(t, damage(filepath.Join(home, name)))
			for _, want := range []discover.ReadOptions{{}, {Tokens: true}, {Full: true}} {
				records, warnings := readEntries(t, home, discover.EntryFilter{}, want)
				if len(records) != 1 || records[0].ID != whole.ID {
					t.Errorf("%s: %s: %+v: got %+v, %v", name, what, want, records, warnings)
					continue
				}
				r := records[0]
				needed := first || newest || want.Tokens || want.Full
				if needed && (len(warnings) == 0 || !strings.Contains(warnings[0].Error(), filepath.Join(home, name))) {
					t.Errorf("%s: %s: %+v: no warning of that file: %v", name, what, want, warnings)
				}
				if made, _ := threadCreated(whole.ID); r.Created.Sub(made).Abs() > time.Minute {
					t.Errorf("%s: %s: created %v", name, what, r.Created)
				}
				if !first && r.Prompt != whole.Prompt || r.Dir != whole.Dir {
					t.Errorf("%s: %s: %q in %s", name, what, r.Prompt, r.Dir)
				}
				if newest && what != "a directory" && (r.Turn.State != discover.TurnUnknown || filepath.Base(r.Path) != filepath.Base(whole.Path)) || !newest && r.Turn.State != whole.Turn.State {
					t.Errorf("%s: %s: turn %+v of %s", name, what, r.Turn, r.Path)
				}
				if (want.Tokens || want.Full) && r.Tokens != nil {
					t.Errorf("%s: %s: tokens of a part: %+v", name, what, r.Tokens)
				}
			}
		}
	}
}

// If a plain rollout is damaged, its compressed copy is read.
func TestIntactCompressedRollout(t *testing.T) {
	const day = "sessions/2026/11/20/"
	home, name := t.TempDir(), "rollout-2026-11-20T19-00-00-"+someID+".jsonl"
	packed := compress(t, rollout(metaLine, startedLine, contextLine, askedLine, completeLine))
	if err := errors.Join(os.MkdirAll(filepath.Join(home, day), 0o700), os.WriteFile(filepath.Join(home, day, name), []byte("no rollout\n"), 0o600),
		os.WriteFile(filepath.Join(home, day, name+".zst"), packed, 0o600)); err != nil {
		t.Fatal(err)
	}
	records, warnings := readEntries(t, home, discover.EntryFilter{}, discover.ReadOptions{})
	if len(records) != 1 || records[0].Prompt != "do it" || records[0].Turn.State != discover.TurnUnknown || len(warnings) != 1 {
		t.Errorf("%+v, %v", records, warnings)
	}
}

// editedPrompts copies a thread of four rollouts.
func editedPrompts(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	must.Do(t, os.CopyFS(home, os.DirFS("testdata/30-edited-prompt")))
	return home
}

// If the rollout that it continues is deleted, a rollout has what it contains itself.
func TestSegmentWithoutBase(t *testing.T) {
	home := editedPrompts(t)
	older, _ := filepath.Glob(filepath.Join(home, "sessions/2026/11/21/*edfc.jsonl"))
	more, _ := filepath.Glob(filepath.Join(home, "sessions/2026/11/21/*_01a1fff[34]-[42][b0]*.jsonl"))
	for _, path := range append(older, more...) {
		must.Do(t, os.Remove(path))
	}
	if r := readHome(t, home, discover.ReadOptions{Tokens: true})[0]; r.Model == "" || r.Prompt == "" {
		t.Errorf("%+v", r)
	}
}

// What other programs and crashes leave of a rollout's lines is read as far as it is whole. What is lost is said, in every command.
func TestRestsOfRecords(t *testing.T) {
	meta := strings.ReplaceAll(metaLine, someID, idAt(1))
	first, second := turnLines(1, "one", 100, 100), turnLines(2, "two", 300, 200)
	spaced := strings.NewReplacer(`":`, `" : `, `,"`, ` , "`)
	for name, test := range map[string]struct {
		data string
		lost string // the line that is named; "" if nothing is lost
	}{
		"a byte order mark":      {"\uFEFF" + string(rollout(slices.Concat([]string{meta}, first, second)...)), ""},
		"white space":            {spaced.Replace(string(rollout(slices.Concat([]string{meta}, first, second)...))), ""},
		"no line breaks":         {meta + strings.Join(slices.Concat(first, second), "") + "\n", ""},
		"no last line break":     {string(rollout(slices.Concat([]string{meta}, first)...)) + strings.Join(second, "\n"), ""},
		"a record that was cut":  {string(rollout(slices.Concat([]string{meta}, first)...)) + callLine[:90] + string(rollout(second...)), "line 7"},
		"cut in the older turn":  {string(rollout(meta, first[0])) + callLine[:90] + string(rollout(slices.Concat(first[1:], second)...)), "line 3"},
		"zeros":                  {string(rollout(slices.Concat([]string{meta}, first)...)) + strings.Repeat("\x00", 512) + string(rollout(second...)), "line 7"},
		"half a surrogate pair":  {strings.Replace(string(rollout(slices.Concat([]string{meta}, first, second)...)), "done", `do\ud83dne`, 1), ""},
		"cut before line breaks": {string(rollout(slices.Concat([]string{meta}, first, []string{answerLine[:70]}, second)...)), "line 7"},
	} {
		w := newSubagentHome(t)
		w.file(rolloutPath(1, plainExt), test.data)
		said := func(what string, warnings []error) {
			if text := fmt.Sprint(warnings); test.lost == "" && len(warnings) > 0 || !strings.Contains(text, test.lost) {
				t.Errorf("%s: %s warns %s, want %q", name, what, text, test.lost)
			}
		}
		records, warnings := readEntries(t, w.home, discover.EntryFilter{}, discover.ReadOptions{Full: true, Tokens: true})
		if len(records) != 1 || records[0].Prompt != "one" || records[0].Tokens == nil || records[0].Tokens.In != 300 || records[0].Turn.State != discover.TurnDone {
			t.Fatalf("%s: %+v", name, records)
		}
		if !strings.Contains(name, "older") { // a list reads the newest turn
			said("status", warnings)
		}
		list, warnings := messagesOf(t, records[0])
		if len(list) != 4 || !utf8.ValidString(list[2].Text) {
			t.Errorf("%s: %+v", name, list)
		}
		said("logs", warnings)
		warnings = nil
		for u, err := range New().ReadUsage(t.Context(), entriesOf(t, w.home)) {
			if err != nil {
				warnings = append(warnings, err)
			} else if len(u.Usage) != 2 {
				t.Errorf("%s: %+v", name, u.Usage)
			}
		}
		said("usage", warnings)
	}
}
