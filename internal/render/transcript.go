package render

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"agentctl/discover"
	"agentctl/internal/object"
)

// Transcript prints messages as text. It indents the content of a message, so that content cannot imitate a
// header.
type Transcript struct {
	opts TranscriptOptions
	out  io.Writer
	// lastHeader identifies the header printed last; lastModels has the model that answered last in each session.
	lastHeader string
	lastModels map[string]string
}

// TranscriptOptions says how a transcript is formatted.
type TranscriptOptions struct {
	TextOptions
	// ShowAge adds to each time how long ago it was.
	ShowAge bool
	// ShowTools prints the input and output of tool calls.
	ShowTools bool
	// Full prints inputs, outputs and briefs without truncation. With Width 0 they are never truncated.
	Full bool
}

func NewTranscript(out io.Writer, opts TranscriptOptions) *Transcript {
	return &Transcript{opts: opts, out: out, lastModels: map[string]string{}}
}

// TranscriptMessage is a message, with how it is shown.
type TranscriptMessage struct {
	object.Message
	// SessionLabel names the session in front of the message; "" if there is only one session.
	SessionLabel string
}

// Write prints a message. For a tool call that was printed before, it prints the new state of the call.
func (t *Transcript) Write(m TranscriptMessage) error {
	var b strings.Builder
	switch {
	case m.Tool == nil:
		t.writeHeader(&b, m)
		t.writeText(&b, m)
	case m.Changed:
		b.WriteString(t.callLine(m, cmp.Or(StateText(m.Tool), m.Tool.State)))
		if t.opts.ShowTools {
			t.writeSection(&b, "output", m.Tool.Result())
		}
	default:
		t.writeCall(&b, m)
	}
	if m.WaitingFor != "" {
		t.writeBlankLine(&b)
		b.WriteString(t.colored(waitingColor, waitingText(m.WaitingFor)) + "\n")
	}
	_, err := io.WriteString(t.out, b.String())
	return err
}

func (t *Transcript) writeBlankLine(b *strings.Builder) {
	if t.lastHeader != "" {
		b.WriteByte('\n')
	}
	t.lastHeader = "none"
}

// writeHeader prints the role, the time, and the model if it has changed.
func (t *Transcript) writeHeader(b *strings.Builder, m TranscriptMessage) {
	t.writeBlankLine(b)
	name, color := headerLabel(&m.Message)
	t.lastHeader = m.SessionLabel + "\n" + name
	words := []string{t.colored(color, name)}
	if at := t.timeText(m.Time); at != "" {
		words = append(words, t.colored("2", at))
	}
	if m.Model != "" && m.Model != t.lastModels[m.Session] {
		t.lastModels[m.Session] = m.Model
		words = append(words, t.colored("2", Sanitize(m.Model)))
	}
	line := func() string { return t.sessionLabel(m) + strings.Join(words, columnGap) }
	for t.opts.Width > 0 && len(words) > 1 && DisplayWidth(line()) > t.opts.Width {
		words = words[:len(words)-1]
	}
	b.WriteString(line() + "\n")
}

func headerLabel(m *object.Message) (name, color string) {
	switch discover.MessageKind(m.Kind) {
	case discover.KindError:
		return "error", "1;31"
	case discover.KindInterruption:
		return "interrupted", "1;35"
	case discover.KindCompaction:
		return "compacted", "1;35"
	}
	colors := map[discover.Role]string{discover.RoleUser: "1;36", discover.RoleAssistant: "1;32"}
	return m.Role, cmp.Or(colors[discover.Role(m.Role)], "2")
}

func (t *Transcript) timeText(timestamp string) string {
	at, ok := object.ParseTimestamp(timestamp)
	switch {
	case !ok:
		return ""
	case t.opts.ShowAge:
		return t.opts.timeAndAge(timestamp)
	}
	return at.In(t.opts.Now.Location()).Format(time.DateTime)
}

func (t *Transcript) sessionLabel(m TranscriptMessage) string {
	if m.SessionLabel == "" {
		return ""
	}
	return t.colored("2", "["+m.SessionLabel+"]") + " "
}

// writeText prints the text of a message. The summary of a compaction is long and may be truncated.
func (t *Transcript) writeText(b *strings.Builder, m TranscriptMessage) {
	if name, _ := headerLabel(&m.Message); m.Content() == "" || m.Content() == name { // the header says it all
		return
	}
	limit := 0
	if m.Kind == string(discover.KindCompaction) {
		limit = t.maxLines()
	}
	t.writeLines(b, m.Content(), "  ", limit)
}

