package output

import (
	"cmp"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"agentctl/discover"
)

// writeCall prints a tool call: one line, and its input and output with ShowTools.
func (t *Transcript) writeCall(b *strings.Builder, m TranscriptMessage) {
	if name, _ := headerLabel(&m.Message); t.lastHeader != m.SessionLabel+"\n"+name {
		t.writeHeader(b, m)
	}
	b.WriteString(t.callLine(m, stateText(m.Tool)))
	if t.opts.ShowTools {
		t.writeSection(b, "input", InputText(m.Tool.Input))
	}
	t.writeOutput(b, m)
}

func (t *Transcript) writeOutput(b *strings.Builder, m TranscriptMessage) {
	if t.opts.ShowTools {
		t.writeSection(b, "output", m.Tool.output())
	}
}

func (t *Transcript) callLine(m TranscriptMessage, state string) string {
	if m.Tool.State == string(discover.ToolFailed) && !t.opts.ShowTools {
		if why := Sanitize(firstLine(m.Tool.output())); why != "" {
			state += ": " + why
		}
	}
	words := []string{cmp.Or(Sanitize(m.Tool.Name), "-"), Sanitize(m.Tool.Brief), state}
	if t.opts.Width > 0 {
		t.fitWords(words, t.opts.Width-DisplayWidth(t.sessionLabel(m))-displaywidth.String(bullet))
	}
	color := stateColor(m.Tool.State)
	line := t.sessionLabel(m) + t.colored(color, bullet) + words[0]
	if words[1] != "" {
		line += columnGap + words[1]
	}
	if words[2] != "" {
		line += columnGap + t.colored(color, words[2])
	}
	return line + "\n"
}

// bullet begins the line of a tool call.
const bullet = "⏺ "

// fitWords truncates the three words of a call line to a width: first the brief, then the state,
// then the name of the tool.
func (t *Transcript) fitWords(words []string, columns int) {
	excess := -columns - len(columnGap)
	for _, w := range words {
		if w != "" {
			excess += displaywidth.String(w) + len(columnGap)
		}
	}
	for _, part := range []struct{ word, min int }{{1, 12}, {2, 12}, {0, 8}, {1, 4}, {2, 7}, {0, 4}} {
		if w := displaywidth.String(words[part.word]); excess > 0 && w > part.min {
			words[part.word] = truncate(words[part.word], max(part.min, w-excess), false)
			excess -= w - displaywidth.String(words[part.word])
		}
	}
}

// stateText is the state of a call; "" for one that is done.
func stateText(c *ToolCall) string {
	switch discover.ToolState(c.State) {
	case discover.ToolDone:
		return ""
	case discover.ToolWaiting:
		return waitingText(c.WaitingFor)
	}
	return c.State
}

func waitingText(reason string) string {
	if reason == "" {
		return "waiting"
	}
	return "waiting for " + Sanitize(reason)
}

func stateColor(state string) string {
	switch discover.ToolState(state) {
	case discover.ToolDone:
		return "32"
	case discover.ToolFailed:
		return "31"
	case discover.ToolWaiting:
		return waitingColor
	case discover.ToolRefused, discover.ToolInterrupted:
		return "35"
	}
	return "36"
}

// firstLine is the first line that is not blank.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if strings.TrimSpace(line) != "" {
			return line
		}
	}
	return ""
}
