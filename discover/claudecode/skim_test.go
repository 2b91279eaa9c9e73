package claudecode

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// checkSkim holds what skim tells of a record against what parseLine does, who is the judge.
func checkSkim(t *testing.T, s *skim, raw []byte) kind {
	t.Helper()
	got, k := s.record(raw)
	if k == heard {
		if leading := leadingType(raw); leading != "user" {
			t.Fatalf("a user's record, not one of %q: %.400q", leading, raw)
		}
		return k
	}
	if k == unusual {
		return k
	}
	l, ok := parseLine(raw)
	want := l.skimmed()
	typ, wantType := [...]string{said: "assistant", noted: "system"}[k], l.Type
	if k == noted {
		want.ID, want.RequestID = got.ID, got.RequestID
	}
	switch {
	case !ok || typ != wantType || l.synthetic() || l.Subtype == "compact_boundary" ||
		l.ForkedFrom != nil || l.RequestSessionID != nil:
		t.Fatalf("not so simple a record of %q (%v): %.400q", wantType, ok, raw)
	case got.Usage != want.Usage || got.IsSidechain != want.IsSidechain || !got.Timestamp.Time().Equal(want.Timestamp.Time()) ||
		got.ID.Text(0) != want.ID.Text(0) || got.RequestID.Text(0) != want.RequestID.Text(0):
		t.Fatalf("got %+v\nwant %+v\nof %.400q", got, want, raw)
	}
	return k
}

// Nearly all that Claude Code writes has a usual form, in all versions.
func TestSkimKnowsWhatClaudeCodeWrites(t *testing.T) {
	var s skim
	var of [noted + 1]int
	for _, path := range transcripts(t) {
		raw, err := os.ReadFile(path)
		must(t, err)
		for line := range bytes.Lines(raw) {
			line = bytes.TrimSuffix(line, []byte{'\n'})
			if noteType(line) != nil || isAttachment(line) {
				continue
			}
			l, _ := parseLine(line)
			k := checkSkim(t, &s, line)
			of[k]++
			usual := l.Type == "user" && leadingType(line) == "user" || l.Type == "assistant" && !l.synthetic() && l.ForkedFrom == nil
			if usual && k == unusual && l.RequestSessionID == nil {
				t.Errorf("%s: an unusual record: %.400q", path, line)
			}
		}
	}
	if of[said] == 0 || of[heard] == 0 || of[noted] == 0 {
		t.Errorf("records of kinds: %v", of)
	}
}

const aSaid = `{"parentUuid":"a","isSidechain":false,"message":{"model":"m","id":"msg_1","type":"message","role":"assistant",` +
	`"content":[{"type":"text","text":"as \"usage\":{\"input_tokens\":9}"}],"stop_reason":null,"usage":{"input_tokens":1,` +
	`"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":4,"output_tokens_details":{"thinking_tokens":5},"server_tool_use":{"":6},` +
	`"cache_creation":null,"iterations":[{"input_tokens":7}]}},` +
	`"requestId":"req_1","type":"assistant","uuid":"u","timestamp":"2026-11-20T19:09:28.087Z","cwd":"/","version":"2"}`

const (
	aHeard = `{"parentUuid":null,"isSidechain":true,"promptId":"p","type":"user","message":{"content":"hello"},"uuid":"u"}`
	aNoted = `{"parentUuid":"u","isSidechain":false,"type":"system","subtype":"turn_duration","durationMs":17,"timestamp":"2026-11-20T19:09:28.087Z"}`
)

// A record that was damaged anywhere after one that was not is what parseLine says it is.
func TestSkimTakesNoDamagedRecord(t *testing.T) {
	bits := []string{"", `"`, `\`, `{`, `}`, `[`, `,`, `:`, ` `, `1`, `"usage":{},`, `"thinking_tokens":8,`, `"":9,`, `"input_tokens":"1",`, `"output_tokens_details":{},`, `"type":"user",`, `{"id":"b"}`, `"message":{"id":"msg_2"},`}
	for _, raw := range []string{aSaid, aHeard, aNoted} {
		var s skim
		if checkSkim(t, &s, []byte(raw)) == unusual {
			t.Fatalf("unusual: %s", raw)
		}
		for i := range len(raw) + 1 {
			for _, bit := range bits {
				for _, to := range []int{i, min(i+1, len(raw)), len(raw)} {
					checkSkim(t, &s, []byte(raw[:i]+bit+raw[to:]))
					checkSkim(t, &s, []byte(raw))
				}
			}
			checkSkim(t, &s, []byte(raw[:i]+raw)) // two lines run into one by a crash
		}
	}
}

func FuzzSkim(f *testing.F) {
	f.Add([]byte(strings.Join([]string{aSaid, aHeard, aNoted, aSaid, aSaid}, "\n")))
	for _, path := range transcripts(f) {
		content, err := os.ReadFile(path)
		must(f, err)
		if len(content) < 10_000 {
			f.Add(content)
		}
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		var s skim
		for line := range bytes.SplitSeq(content, []byte{'\n'}) {
			checkSkim(t, &s, line)
		}
	})
}
