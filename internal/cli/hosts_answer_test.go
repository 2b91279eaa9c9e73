package cli

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"agentctl/discover"
	"agentctl/internal/object"
)

// word is an answer of one JSON string.
type word string

func (*word) SetHost(string) {}
func (*word) Check() error   { return nil }

// decoded returns the objects of an answer.
func decoded(in io.Reader) (list []string, err error) {
	err = decodeObjects(in, func() object.Answer { return new(word) }, func(obj object.Answer) error {
		list = append(list, string(*obj.(*word)))
		return nil
	})
	return list, err
}

func isBad(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "its answer is not understood: ")
}

// An array and a stream are told apart by their first character, however the answer arrives.
func TestDecodeObjects(t *testing.T) {
	for in, want := range map[string]string{
		"": "[]", " \t\r\n": "[]", "[]": "[]", `"a" "b"`: "[a b]", `["a","b"]`: "[a b]", "[\n\"a\"\r\n,\t\"b\" ]\n": "[a b]", `["a",`: "[a]", "\n\"a\"\n": "[a]",
	} {
		for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in)), iotest.DataErrReader(strings.NewReader(in))} {
			if list, err := decoded(r); err != nil || fmt.Sprint(list) != want {
				t.Errorf("%q: %v, %v; want %s", in, list, err, want)
			}
		}
	}
	for _, in := range []string{"{", "nothing", `["a" "b"]`, "[1]", "]"} {
		if _, err := decoded(strings.NewReader(in)); in != "{" && !isBad(err) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// endless repeats a text.
type endless string

func (e endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		n += copy(p[n:], e)
	}
	return n, nil
}

// Neither an object without an end nor endless blanks are read for ever.
func TestEndlessAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it runs in one goroutine, so the race detector finds nothing in it")
	}
	for _, in := range []io.Reader{endless(" "), io.MultiReader(strings.NewReader(`["`), endless("a")), io.MultiReader(strings.NewReader(`["a"`), endless(" "))} {
		if _, err := decoded(in); !isBad(err) {
			t.Errorf("%v", err)
		}
	}
}

// An export is read with its sub-agents. What the contract does not allow is refused.
func TestDecodeExport(t *testing.T) {
	session := `{"id":"a","adapter":"codex","status":"stopped","meta":{}}`
	message := `{"id":"m","role":"user","kind":"text","text":"hello"}`
	var e *object.Export
	read := func(text string) error {
		return decodeObjects(strings.NewReader(text), func() object.Answer { return new(object.Export) }, func(obj object.Answer) error {
			e = obj.(*object.Export)
			return nil
		})
	}
	if err := read(`{"session":` + session + `,"later":[{}],"messages":[` + message + `,` + message + `],"missing":["x"],"children":[{"session":` + session + `,"messages":[]}]}`); err != nil {
		t.Fatal(err)
	}
	if len(e.Messages) != 2 || *e.Messages[1].Text != "hello" || len(e.Children) != 1 || *e.Children[0].Session.ID != "a" || len(e.Missing) != 1 {
		t.Errorf("%+v", e)
	}
	for _, bad := range []string{
		`{"messages":[]}`, `{"session":{"adapter":"codex","status":"asleep"},"messages":[]}`, `{"session":` + session + `,"messages":[{"role":"x"}]}`,
		`{"session":` + session + `,"messages":[{"role":"user","kind":"text","time":"1"}]}`, `{"session":` + session + `,"messages":{}}`, `[1]`,
	} {
		if err := read(bad); !isBad(err) {
			t.Errorf("%.80s: %v", bad, err)
		}
	}
	if err := read(`{"session":` + session + `,"messages":[` + message); err != nil { // the exit code says that the answer is cut
		t.Error(err)
	}
}

// The text of a host is that of this machine, with H: before each ID.
func TestTextOfAHost(t *testing.T) {
	world := func(width int) (Env, *Output) {
		f, out := WithMessages(t)
		s := f.Adapters[1].(Stub)
		s.ClaimList[1].Turn = &discover.Turn{State: discover.TurnWaiting, WaitingFor: "permission"}
		s.Transcripts["aaaaaaaa-1"] = s.Transcripts["aaaaaaaa-1"][:2] // none of them is the call that waits
		s.Answers = map[string][]discover.Usage{
			"aaaaaaaa-1": {usageAnswer("opus", time.Hour), costs(usageAnswer("sonnet", 2*time.Hour), 1.5)}, "eeeeeeee-1": {usageAnswer("opus", time.Hour)},
		}
		f.Adapters[1], f.Width = s, width
		return f, out
	}
	ofHost := regexp.MustCompile("(?m)^(host +local|- Host: `local`)\n")
	for _, args := range []string{
		"list", "list -a --since all", "list -q -a", "list --format {{.id}}", "list --wide", "list --orphans",
		"status ID", "status ID --explain", "status ID --alive", "status nothing",
		"peek ID", "peek ID -n 1", "peek aaaaaaaa-2 --children", "logs ID --tools -n 0", "peek ffffffff",
		"export ID", "search pass", "search -l tests", "search -n 1 e", "search nowhere",
		"usage", "usage --by session", "usage --by model", "usage --by project --since all", "usage --limits",
		"stop ID --dry-run", "stop ID pid:20 --dry-run", "stop nothing", "rm --dry-run --older-than 1s", "rm --yes aaaaaaaa-2", "rm --yes ID",
	} {
		for _, width := range []int{0, 300} {
			words := strings.Fields(strings.ReplaceAll(args, "ID", "aaaaaaaa-1"))
			f, out := world(width)
			wantExit := Run(t.Context(), f, words...)
			want := columns(out.Stdout.String())
			out.Stdout.Reset()
			exit := Run(t.Context(), f, append(words, "--host", "local")...)
			got := columns(strings.ReplaceAll(ofHost.ReplaceAllString(out.Stdout.String(), ""), "local:", ""))
			if got != want || exit != wantExit {
				t.Errorf("%s, %d columns: exit %d\n%s\nwant %d\n%s%s", args, width, exit, got, wantExit, want, out.Stderr.String())
			}
		}
	}
}

// columns returns a text with one blank between two columns: H: makes one wider.
func columns(text string) string { return regexp.MustCompile(`  +|─+`).ReplaceAllString(text, " ") }
