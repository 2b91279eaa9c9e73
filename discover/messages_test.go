package discover

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"agentctl/proc"
)

// endlessAdapter is an adapter whose transcript has no end.
type endlessAdapter struct {
	testAdapter
	text string
}

func (m endlessAdapter) Messages(context.Context, Record) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for yield(Message{Text: m.text, Tool: &ToolCall{Output: m.text}}, nil) {
			continue
		}
	}
}

// A transcript is given as far back as fits into memory, and a warning says that there is more.
func TestMessagesAreBounded(t *testing.T) {
	const part = 1 << 20
	scanner := newScanner(nil, endlessAdapter{testAdapter{agent: Codex}, strings.Repeat("x", part)})
	r := record(Codex, "s1", 1)
	n, warnings := 0, 0
	for m, err := range scanner.Messages(t.Context(), Session{Record: &r}) {
		if n += len(m.Text) + len(m.toolOutput()); err != nil {
			warnings++
		}
	}
	if warnings != 1 || n > maxMessageBytes+2*part || n < maxMessageBytes {
		t.Errorf("%d bytes, %d warnings", n, warnings)
	}
}

func (m Message) toolOutput() string {
	if m.Tool == nil {
		return ""
	}
	return m.Tool.Output
}

// fixedMessages is an adapter with one transcript, newest first.
type fixedMessages struct {
	testAdapter
	messages []Message
}

func (m fixedMessages) Messages(context.Context, Record) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for _, message := range m.messages {
			if !yield(message, nil) {
				return
			}
		}
	}
}

