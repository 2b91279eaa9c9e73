package output

import (
	"cmp"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"agentctl/discover"
)

// call adds a tool's call: a line, and if that is asked for what it was called with and what it returned.
func (t *Transcript) call(b *strings.Builder, e Entry) {
	if name, _ := label(e.Message); t.speaker != e.Whose+"\n"+name {
		t.head(b, e)
	}
	b.WriteString(t.callLine(e, stateText(e)))
	if t.look.Tools {
		t.part(b, "input", inputText(e.Tool.Input))
	}
	t.output(b, e)
}

func (t *Transcript) output(b *strings.Builder, e Entry) {
	if t.look.Tools {
		t.part(b, "output", e.Tool.Output)
	}
}

// callLine says in one line what is called and how far it has got.
func (t *Transcript) callLine(e Entry, state string) string {
	if e.Tool.State == discover.ToolFailed && !t.look.Tools {
		if why := Clean(firstLine(e.Tool.Output)); why != "" {
			state += ": " + why
		}
	}
	words := []string{cmp.Or(Clean(e.Tool.Name), "-"), Clean(e.Tool.Brief), state}
	if t.look.Width > 0 {
		t.shorten(words, t.look.Width-width(t.whose(e))-displaywidth.String(bullet))
	}
	color := stateColor(e.Tool.State)
	line := t.whose(e) + t.paint(color, bullet) + words[0]
	if words[1] != "" {
		line += gap + words[1]
	}
	if words[2] != "" {
		line += gap + t.paint(color, words[2])
	}
	return line + "\n"
}

// bullet begins the line of a call.
const bullet = "⏺ "

// shorten makes the words of a call fit into so many columns: first what it does, then how it ended, then its name.
func (t *Transcript) shorten(words []string, columns int) {
	over := -columns - len(gap)
	for _, w := range words {
		if w != "" {
			over += displaywidth.String(w) + len(gap)
		}
	}
	for _, part := range []struct{ word, least int }{{1, 12}, {2, 12}, {0, 8}, {1, 4}, {2, 7}, {0, 4}} {
		if is := displaywidth.String(words[part.word]); over > 0 && is > part.least {
			words[part.word] = cut(words[part.word], max(part.least, is-over), false)
			over -= is - displaywidth.String(words[part.word])
		}
	}
}

// stateText says how far a call has got; nothing of one that is done.
func stateText(e Entry) string {
	switch e.Tool.State {
	case discover.ToolDone:
		return ""
	case discover.ToolWaiting:
		return waitText(e.Of)
	}
	return string(e.Tool.State)
}

func waitText(s discover.Session) string {
	if s.WaitingFor == "" {
		return "waiting"
	}
	return "waiting for " + Clean(s.WaitingFor)
}

func stateColor(s discover.ToolState) string {
	switch s {
	case discover.ToolDone:
		return "32"
	case discover.ToolFailed:
		return "31"
	case discover.ToolWaiting:
		return "1;33"
	case discover.ToolRefused, discover.ToolCut:
		return "33"
	}
	return "36"
}

// firstLine is the first one with something in it.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if strings.TrimSpace(line) != "" {
			return line
		}
	}
	return ""
}
