package search

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"agentctl/tests/must"
)

// pieces are what random texts and patterns consist of: what JSON escapes, letters whose other case has more bytes, emoji.
var pieces = []string{
	"a", "b", "K", "k", "s", "S", "ſ", "K", "é", "É", "ß", "日", "🦊", "𐐀", "𐐨", `"`, `\`, "/", "\n", "\t", "\x01", "\x1b", " ", "_", "7", "u", "n", "�", "foo", "Bar", "task",
}

func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	for range r.IntN(n) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// encode writes a JSON string as a writer may: any character may be a \u escape.
func encode(r *rand.Rand, text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range text {
		plain, _ := json.Marshal(string(c))
		switch escaped := r.IntN(8) == 0; {
		case escaped && c > 0xffff:
			hi, lo := utf16.EncodeRune(c)
			fmt.Fprintf(&b, `\u%04x\u%04X`, hi, lo)
		case escaped:
			fmt.Fprintf(&b, `\u%04X`, c)
		case c == '/' && r.IntN(2) == 0:
			b.WriteString(`\/`)
		default:
			b.Write(plain[1 : len(plain)-1])
		}
	}
	b.WriteByte('"')
	return b.String()
}

func randomPattern(r *rand.Rand, depth int) string {
	word := regexp.QuoteMeta(randomText(r, 4))
	if depth == 0 {
		return word
	}
	sub := func() string { return randomPattern(r, depth-1) }
	switch r.IntN(9) {
	case 0:
		return sub() + "|" + sub()
	case 1:
		return "(" + sub() + ")+" + word
	case 2:
		return "(?:" + sub() + ")*" + sub()
	case 3:
		return sub() + ".*" + sub()
	case 4:
		return `\b` + word + `\W`
	case 5:
		return "(?i)" + sub()
	case 6:
		return "(" + sub() + "){2}"
	case 7:
		return "^" + sub() + "$"
	}
	return sub() + sub()
}

// What may be skipped has no match: whatever a text is, however it is encoded, and whatever is searched for.
func TestSkippedTextHasNoMatch(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it runs in one goroutine, so the race detector finds nothing in it")
	}
	matches, skipped := 0, 0
	for seed := range uint64(6_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		o := PatternOptions{Literal: r.IntN(4) == 0, IgnoreCase: r.IntN(3) == 0, Words: r.IntN(4) == 0}
		text := randomText(r, 12)
		pattern := randomPattern(r, 2)
		if o.Literal {
			pattern = randomText(r, 4)
		}
		p, err := Compile(o, pattern)
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		raw := encode(r, text)
		var decoded string
		if err := json.Unmarshal([]byte(raw), &decoded); err != nil || decoded != text {
			t.Fatalf("%s: %q, %v", raw, decoded, err)
		}
		everything := Pattern{first: p.first, next: p.next} // without words nothing is skipped
		if len(everything.Find(text)) == 0 {
			if !p.MayMatch([]byte(raw)) {
				skipped++
			}
			continue
		}
		matches++
		nested, _ := json.Marshal(map[string]string{"arguments": raw})                          // JSON in a string of JSON
		before, after := strings.Repeat(`,"\n`, r.IntN(1000)), strings.Repeat("un", r.IntN(50)) // it is found at any place of a longer text
		for name, got := range map[string]bool{
			"JSON": p.MayMatch([]byte(raw)), "JSON in JSON": p.MayMatch(nested), "text": p.MayMatch([]byte(text)),
			"part of a long text": p.MayMatch([]byte(before + raw + after)),
		} {
			if !got {
				t.Fatalf("%s: %q is skipped, in which %q (%+v) matches; words %+v", name, text, pattern, o, p.words)
			}
		}
	}
	if matches < 150 || skipped < 600 {
		t.Errorf("%d texts matched, %d were skipped", matches, skipped)
	}
}

func TestCase(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		o             PatternOptions
		want          bool
	}{
		{"parser", "The Parser", PatternOptions{}, true},
		{"Parser", "the parser", PatternOptions{}, false},
		{"Parser", "the parser", PatternOptions{IgnoreCase: true}, true},
		{`\Sarser`, "the PARSER", PatternOptions{}, true},
		{`[A-Z]arser`, "the parser", PatternOptions{}, true},
		{"task", "tasK taſk", PatternOptions{}, true},
		{"a.b", "axb", PatternOptions{Literal: true}, false},
		{"é", "É", PatternOptions{}, true},
	} {
		p, err := Compile(c.o, c.pattern)
		must.Do(t, err)
		if got := len(p.Find(c.text)) > 0; got != c.want {
			t.Errorf("%q %+v in %q: %v", c.pattern, c.o, c.text, got)
		}
	}
}

func TestSpans(t *testing.T) {
	for _, c := range []struct {
		pattern, text, want string
		o                   PatternOptions
	}{
		{"foo", "foo food _foo foo", "[{0 3} {4 7} {10 13} {14 17}]", PatternOptions{}},
		{"foo", "foo food _foo éfoo foo", "[{0 3} {20 23}]", PatternOptions{Words: true}},
		{"foo", "foo foo", "[{0 3} {4 7}]", PatternOptions{Words: true}},
		{"a*", "baac", "[{1 3}]", PatternOptions{}},
		{"^b", "a\nb", "[{2 3}]", PatternOptions{}},
		{"a.b", "a\nb", "[]", PatternOptions{}},
		{`a\nb`, "a\nb", "[{0 3}]", PatternOptions{}},
		{"^a", "aa b", "[{0 1}]", PatternOptions{}},
		{"^a", "aa\na", "[{0 1} {3 4}]", PatternOptions{}},
		{`\Aa`, "aaa", "[{0 1}]", PatternOptions{}},
		{`\ba`, "aa a", "[{0 1} {3 4}]", PatternOptions{}},
		{`\Ba`, "aaa", "[{1 2} {2 3}]", PatternOptions{}},
		{"x*^a", "aa", "[{0 1}]", PatternOptions{}},
		{"^", "a\nb", "[]", PatternOptions{}},
		{"é|^b", "ébéb", "[{0 2} {3 5}]", PatternOptions{}},
		{"(?:^.)?foo", "foo foo", "[{0 3} {4 7}]", PatternOptions{Words: true}},
	} {
		p, err := Compile(c.o, c.pattern)
		must.Do(t, err)
		if got := fmt.Sprint(p.Find(c.text)); got != c.want {
			t.Errorf("%q %+v in %q: %s, want %s", c.pattern, c.o, c.text, got, c.want)
		}
	}
}

// An escape of a letter is found wherever it begins, behind others, and nothing else is taken for one.
func TestEscapeAnywhere(t *testing.T) {
	const filler = `say \"u\" and \\n, uu\t `
	for at := range 100 {
		for escape, want := range map[string]bool{`\u0061`: true, `\u212a`: true, `\u001b`: false, `\n`: false, `u0061`: false} {
			text := strings.Repeat(filler, 9)
			text = text[:at] + " " + escape + " " + text[at:]
			if got := hasEscape([]byte(text)); got != want {
				t.Errorf("%s at %d: %v", escape, at, got)
			}
		}
	}
}
