package codex

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/discover"
)

// turnLines are the records of a turn that began at that hour: its start, its prompt and the thread's token count after its answer.
func turnLines(hours int, prompt string, total, last int) []string {
	count := func(n int) string {
		return fmt.Sprintf(`{"input_tokens":%d,"output_tokens":0,"total_tokens":%[1]d}`, n)
	}
	return []string{
		strings.Replace(startedLine, `"task_started"`, `"task_started","turn_id":"`+strings.Replace(idAt(hours), "-8000-", "-9000-", 1)+`"`, 1),
		strings.Replace(askedLine, "do it", prompt, 1), answerLine,
		`{"timestamp":"2026-11-20T19:00:06Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":` + count(total) + `,"last_token_usage":` + count(last) + `}}}`,
		completeLine,
	}
}

// What a thread has copied from the one that started it, or that it was forked from, is neither its prompt nor its tokens, whether the copy
// has the other thread's first record or the start of each turn or not.
func TestCopiesOfAnotherThread(t *testing.T) {
	meta := func(hours int, more string) string {
		return `{"timestamp":"2026-11-20T19:00:00Z","type":"session_meta","payload":{"id":"` + idAt(hours) + `",` + more + `"cwd":"/w"}}`
	}
	parent := append(turnLines(1, "split it", 100, 100), turnLines(2, "spawn", 300, 200)...)
	forked := `"forked_from_id":"` + idAt(1) + `",`
	for name, test := range map[string]struct {
		origin string
		copies []string
		own    []string
		prompt string
		used   int64
	}{
		"with its first record":          {spawnedLegacy(idAt(1)), append([]string{meta(1, own)}, parent...), turnLines(5, "part 1", 350, 50), "part 1", 50},
		"without the start of a turn":    {forked + spawnedLegacy(idAt(1)), parent[1:3:4], turnLines(5, "part 1", 50, 50), "part 1", 50},
		"cut before the count":           {forked, append(parent[1:5:5], parent[5:8]...), turnLines(5, "part 1", 150, 50), "part 1", 50},
		"count repeated in the own turn": {forked, parent, append(turnLines(5, "part 1", 300, 200), turnLines(6, "more", 340, 40)...), "part 1", 40},
		"none":                           {spawnedLegacy(idAt(1)), nil, turnLines(5, "part 1", 50, 50), "part 1", 50},
		"copies only":                    {forked, parent, nil, "", 0},
		"a turn of an unknown time":      {spawnedLegacy(idAt(1)), nil, []string{startedLine, askedLine, answerLine}, "do it", 0},
	} {
		w := newSubagentHome(t)
		w.file(rolloutPath(1, plainExt), string(rollout(append([]string{meta(1, own)}, parent...)...)))
		w.file(rolloutPath(5, plainExt), string(rollout(append(append([]string{meta(5, test.origin)}, test.copies...), test.own...)...)))
		var sum int64
		for u, err := range New().ReadUsage(t.Context(), entriesOf(t, w.home)) {
			for _, a := range u.Usage {
				if err == nil && u.ID == idAt(5) {
					sum += a.Tokens.Total
				}
			}
		}
		for _, r := range readHome(t, w.home, discover.ReadOptions{}) {
			if r.ID == idAt(5) && (r.Prompt != test.prompt || sum != test.used || r.Tokens != nil && r.Tokens.In != test.used) {
				t.Errorf("%s: prompt %q, %d tokens, %+v", name, r.Prompt, sum, r.Tokens)
			}
		}
	}
}

// An older count that is recorded again, or one without numbers, changes nothing, at the end of a rollout and within it.
func TestOlderCountAgain(t *testing.T) {
	count := func(total int) string { return turnLines(1, "", total, 1)[3] }
	missing := strings.NewReplacer(`"input_tokens":7,`, "", `"total_tokens":7`, `"total_tokens":-7`).Replace(count(7))
	first := turnLines(1, "a", 100, 100)
	for name, lines := range map[string][]string{
		"once":            {count(300), count(100)},
		"others of it":    {count(200), count(300), count(100), count(200)},
		"and a new turn":  append([]string{count(200), count(100)}, turnLines(2, "b", 300, 100)...),
		"without numbers": {count(300), missing},
		"null before":     {strings.Replace(count(1), `"info":{`, `"info":null,"x":{`, 1), count(300), count(100)},
	} {
		w := newSubagentHome(t)
		w.file(rolloutPath(1, plainExt), string(rollout(append(append([]string{strings.Replace(metaLine, someID, idAt(1), 1)}, first...), lines...)...)))
		var sum int64
		for u, err := range New().ReadUsage(t.Context(), entriesOf(t, w.home)) {
			for _, a := range u.Usage {
				sum += a.Tokens.Total
			}
			if err != nil || u.Tokens.In != 300 {
				t.Errorf("%s: %v, %+v", name, err, u.Tokens)
			}
		}
		if sum != 300 {
			t.Errorf("%s: the answers have %d tokens", name, sum)
		}
	}
}

func entriesOf(t *testing.T, home string) []discover.Entry {
	t.Helper()
	entries, err := New().Entries(t.Context(), []discover.Home{{Dir: home}}, discover.EntryFilter{Subagents: true})
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// A token_usage_record that is stored twice counts once.
func TestRecordTwice(t *testing.T) {
	record := func(total, used int) string {
		line := strings.Replace(turnLines(1, "", total, used)[3], `"event_msg","payload":{"type":"token_count","info":{`, `"token_usage_record","payload":{`, 1)
		return strings.NewReplacer("total_token_usage", "thread_token_usage", "last_token_usage", "usage", "}}}}", "}}}").Replace(line)
	}
	lines := []string{startedLine, askedLine, answerLine, record(100, 100), record(100, 100), answerLine, record(300, 200)}
	w := newSubagentHome(t)
	w.file(rolloutPath(1, plainExt), string(rollout(append(append([]string{strings.Replace(metaLine, someID, idAt(1), 1)}, lines...), lines[4:]...)...)))
	for u, err := range New().ReadUsage(t.Context(), entriesOf(t, w.home)) {
		if err != nil || u.Tokens.In != 300 || len(u.Usage) != 2 || u.Usage[0].Tokens.Total != 100 || u.Usage[1].Tokens.Total != 200 {
			t.Errorf("%v, %+v, %+v", err, u.Tokens, u.Usage)
		}
	}
}
