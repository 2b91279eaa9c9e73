package output

import (
	"cmp"
	"io"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"agentctl/discover"
)

// Transcript writes messages for people, one after the other. What a session said is indented, so that it cannot look
// like what is said about it.
type Transcript struct {
	opts TranscriptOptions
	out  io.Writer
	// lastHeader is who was named last, models what answered last in each session.
	lastHeader string
	lastModels map[string]string
}

// TranscriptOptions is how a transcript is to look.
type TranscriptOptions struct {
	TextOptions
	// ShowAge says of each message how long ago it was.
	ShowAge bool
	// ShowTools shows what tools were called with and what they returned.
	ShowTools bool
	// Full shortens nothing of that. Without a width nothing is shortened either.
	Full bool
}

// NewTranscript begins one.
func NewTranscript(out io.Writer, look TranscriptOptions) *Transcript {
	return &Transcript{opts: look, out: out, lastModels: map[string]string{}}
}

// TranscriptMessage is a message for a [Transcript], with the session that it is of as it is now.
type TranscriptMessage struct {
	discover.Message
	CurrentSession discover.Session
	// SessionLabel names the session beside the message; "" needs no naming.
	SessionLabel string
	// Changed: it was written before, and is another one now.
	Changed bool
}

// Write adds a message. Of a call that was written before it tells what has become of it.
func (t *Transcript) Write(e TranscriptMessage) error {
	var b strings.Builder
	switch {
	case e.Tool == nil:
		t.writeHeader(&b, e)
		t.writeText(&b, e)
	case e.Changed:
		b.WriteString(t.callLine(e, cmp.Or(stateText(e), string(e.Tool.State))))
		t.writeOutput(&b, e)
	default:
		t.writeCall(&b, e)
	}
	return t.flush(&b)
}

// WriteWaiting ends a transcript that does not show what its session waits for.
func (t *Transcript) WriteWaiting(s discover.Session) error {
	var b strings.Builder
	t.writeBlankLine(&b)
	b.WriteString(t.colored("33", waitingText(s)) + "\n")
	return t.flush(&b)
}

func (t *Transcript) flush(b *strings.Builder) error {
	_, err := io.WriteString(t.out, b.String())
	return err
}

// writeBlankLine parts a paragraph from the one before.
func (t *Transcript) writeBlankLine(b *strings.Builder) {
	if t.lastHeader != "" {
		b.WriteByte('\n')
	}
	t.lastHeader = "nobody"
}

// writeHeader names who speaks, when, and with which model if that is another one than before.
func (t *Transcript) writeHeader(b *strings.Builder, e TranscriptMessage) {
	t.writeBlankLine(b)
	name, color := headerLabel(e.Message)
	t.lastHeader = e.SessionLabel + "\n" + name
	words := []string{t.colored(color, name)}
	if at := t.timeText(e.Time); at != "" {
		words = append(words, t.colored("2", at))
	}
	if e.Model != "" && e.Model != t.lastModels[e.Session] {
		t.lastModels[e.Session] = e.Model
		words = append(words, t.colored("2", Sanitize(e.Model)))
	}
	line := t.sessionLabel(e) + strings.Join(words, columnGap)
	for t.opts.Width > 0 && len(words) > 1 && displayWidth(line) > t.opts.Width {
		words = words[:len(words)-1]
		line = t.sessionLabel(e) + strings.Join(words, columnGap)
	}
	b.WriteString(line + "\n")
}

// headerLabel is what a message is called, and its colour.
func headerLabel(m discover.Message) (name, color string) {
	switch m.Kind {
	case discover.KindError:
		return "error", "1;31"
	case discover.KindInterruption:
		return "interrupted", "1;33"
	case discover.KindCompaction:
		return "compacted", "1;35"
	}
	switch m.Role {
	case discover.User:
		return string(m.Role), "1;36"
	case discover.Assistant:
		return string(m.Role), "1;32"
	}
	return string(m.Role), "2"
}

func (t *Transcript) timeText(at time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case t.opts.ShowAge:
		return t.opts.timeAndAge(at)
	}
	return at.In(t.opts.Now.Location()).Format(time.DateTime)
}

func (t *Transcript) sessionLabel(e TranscriptMessage) string {
	if e.SessionLabel == "" {
		return ""
	}
	return t.colored("2", "["+e.SessionLabel+"]") + " "
}

// writeText adds the words of a message. A summary is long, and nobody's.
func (t *Transcript) writeText(b *strings.Builder, e TranscriptMessage) {
	if name, _ := headerLabel(e.Message); e.Text == "" || e.Text == name { // it says no more than its head
		return
	}
	most := 0
	if e.Kind == discover.KindCompaction {
		most = t.maxLines()
	}
	t.writeLines(b, e.Text, "  ", most)
}

// colored colours a text.
func (t *Transcript) colored(color, text string) string {
	if !t.opts.Color || color == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// displayWidth is that of a text, which may have colours.
func displayWidth(s string) int { return displaywidth.Options{ControlSequences: true}.String(s) }
