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
	look TranscriptLook
	out  io.Writer
	// speaker is who was named last, models what answered last in each session.
	speaker string
	models  map[string]string
}

// TranscriptLook is how a transcript is to look.
type TranscriptLook struct {
	Look
	// Ages says of each message how long ago it was.
	Ages bool
	// Tools shows what tools were called with and what they returned.
	Tools bool
	// Whole shortens nothing of that. Without a width nothing is shortened either.
	Whole bool
}

// NewTranscript begins one.
func NewTranscript(out io.Writer, look TranscriptLook) *Transcript {
	return &Transcript{look: look, out: out, models: map[string]string{}}
}

// Entry is a message for a [Transcript], with the session that it is of as it is now.
type Entry struct {
	discover.Message
	Of discover.Session
	// Whose names the session beside the message; "" needs no naming.
	Whose string
	// Again: it was written before, and is another one now.
	Again bool
}

// Write adds a message. Of a call that was written before it tells what has become of it.
func (t *Transcript) Write(e Entry) error {
	var b strings.Builder
	switch {
	case e.Tool == nil:
		t.head(&b, e)
		t.text(&b, e)
	case e.Again:
		b.WriteString(t.callLine(e, cmp.Or(stateText(e), string(e.Tool.State))))
		t.output(&b, e)
	default:
		t.call(&b, e)
	}
	return t.flush(&b)
}

// Waits ends a transcript that does not show what its session waits for.
func (t *Transcript) Waits(s discover.Session) error {
	var b strings.Builder
	t.gap(&b)
	b.WriteString(t.paint("33", waitText(s)) + "\n")
	return t.flush(&b)
}

func (t *Transcript) flush(b *strings.Builder) error {
	_, err := io.WriteString(t.out, b.String())
	return err
}

// gap parts a paragraph from the one before.
func (t *Transcript) gap(b *strings.Builder) {
	if t.speaker != "" {
		b.WriteByte('\n')
	}
	t.speaker = "nobody"
}

// head names who speaks, when, and with which model if that is another one than before.
func (t *Transcript) head(b *strings.Builder, e Entry) {
	t.gap(b)
	name, color := label(e.Message)
	t.speaker = e.Whose + "\n" + name
	words := []string{t.paint(color, name)}
	if at := t.when(e.Time); at != "" {
		words = append(words, t.paint("2", at))
	}
	if e.Model != "" && e.Model != t.models[e.Session] {
		t.models[e.Session] = e.Model
		words = append(words, t.paint("2", Clean(e.Model)))
	}
	line := t.whose(e) + strings.Join(words, gap)
	for t.look.Width > 0 && len(words) > 1 && width(line) > t.look.Width {
		words = words[:len(words)-1]
		line = t.whose(e) + strings.Join(words, gap)
	}
	b.WriteString(line + "\n")
}

// label is what a message is called, and its colour.
func label(m discover.Message) (name, color string) {
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

func (t *Transcript) when(at time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case t.look.Ages:
		return t.look.moment(at)
	}
	return at.In(t.look.Now.Location()).Format(time.DateTime)
}

func (t *Transcript) whose(e Entry) string {
	if e.Whose == "" {
		return ""
	}
	return t.paint("2", "["+e.Whose+"]") + " "
}

// text adds the words of a message. A summary is long, and nobody's.
func (t *Transcript) text(b *strings.Builder, e Entry) {
	if name, _ := label(e.Message); e.Text == "" || e.Text == name { // it says no more than its head
		return
	}
	most := 0
	if e.Kind == discover.KindCompaction {
		most = t.most()
	}
	t.lines(b, e.Text, "  ", most)
}

// paint colours a text.
func (t *Transcript) paint(color, text string) string {
	if !t.look.Color || color == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// width is that of a text, which may have colours.
func width(s string) int { return displaywidth.Options{ControlSequences: true}.String(s) }
