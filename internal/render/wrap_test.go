package render

import (
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"
)

func TestWrap(t *testing.T) {
	for _, tc := range []struct {
		line  string
		width int
		want  string
	}{
		{"", 20, ""},
		{"   ", 20, ""},
		{"short", 20, "short"},
		{"just as wide", 12, "just as wide"},
		{"just as wide   ", 12, "just as wide"},
		{"one two three four", 9, "one two|three|four"},
		{"one   two", 8, "one|two"},
		{"  - one two three", 10, "  - one|  two|  three"},
		{"          deep indent is given up", 12, "          de|ep indent is|given up"},
		{"abcdefghijklmnop", 8, "abcdefgh|ijklmnop"},
		{"a abcdefghijklmnop b", 8, "a|abcdefgh|ijklmnop|b"},
		{"日本語の長い文", 8, "日本語の|長い文"},
		{"a日本語の", 8, "a日本語|の"},
		{"👩\u200d💻👩\u200d💻👩\u200d💻👩\u200d💻👩\u200d💻", 8, "👩\u200d💻👩\u200d💻👩\u200d💻👩\u200d💻|👩\u200d💻"},
		{"\tif x {\treturn", 12, "    if x {|    return"},
		{"ab\tc", 20, "ab  c"},
		{"narrower than that it never gets", 1, "narrower|than|that it|never|gets"},
	} {
		if got := strings.Join(wrap(tc.line, tc.width), "|"); got != tc.want {
			t.Errorf("%q in %d: %q, want %q", tc.line, tc.width, got, tc.want)
		}
	}
}

// No line is too wide, and nothing but blanks is removed.
func TestWrapKeepsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := SanitizeLines(strings.ReplaceAll(rapid.StringOfN(rapid.RuneFrom([]rune("ab  \t-日é👩\u200d💻")), 0, 80, -1).Draw(t, "line"), "\n", ""))
		width := rapid.IntRange(minWrapWidth, 30).Draw(t, "width")
		lines := wrap(line, width)
		for _, l := range lines {
			if n := displaywidth.String(l); n > width {
				t.Fatalf("%q in %d: %q is %d wide", line, width, l, n)
			}
		}
		words := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got := words(strings.Join(lines, "")); got != words(line) {
			t.Fatalf("%q: %q", line, got)
		}
	})
}

// What is behind a prefix stays in its column. A path that fits no line is left whole.
func TestWrapHanging(t *testing.T) {
	for _, tc := range []struct {
		text  string
		width int
		want  string
	}{
		{"one two three", 40, "key  one two three"},
		{"one two three four five six seven", 26, "key  one two three four\n     five six seven"},
		{"one two three four five six seven", 0, "key  one two three four five six seven"},
		{"in ~/a/very/long/path/of/a/file", 26, "key  in ~/a/very/long/path/of/a/file"},
		{"one two three four ~/a/very/long/path/of/a/file: it is damaged and more words", 26, "key  one two three four ~/a/very/long/path/of/a/file: it is damaged and more\n     words"},
		{"one \x1b[1mtwo three four\x1b[0m five six seven", 26, "key  one \x1b[1mtwo three four\x1b[0m\n     five six seven"},
		{"", 0, "key  "},
	} {
		if got := WrapHanging("key  ", tc.text, tc.width); got != tc.want {
			t.Errorf("%d columns: %q, want %q", tc.width, got, tc.want)
		}
	}
}