// colored adds a colour to a text, if colours are enabled.
func (t *Transcript) colored(color, text string) string {
	if !t.opts.Color || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// writeCall prints a tool call: one line, and its input and output with ShowTools.
func (t *Transcript) writeCall(b *strings.Builder, m TranscriptMessage) {
	if name, _ := headerLabel(&m.Message); t.lastHeader != m.SessionLabel+"\n"+name {
		t.writeHeader(b, m)
	}
	b.WriteString(t.callLine(m, StateText(m.Tool)))
	if t.opts.ShowTools {
		t.writeSection(b, "input", InputText(m.Tool.Input))
		t.writeSection(b, "output", m.Tool.Result())
	}
}

func (t *Transcript) callLine(m TranscriptMessage, state string) string {
	if m.Tool.State == string(discover.ToolFailed) && !t.opts.ShowTools {
		if why := Sanitize(firstLine(m.Tool.Result())); why != "" {
			state += ": " + why
		}
	}
	words := []string{cmp.Or(Sanitize(m.Tool.Name), "-"), Sanitize(m.Tool.Brief), state}
	if t.opts.Width > 0 {
		t.fitWords(words, t.opts.Width-DisplayWidth(t.sessionLabel(m))-displaywidth.String(bullet))
	}
	color := stateColor(m.Tool.State)
	return t.sessionLabel(m) + t.colored(color, bullet) + joinKnown(columnGap, words[0], words[1], t.colored(color, words[2])) + "\n"
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

// StateText is the state of a call; "" for one that is done.
func StateText(c *object.ToolCall) string {
	switch discover.ToolState(c.State) {
	case discover.ToolDone:
		return ""
	case discover.ToolWaiting:
		return waitingText(c.WaitingFor)
	}
	return Sanitize(c.State)
}

func waitingText(reason string) string {
	if reason == "" {
		return "waiting"
	}
	return "waiting for " + Sanitize(reason)
}

func stateColor(state string) string {
	colors := map[discover.ToolState]string{
		discover.ToolDone: "32", discover.ToolFailed: "31", discover.ToolWaiting: waitingColor, discover.ToolRefused: "35", discover.ToolInterrupted: "35",
	}
	return cmp.Or(colors[discover.ToolState(state)], "36")
}

// maxSectionLines is the number of lines at which inputs, outputs and briefs are truncated.
const maxSectionLines = 10

// maxLines is the number of lines of such a text that are printed; 0: all.
func (t *Transcript) maxLines() int {
	if t.opts.Full || t.opts.Width == 0 {
		return 0
	}
	return maxSectionLines
}

// writeSection prints the input or the output of a tool under its name.
func (t *Transcript) writeSection(b *strings.Builder, name, text string) {
	if text == "" {
		return
	}
	b.WriteString("    " + t.colored("2", name) + "\n")
	t.writeLines(b, text, "      ", t.maxLines())
}

// writeLines prints a text, indented and wrapped. After limit lines it prints how much is omitted; 0 is no limit.
func (t *Transcript) writeLines(b *strings.Builder, text, indent string, limit int) {
	rest := strings.Split(strings.TrimRight(SanitizeLines(text), "\n"), "\n")
	for n := 0; len(rest) > 0; rest = rest[1:] {
		parts := []string{rest[0]}
		if t.opts.Width > 0 {
			parts = wrap(rest[0], t.opts.Width-len(indent))
		}
		for i, part := range parts {
			if limit > 0 && n == limit {
				b.WriteString(indent + t.colored("2", omittedText(parts[i:], rest)) + "\n")
				return
			}
			b.WriteString(strings.TrimRight(indent+part, " ") + "\n")
			n++
		}
	}
}

// omittedText says how much of a text is omitted: a number of lines, or the rest of the last line.
func omittedText(parts, lines []string) string {
	if n := len(lines); n > 1 {
		return fmt.Sprintf("… %d more lines", n)
	}
	return fmt.Sprintf("… %d more characters", len([]rune(strings.Join(parts, " "))))
}

// InputText formats the input of a tool: one line a member of a JSON object, and texts of several lines below
// their names.
func InputText(raw json.RawMessage) string {
	var b strings.Builder
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return valueText(raw)
	}
	for dec.More() {
		var value json.RawMessage
		name, err := dec.Token()
		if err != nil || dec.Decode(&value) != nil {
			return valueText(raw)
		}
		text := strings.TrimRight(valueText(value), "\n")
		if strings.Contains(text, "\n") {
			text = "\n  " + strings.ReplaceAll(text, "\n", "\n  ")
		}
		fmt.Fprintf(&b, "%v: %s\n", name, text)
	}
	return b.String()
}

// valueText is a JSON string without quotes, or any other value as JSON.
func valueText(raw json.RawMessage) string {
	var text *string
	if json.Unmarshal(raw, &text) == nil && text != nil {
		return *text
	}
	return string(raw)
}
