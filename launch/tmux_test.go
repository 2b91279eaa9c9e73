package launch

import "testing"

// A title cannot run a command in tmux, which expands formats in the names of windows.
func TestWindowName(t *testing.T) {
	for title, want := range map[string]string{
		"port the parser":            "port the parser",
		"#(touch /tmp/x) #{pane} %H": "(touch /tmp/x) {pane} H",
		"a\nb\x1b[31m":               "a b [31m",
		"work:1.2":                   "work12",
		"öööööööööööööööööööööööööööööööö": "öööööööööööööööööööööööööööööö",
	} {
		if got := windowName(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}
