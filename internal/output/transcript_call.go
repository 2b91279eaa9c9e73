package output

import (
	"cmp"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"agentctl/discover"
)

// writeCall adds a tool's call: a line, and if that is asked for what it was called with and what it returned.
func (t *Transcript) writeCall(b *strings.Builder, e TranscriptMessage) {
	if name, _ := headerLabel(e.Message); t.lastHeader != e.SessionLabel+"\n"+name {
		t.writeHeader(b, e)
	}
	b.WriteString(t.callLine(e, stateText(e)))
	if t.opts.ShowTools {
		t.writeSection(b, "input", inputText(e.Tool.Input))
	}
	t.writeOutput(b, e)
}

func (t *Transcript) writeOutput(b *strings.Builder, e TranscriptMessage) {
	if t.opts.ShowTools {
		t.writeSection(b, "output", e.Tool.Output)
	}
}

// callLine says in one line what is called and how far it has got.
func (t *Transcript) callLine(e TranscriptMessage, state string) string {
	if e.Tool.State == discover.ToolFailed && !t.opts.ShowTools {
		if why := Sanitize(firstLine(e.Tool.Output)); why != "" {
			state += ": " + why
		}
	}
	words := []string{cmp.Or(Sanitize(e.Tool.Name), "-"), Sanitize(e.Tool.Brief), state}
	if t.opts.Width > 0 {
		t.fitWords(words, t.opts.Width-displayWidth(t.sessionLabel(e))-displaywidth.String(bullet))
	}
	color := stateColor(e.Tool.State)
	line := t.sessionLabel(e) + t.colored(color, bullet) + words[0]
	if words[1] != "" {
		line += columnGap + words[1]
	}
	if words[2] != "" {
		line += columnGap + t.colored(color, words[2])
	}
	return line + "\n"
}

// bullet begins the line of a call.
const bullet = "⏺ "

// fitWords makes the words of a call fit into so many columns: first what it does, then how it ended, then its name.
func (t *Transcript) fitWords(words []string, columns int) {
	over := -columns - len(columnGap)
	for _, w := range words {
		if w != "" {
			over += displaywidth.String(w) + len(columnGap)
		}
	}
	for _, part := range []struct{ word, least int }{{1, 12}, {2, 12}, {0, 8}, {1, 4}, {2, 7}, {0, 4}} {
		if is := displaywidth.String(words[part.word]); over > 0 && is > part.least {
			words[part.word] = truncate(words[part.word], max(part.least, is-over), false)
			over -= is - displaywidth.String(words[part.word])
		}
	}
}

// stateText says how far a call has got; nothing of one that is done.
func stateText(e TranscriptMessage) string {
	switch e.Tool.State {
	case discover.ToolDone:
		return ""
	case discover.ToolWaiting:
		return waitingText(e.CurrentSession)
	}
	return string(e.Tool.State)
}

func waitingText(s discover.Session) string {
	if s.WaitingFor == "" {
		return "waiting"
	}
	return "waiting for " + Sanitize(s.WaitingFor)
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
