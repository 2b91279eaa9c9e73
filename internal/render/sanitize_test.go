package render_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"agentctl/internal/render"
)

func TestSanitize(t *testing.T) {
	for in, want := range map[string]string{
		"":                                   "",
		"plain text":                         "plain text",
		" two  words\n":                      "two words",
		"a\tb\r\nc\vd":                       "a b c d",
		"\x1b[31mred\x1b[0m":                 "red",
		"\x1b]0;owned\a title":               "title",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;": "link",
		"\x1bP1$qm\x1b\\after":               "after",
		"\u009b2Jcleared":                    "cleared",
		"\u009d0;t\u009cafter":               "after",
		"\x1bcreset":                         "reset",
		"\x1b":                               "",
		"\x1b[":                              "",
		"\x1b[31\x1b[32mgreen":               "green",
		"\x1b]unfinished\nnext line":         "next line",
		"back\b\b\x7fspace":                  "backspace",
		"bell\a":                             "bell",
		"\u202egnp.exe\u202c":                "gnp.exe",
		"\u2066isolate\u2069 \u061c\u200f":   "isolate",
		"zero\u200bwidth\ufeff":              "zerowidth",
		"line\u2028para\u2029end":            "line para end",
		"soft\u00adhyphen":                   "softhyphen",
		"no\u00a0break":                      "no break",
		"bad\xffutf8\xc3":                    "bad\ufffdutf8\ufffd",
		"raw C1 \x9b31m":                     "raw C1 \ufffd31m",
		"日本語 👩\u200d💻 é":                     "日本語 👩\u200d💻 é",
		"tag\U000e0041s":                     "tags",
		"\u115f\u3164fill":                   "fill",
		"private\ue000use":                   "privateuse",
		"la\u200dtin \u200d \u200cx":         "latin x",
		"v\ufe00s\U000e0100":                 "vs",
		"❤\ufe0f":                            "❤\ufe0f",
	} {
		if got := render.Sanitize(in); got != want {
			t.Errorf("Sanitize(%q) = %q, want %q", in, got, want)
		}
	}
}

// unsafeReason says which kind of unsafe character s contains, if any. It checks the property independently of the
// code.
func unsafeReason(s string) string {
	for _, r := range s {
		switch {
		case r == zwj, r == zwnj:
		case r < 0x20, r >= 0x7f && r <= 0x9f:
			return "control"
		case unicode.In(r, unicode.Bidi_Control):
			return "bidi"
		case r == 0x2028, r == 0x2029:
			return "separator"
		case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return "invisible"
		}
	}
	if !utf8.ValidString(s) {
		return "encoding"
	}
	return ""
}

const zwnj, zwj = '\u200c', '\u200d'

func FuzzSanitize(f *testing.F) {
	for _, s := range []string{"", "a b", "\x1b[31mx", "\x1b]0;t\a", "\u202e\u009b1m", "\xff\xc2", "日本\u200d", "a\u2028\x1bP\x1b\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := render.Sanitize(s)
		if h := unsafeReason(got); h != "" {
			t.Errorf("Sanitize(%q) = %q: %s", s, got, h)
		}
		if again := render.Sanitize(got); again != got {
			t.Errorf("not idempotent: %q, %q", got, again)
		}
		if strings.Contains(got, "  ") || strings.TrimSpace(got) != got {
			t.Errorf("Sanitize(%q) = %q: blanks", s, got)
		}
	})
}

func TestSanitizeLines(t *testing.T) {
	for in, want := range map[string]string{
		"":                                 "",
		"one\ntwo":                         "one\ntwo",
		"  code\t{\n\n\t}  \n":             "  code\t{\n\n\t}  \n",
		"dos\r\nmac\rend\r\n":              "dos\nmac\nend\n",
		"\r\r\n\n":                         "\n\n\n",
		"a\vb\fc\u0085d\u2028e\u2029f":     "a\nb\ncd\ne\nf",
		"no\u00a0break 日本\u3000語":          "no\u00a0break 日本\u3000語",
		"\x1b[31mred\x1b[0m\x1b]0;t\a \nx": "red \nx",
		"\x1b]unfinished\nnext line":       "\nnext line",
		"bell\a\u202egnp\u200b\x7f\xff":    "bellgnp\ufffd",
		"क\u200dष क\u200d ष\u200d\n":       "क\u200dष क ष\n",
		"日\u200d\u3000\u200d本":             "日\u3000本",
	} {
		if got := render.SanitizeLines(in); got != want {
			t.Errorf("SanitizeLines(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzSanitizeLines(f *testing.F) {
	for _, s := range []string{"", "a b\r\n", "\x1b[31mx\t", "\x1b]0;t\a", "\u202e\u009b1m", "\xff\xc2", "日本\u200d\u3000", "a\u2028\x1bP\x1b\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := render.SanitizeLines(s)
		if h := unsafeReason(strings.NewReplacer("\n", "", "\t", "").Replace(got)); h != "" {
			t.Errorf("SanitizeLines(%q) = %q: %s", s, got, h)
		}
		if again := render.SanitizeLines(got); again != got {
			t.Errorf("not idempotent: %q, %q", got, again)
		}
		if one := render.Sanitize(got); one != render.Sanitize(s) {
			t.Errorf("SanitizeLines(%q) = %q shows something else than Sanitize: %q", s, got, one)
		}
	})
}