// A message that the user sends during a turn does not end its calls; the prompt of the turn ends those before it.
func TestMessageDuringATurn(t *testing.T) {
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	call := func(second int64) Message {
		return Message{Role: RoleAssistant, Kind: KindTool, Time: at(second), Tool: &ToolCall{State: ToolOpen}}
	}
	said := func(second int64) Message { return Message{Role: RoleUser, Kind: KindText, Time: at(second)} }
	scanner := newScanner(nil, fixedMessages{testAdapter{agent: Codex}, []Message{said(9), call(6), said(5), call(2)}})
	r := record(Codex, "s1", 1)
	shown := Evidence{Accepted: true, Claim: Claim{Turn: &Turn{State: TurnOpen, Began: at(5)}}}
	for name, c := range map[string]struct {
		session Session
		want    []ToolState
	}{
		"shown to be open":  {Session{Record: &r, Status: Running, Evidence: []Evidence{shown}}, []ToolState{ToolRunning, ToolInterrupted}},
		"not shown":         {Session{Record: &r, Status: Running}, []ToolState{ToolInterrupted, ToolInterrupted}},
		"stopped meanwhile": {Session{Record: &r, Status: Stopped, Evidence: []Evidence{shown}}, []ToolState{ToolInterrupted, ToolInterrupted}},
	} {
		var got []ToolState
		for m, err := range scanner.Messages(t.Context(), c.session) {
			if err != nil {
				t.Error(err)
			}
			if m.Tool != nil {
				got = append(got, m.Tool.State)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Results without a call take bounded memory, and are no other call's.
func TestResultsWithoutCalls(t *testing.T) {
	var r ToolResults
	for i := range 3 * maxResults {
		r.Add(fmt.Sprint(i), "x", ToolDone)
	}
	c := ToolCall{ID: "none"}
	if r.Complete(&c); len(r.byCall) > maxResults || c.State != ToolOpen {
		t.Errorf("%d results are kept, %+v", len(r.byCall), c)
	}
	r.Add("one", "failure", ToolFailed)
	for _, want := range []ToolState{ToolFailed, ToolOpen} { // a second call with the ID has no result
		if c := (ToolCall{ID: "one"}); true {
			if r.Complete(&c); c.State != want {
				t.Errorf("%+v, want %s", c, want)
			}
		}
	}
}

func TestStripContextFiles(t *testing.T) {
	spec, file := FormatContextFile("spec.md", "first\n\nsecond\n"), FormatContextFile("a b.go", "package a")
	for prompt, want := range map[string]string{
		spec + "\n\nmake it so":                      "make it so",
		"\n" + spec + "\n\n" + file + "\n\nmake\nit": "make\nit",
		"make it so":                            "make it so",
		" make it so":                           " make it so",
		spec:                                    spec,
		"--- File: cut ---\nits end is missing": "--- File: cut ---\nits end is missing",
		"see\n" + spec:                          "see\n" + spec,
	} {
		if got := StripContextFiles(prompt); got != want {
			t.Errorf("%q\nis %q\nwant %q", prompt, got, want)
		}
	}
}

// Whatever a store has in place of a text, a record holds a bounded part of it; this is checked for all its texts.
func TestRecordsAreBounded(t *testing.T) {
	long := strings.Repeat("ä", 1<<20)
	r := Record{Meta: Facts{"long": long, "number": 7}, Quotas: []Quota{{Name: long, Text: long}}}
	skipped := []string{"Agent", "ID", "Path", "Home"} // known from names, which systems bound
	fill(reflect.ValueOf(&r).Elem(), long, skipped)
	r.TruncateTexts()
	for name, text := range texts(reflect.ValueOf(r), "") {
		if len(text) > textLimit || len(text) < textLimit-utf8.UTFMax || !utf8.ValidString(text) {
			t.Errorf("%s has %d bytes", name, len(text))
		}
	}
	if len(r.Meta["long"].(string)) > textLimit || r.Meta["number"] != 7 {
		t.Errorf("meta: %d bytes, %v", len(r.Meta["long"].(string)), r.Meta["number"])
	}
	short := Record{Title: "a", Dir: "/x"}
	if short.TruncateTexts(); short.Title != "a" || short.Dir != "/x" {
		t.Errorf("%+v", short)
	}
}

// fill sets all texts of a struct, and of those within it, but for some.
func fill(v reflect.Value, text string, skipped []string) {
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case strings.Contains(strings.Join(skipped, " "), v.Type().Field(i).Name):
		case f.Kind() == reflect.String:
			f.SetString(text)
		case f.Kind() == reflect.Struct && f.Type().PkgPath() == v.Type().PkgPath():
			fill(f, text, skipped)
		}
	}
}

// texts are those of a struct that are not empty, by name.
func texts(v reflect.Value, prefix string) map[string]string {
	out := map[string]string{}
	for i := range v.NumField() {
		name := prefix + v.Type().Field(i).Name
		switch f := v.Field(i); {
		case f.Kind() == reflect.String && f.Len() > 0:
			out[name] = f.String()
		case f.Kind() == reflect.Struct && f.Type().PkgPath() == v.Type().PkgPath():
			maps.Copy(out, texts(f, name+"."))
		case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct && name == "Quotas":
			maps.Copy(out, texts(f.Index(0), name+"."))
		}
	}
	return out
}

// growingAdapter is an adapter whose storage grows. It is asked for the sub-agents of known parents only.
type growingAdapter struct{ *testAdapter }

func (b growingAdapter) Entries(ctx context.Context, homes []Home, q EntryFilter) ([]Entry, error) {
	if q.Parents == nil || !q.Subagents {
		panic("entries of other parents are asked for")
	}
	return b.testAdapter.Entries(ctx, homes, q)
}

func names(sessions []Session) string {
	var out []string
	for _, s := range sessions {
		out = append(out, s.ID)
	}
	return strings.Join(out, " ")
}

func subagentOf(parent, id string) Record {
	r := record(Codex, id, 1)
	r.Parent, r.Sub = parent, true
	return r
}

// Sub-agents of sub-agents are found too, whatever the order they are stored in. Other sessions are not, and each is read once.
func TestSubagentTrackerFindsNewSubagents(t *testing.T) {
	var opened []string
	m := &testAdapter{agent: Codex, opened: &opened, records: []Record{
		subagentOf("kid", "grandkid"), subagentOf("other", "cousin"), record(Codex, "other", 1), subagentOf("eldest", "kid"), subagentOf("", "unrelated"),
	}}
	f := newScanner(func() *proc.Table { panic("no process is asked") }, growingAdapter{m}).TrackSubagents()
	sessions := []Session{{Record: new(record(Codex, "eldest", 1))}}
	for _, step := range []struct {
		stored Record
		want   string
	}{
		{Record{}, "eldest kid grandkid"},
		{Record{}, "eldest kid grandkid"},
		{subagentOf("unborn", "late"), "eldest kid grandkid"},
		{subagentOf("grandkid", "unborn"), "eldest kid grandkid unborn late"},
	} {
		if step.stored.ID != "" {
			m.records = append(m.records, step.stored)
		}
		var warnings []*Warning
		var err error
		if sessions, warnings, err = f.Update(t.Context(), sessions); names(sessions) != step.want || err != nil || warnings != nil {
			t.Errorf("%s: %s, %v, %v; want %s", step.stored.ID, names(sessions), warnings, err, step.want)
		}
	}
	if len(opened) != len(m.records) {
		t.Errorf("%d sessions were read %d times: %v", len(m.records), len(opened), opened)
	}
}

// A session that is not stored yet has no sub-agents, and none are searched.
func TestSubagentTrackerWithoutSubagents(t *testing.T) {
	nobody := []Session{{Record: &Record{Agent: Codex}}}
	f := newScanner(nil, growingAdapter{&testAdapter{agent: Codex}}).TrackSubagents()
	if all, warnings, err := f.Update(t.Context(), nobody); len(all) != 1 || warnings != nil || err != nil {
		t.Errorf("%v, %v, %v", all, warnings, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := f.Update(ctx, nobody); err == nil {
		t.Error("it does not end with its context")
	}
}
