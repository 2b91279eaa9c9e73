package codex

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/discover/native"
)

// instructed is a rollout with these instructions, which asks for something.
func instructed(text, prompt string) []byte {
	meta := fmt.Sprintf(`{"timestamp":"2026-11-20T19:00:00.000Z","type":"session_meta","payload":{"id":"%s","cwd":"/work","cli_version":"0.169.0","base_instructions":{"text":"%s"},"git":{"branch":"main"}}}`, someID, text)
	asked := fmt.Sprintf(`{"timestamp":"2026-11-20T19:00:01.000Z","type":"event_msg","payload":{"type":"user_message","message":"%s"}}`, prompt)
	return rollout(meta, startedLine, contextLine, asked, callLine, outputLine+strings.Repeat(" ", 40<<10))
}

// readWith reads a rollout as one of many: with what was kept of those before it.
func readWith(t *testing.T, w *world, data []byte, scratch *native.Scratch) (reading, *native.File) {
	t.Helper()
	path := w.file("sessions/2026/11/20/rollout-2026-11-20T19-00-00-"+someID+".jsonl", string(data))
	f, err := native.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	f.Use(scratch)
	e := discover.Entry{Agent: discover.Codex, ID: someID, Path: path, Home: w.home}
	var r reading
	r.name(e)
	if err := r.readFile(f, tailLimit, e, discover.Want{}); err != nil {
		t.Fatal(err)
	}
	return r, f
}

// Known instructions are not read again, whoever asks for what in which directory, and others are not taken for them.
func TestKnownInstructions(t *testing.T) {
	w, scratch := newWorld(t), new(native.Scratch)
	text := strings.Repeat(`you are an agent, \"quoted\" and\nmore `, 500)
	seen := &native.Own[kept](scratch).seen
	for _, c := range []struct {
		text  string
		known bool
	}{
		{text, false},
		{text, true},
		{text + `one more word`, false},
		{text, true},
		{text + `one more word`, true},
		{strings.Replace(text, "agent", "ageNt", 1), false},
		{text[:len(text)-100] + strings.ToUpper(text[len(text)-100:len(text)-50]) + text[len(text)-50:], false},
		{"short", false},
		{text, true},
	} {
		_, f := readWith(t, w, instructed(c.text, "nothing"), nil)
		if brief, _ := seen.without(f); (brief != f) != c.known {
			t.Errorf("instructions of %d bytes are known: %v, want %v", len(c.text), brief != f, c.known)
		}
		prompt := fmt.Sprintf("asked %d", len(c.text))
		if r, _ := readWith(t, w, instructed(c.text, prompt), scratch); r.Prompt != prompt || r.Branch != "main" || r.Dir != "/w" {
			t.Errorf("prompt %q, branch %q, directory %q, want %q, main and /w", r.Prompt, r.Branch, r.Dir, prompt)
		}
	}
}

// A rollout whose first record is being written, behind instructions that are known, does not spoil the reading of the next.
func TestKnownInstructionsWithoutAnEnd(t *testing.T) {
	w := newWorld(t)
	for more := 0; more < page; more += 50 { // wherever in a page they end
		scratch := new(native.Scratch)
		text := strings.Repeat("you are an agent and more ", 2000) + strings.Repeat("x ", more/2)
		whole := instructed(text, "asked")
		for _, size := range []int{len(whole), len(text) + 200, len(whole)} {
			r, _ := readWith(t, w, whole[:size], scratch)
			if want := map[bool]string{true: "asked"}[size == len(whole)]; r.Prompt != want {
				t.Fatalf("of %d bytes: prompt %q, want %q", size, r.Prompt, want)
			}
		}
	}
}

// The same instructions take one place, however often they are read because the rollout is short.
func TestInstructionsAreRememberedOnce(t *testing.T) {
	var s seen
	line, _, _ := strings.Cut(string(instructed(strings.Repeat("word ", 3000), "asked")), "\n")
	for range 3 {
		s.learn([]byte(line))
	}
	if len(s.texts) != 1 {
		t.Errorf("%d texts, want 1", len(s.texts))
	}
}

// What is read of a rollout does not depend on those that were read before it, whatever their instructions have in common.
func TestInstructionsDoNotMatter(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	w, scratch := newWorld(t), new(native.Scratch)
	words := []string{"word", `\"`, `\\`, `\n`, " ", "  ", "é", `\u00e9`, "}", `\"}`, `,\"base_instructions\":{\"text\":\"`}
	part := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteString(words[random.IntN(len(words))])
		}
		return b.String()
	}
	begins := []string{part(3500), part(2900)}
	middles := []string{part(10_000), part(10_000), ""}
	ends := []string{part(600), part(400)}
	pick := func(list []string) string { return list[random.IntN(len(list))] }
	skipped := 0
	for range 400 {
		data := instructed(pick(begins)+pick(middles)+pick(ends), part(random.IntN(200)))
		want, f := readWith(t, w, data, nil)
		if brief, _ := native.Own[kept](scratch).seen.without(f); brief != f {
			skipped++
		}
		got, _ := readWith(t, w, data, scratch)
		if got.changed = want.changed; !reflect.DeepEqual(got, want) {
			t.Fatalf("read after others: %+v\nalone: %+v\n%.4000s", got, want, data)
		}
		_ = os.Remove(want.Path)
	}
	if skipped < 100 {
		t.Errorf("the instructions of %d rollouts of 400 were known, want a quarter at least", skipped)
	}
}
