package render

import (
	"cmp"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"agentctl/internal/object"
)

// SearchText writes what was found in a session: a line for the session, then each line of a message in which something
// matches, with the messages around it.
func SearchText(b *strings.Builder, s *object.Session, opts TextOptions) {
	t := searchText{Transcript: NewTranscript(b, TranscriptOptions{TextOptions: opts}), b: b, done: map[string]bool{}}
	for _, m := range s.Matches {
		t.done[m.Message.ID] = true // it is printed as a match only
	}
	t.writeSession(s)
	for i, m := range s.Matches {
		t.writeContext(m.Before)
		for lines := placedSpans(&s.Matches[i]); len(lines) > 0; {
			n := 1
			for n < len(lines) && onOneLine(lines[0], lines[n]) {
				n++
			}
			t.writeLine(&m.Message, lines[:n])
			lines = lines[n:]
		}
		t.writeContext(m.After)
	}
}

// searchText prints one session.
type searchText struct {
	*Transcript
	b    *strings.Builder
	done map[string]bool // messages that are printed, or will be as matches
}

// writeSession prints the line of the session. Its ID is whole: which other sessions will be printed is not known yet.
func (st *searchText) writeSession(s *object.Session) {
	words := []string{s.Name(), s.Adapter, statusText(s), Age(s.LastActivity(), st.opts.Now), st.opts.ShortDir(s.CWD), cmp.Or(s.Title, s.Prompt)}
	for i := range words {
		words[i] = Sanitize(words[i])
	}
	st.b.WriteString(st.truncated(st.colored("1", joinKnown(columnGap, words...)), st.opts.Width) + "\n")
}

// writeContext prints messages around a match, each once, on one line.
func (st *searchText) writeContext(messages []object.Message) {
	for i := range messages {
		m := &messages[i]
		if st.done[m.ID] {
			continue
		}
		st.done[m.ID] = true
		text := firstLine(strings.TrimSpace(m.Content()))
		if m.Tool != nil {
			text = m.Tool.Brief
		}
		st.b.WriteString(st.truncated(st.colored("2", st.label(m)+Sanitize(text)), st.opts.Width) + "\n")
	}
}

func (st *searchText) writeLine(m *object.Message, spans []placedSpan) {
	text := spans[0].text
	begin, end := object.LineAround(text, spans[0].start)
	label := st.label(m)
	_, color := headerLabel(m)
	room := st.opts.Width - displaywidth.String(label)
	var line strings.Builder
	at := begin
	for i, s := range spans {
		before, match := printable(text[at:s.start]), printable(text[s.start:min(s.end, end)])
		if i == 0 && st.opts.Width > 0 { // the first match must be seen
			if most := max(room-displaywidth.String(match), 0) / 2; displaywidth.String(before) > most {
				before = truncate(before, most, true)
			}
		}
		line.WriteString(before + st.colored("1;31", match))
		at = min(s.end, end)
	}
	line.WriteString(printable(text[at:end]))
	st.b.WriteString(st.colored(color, label) + st.truncated(line.String(), room) + "\n")
}

// label is what a line begins with: the time, and who wrote the message.
func (st *searchText) label(m *object.Message) string {
	name, _ := headerLabel(m)
	if m.Tool != nil {
		name = cmp.Or(Sanitize(m.Tool.Name), "-")
	}
	return "  " + joinKnown(columnGap, st.timeText(m.Time), name) + columnGap
}

// truncated truncates text, which may be coloured, to a width.
func (st *searchText) truncated(line string, room int) string {
	if st.opts.Width == 0 {
		return line
	}
	return displayOptions().TruncateString(line, max(room, 1), "…") // which keeps the colours behind what is cut off
}

// onOneLine reports whether two matches are on one line of one text.
func onOneLine(a, b placedSpan) bool {
	return a.text == b.text && a.start <= b.start && !strings.ContainsAny(a.text[a.start:b.start], "\n\r")
}

// placedSpan is a match as a part of a text, in bytes.
type placedSpan struct {
	text       string
	start, end int
}

// placedSpans returns the matches in their texts; in the line of an input, or alone where their place is not known.
func placedSpans(m *object.SearchMatch) (out []placedSpan) {
	text := m.Message.Content()
	if m.Message.Tool != nil {
		text = m.Message.Tool.Result()
	}
	runes := []rune(text)
	for i, s := range m.Spans {
		from := 0 // in the line of an input: behind the match before
		if i > 0 && m.Spans[i-1].Line == s.Line {
			from = min(out[i-1].end, len(s.Line))
		}
		match, _, _ := strings.Cut(s.Text, "\n")
		switch at := strings.Index(s.Line[from:], match); {
		case s.Start != nil && s.End != nil && 0 <= *s.Start && *s.Start <= *s.End && *s.End <= len(runes):
			start := len(string(runes[:*s.Start]))
			out = append(out, placedSpan{text, start, start + len(string(runes[*s.Start:*s.End]))})
		case at >= 0 && s.Line != "":
			out = append(out, placedSpan{s.Line, from + at, from + at + len(match)})
		default:
			out = append(out, placedSpan{s.Text, 0, len(s.Text)})
		}
	}
	return out
}

// printable removes from a part of a line what a terminal would interpret.
func printable(part string) string { return strings.ReplaceAll(SanitizeLines(part), "\t", " ") }
