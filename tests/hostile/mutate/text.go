package mutate

import (
	"math/rand/v2"
	"strings"
	"unicode/utf8"
)

// Canary is what hostile texts try to run. The word stands for a path that the caller puts in its place.
const Canary = "@CANARY@"

// Text is a text that acts on who prints, splits, quotes or expands it without care.
func Text(r *rand.Rand) string {
	return pick(r, []string{
		"\x1b[2J\x1b[H\x1b]0;owned\x07", "\x1b]52;c;aGk=\x07", "\x9b31m", "\u009b2J", "a\rb\bc\x7f", "\u202eevil\u2066x\u2069", "line\nagentctl: error: forged\n",
		"$(touch " + Canary + ")", "`touch " + Canary + "`", "';touch " + Canary + ";'", "x\";touch${IFS}" + Canary + ";\"", "|touch " + Canary,
		"{{.}}{{call .}}", "%s%n%99999999d", "--help", "-rf", "../../../../etc/passwd", "/proc/self/root/proc/1/environ", "/dev/zero",
		"\x00", "\xff\xfe\xc0\xaf", "\ud7ff\uffff\ufffe", "null", "", " ", "\u200b\u200d\u2060", "e\u0301" + strings.Repeat("\u0301", 2000), "日本語😀👨‍👩‍👧‍👦",
		strings.Repeat("A", 1<<20), strings.Repeat("\\", 4096), strings.Repeat("[", 50_000), strings.Repeat("{\"a\":", 20_000), "9999999999999999999999999",
	})
}

// Name is the name of a file that means something else to a shell, a terminal, an option parser or a path parser.
func Name(r *rand.Rand) string {
	name := pick(r, []string{
		"a\nb", "\x1b[31mred", "-rf", "--help", "$(touch canary)", "`touch canary`", "a;touch canary", "\xff\xfe\x80", "..x", ".", "x ", " ", "*", "?", "~", "~root",
		"a\tb", "a\rb", "\u202etxt", "%s", "a'b\"c", "\\", "|", "&", strings.Repeat("n", 255), strings.Repeat("é", 127), "con", "\x7f", "\u009b2J", "{}", "a=b", "@x", "pid:1",
	})
	if name == "." {
		return ".hidden"
	}
	return name
}

// IDLike is text of the shape of an ID, with one byte that does not belong there, or a proper prefix.
func IDLike(r *rand.Rand, id string) string {
	if id == "" {
		return "0"
	}
	n := r.IntN(len(id))
	switch r.IntN(4) {
	case 0:
		return id[:n+1]
	case 1:
		return id[:n] + "/" + id[n+1:]
	case 2:
		return id[:n] + "\n" + id[n+1:]
	default:
		return strings.ToUpper(id)
	}
}

// short is text cut to at most n bytes, at a character's end.
func short(text string, n int) string {
	for len(text) > n || !utf8.ValidString(text) && len(text) > 0 && n < len(text) {
		text = text[:len(text)-1]
	}
	return text
}
