package output

import (
	"cmp"
	"io"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"agentctl/discover"
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
	Message
	// SessionLabel names the session in front of the message; "" if there is only one session.
	SessionLabel string
	// Changed: the message was printed before, and has changed since.
	Changed bool
}

// Write prints a message. For a tool call that was printed before, it prints the new state of the call.
func (t *Transcript) Write(m TranscriptMessage) error {
	var b strings.Builder
	switch {
	case m.Tool == nil:
		t.writeHeader(&b, m)
		t.writeText(&b, m)
	case m.Changed:
		b.WriteString(t.callLine(m, cmp.Or(stateText(m.Tool), m.Tool.State)))
		t.writeOutput(&b, m)
	default:
		t.writeCall(&b, m)
	}
	return t.flush(&b)
}

// WriteWaiting ends a transcript whose messages do not show what the session waits for.
func (t *Transcript) WriteWaiting(s *Session) error {
	var b strings.Builder
	t.writeBlankLine(&b)
	b.WriteString(t.colored(waitingColor, waitingText(s.WaitingFor)) + "\n")
	return t.flush(&b)
}

func (t *Transcript) flush(b *strings.Builder) error {
	_, err := io.WriteString(t.out, b.String())
	return err
}

// writeBlankLine separates a paragraph from the one before.
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

func headerLabel(m *Message) (name, color string) {
	switch discover.MessageKind(m.Kind) {
	case discover.KindError:
		return "error", "1;31"
	case discover.KindInterruption:
		return "interrupted", "1;35"
	case discover.KindCompaction:
		return "compacted", "1;35"
	}
	switch discover.Role(m.Role) {
	case discover.RoleUser:
		return m.Role, "1;36"
	case discover.RoleAssistant:
		return m.Role, "1;32"
	}
	return m.Role, "2"
}

func (t *Transcript) timeText(timestamp string) string {
	at, ok := parseTimestamp(timestamp)
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
	if name, _ := headerLabel(&m.Message); m.text() == "" || m.text() == name { // the header says it all
		return
	}
	limit := 0
	if m.Kind == string(discover.KindCompaction) {
		limit = t.maxLines()
	}
	t.writeLines(b, m.text(), "  ", limit)
}

// colored adds a colour to a text, if colours are enabled.
func (t *Transcript) colored(color, text string) string {
	if !t.opts.Color || color == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// DisplayWidth is the width of a text, which may contain colours.
func DisplayWidth(s string) int { return displayOptions().String(s) }

// displayOptions measure texts that may contain colours.
func displayOptions() displaywidth.Options { return displaywidth.Options{ControlSequences: true} }
