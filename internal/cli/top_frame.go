package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"agentctl/internal/object"
	"agentctl/internal/render"
)

const (
	// besideWidth is the least width of a screen that has the pane beside the table.
	besideWidth = 170
	// leastSplit is the least number of lines that table and pane share. The table has half of them at most; two fifths if there are
	// roomy lines or more.
	leastSplit, roomy = 6, 24
	// limitsHeight is the least height of a screen that shows limits in the header.
	limitsHeight = 20
	// leastWidth and leastHeight are the size from which on all parts of the screen have room.
	leastWidth, leastHeight = 60, 15
)

// frame returns the lines of the screen.
func (t *topModel) frame(columns, rows int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.update()
	style := t.call.Style
	style.Width, style.Now = columns, t.call.Now()
	head, foot := t.header(style, rows), t.footer(columns, rows)
	body := max(0, rows-len(head)-1)
	var lines []string
	switch pane := t.open != "" || len(t.reports) > 0; {
	case t.help:
		lines = helpLines(columns, body)
	case !pane:
		lines = t.tableLines(style, body)
	case columns >= besideWidth:
		left := columns * 3 / 5
		right := columns - left - 3 // " │ "
		style.Width = left
		table, beside := t.tableLines(style, body), t.paneLines(right, body)
		for i := range body {
			lines = append(lines, render.FitLine(lineAt(table, i), left)+" │ "+lineAt(beside, i))
		}
	case body < leastSplit:
		lines = t.paneLines(columns, body)
	default:
		most := body - body/2
		if body >= roomy {
			most = body - body*3/5
		}
		lines = t.tableLines(style, most)
		lines = append(lines, t.paneLines(columns, body-len(lines))...)
	}
	for len(lines) < body {
		lines = append(lines, "")
	}
	lines = slices.Concat(head, lines[:body], []string{foot})
	for i := range lines {
		lines[i] = strings.TrimRight(render.FitLine(lines[i], columns), " ")
	}
	return lines[:min(len(lines), rows)]
}

// lineAt returns a line; "" after the last one.
func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// header has the totals, the most important first, and where there is room, the limits of the agents' providers.
func (t *topModel) header(style render.TextOptions, rows int) []string {
	sessions := make([]object.Session, len(t.rows))
	rate, cpu, measured := 0.0, 0.0, true
	for i, r := range t.rows {
		sessions[i] = r.s
		measured = measured && isLocal(r.s.Host)
		rate, cpu = rate+max(0, value(r.load.TokenRate)), cpu+max(0, value(r.load.CPU))
	}
	parts := []string{render.StatusSummary(sessions)}
	if !t.known {
		parts = []string{"reading …"}
	}
	if t.paused {
		parts = append(parts, "PAUSED")
	}
	if t.filter != "" {
		parts = append(parts, "filter: "+render.Sanitize(t.filter))
	}
	if n := len(t.marked); n > 0 {
		parts = append(parts, fmt.Sprintf("%d marked", n))
	}
	if t.order > 0 {
		parts = append(parts, "by "+orders()[t.order].name)
	}
	if measured { // the totals of all rows are known
		parts = append(parts, fmt.Sprintf("%.0f%% cpu", cpu), render.Thousands(int64(rate))+" tokens/min")
	}
	parts = append(parts, style.Now.Format("15:04:05"))
	line := parts[0]
	for _, part := range parts[1:] {
		if longer := line + "  ·  " + part; render.DisplayWidth(longer) <= style.Width {
			line = longer
		}
	}
	lines := []string{line}
	const most = 2
	if limits := style.Limits(sessions); rows >= limitsHeight {
		lines = append(lines, limits[:min(len(limits), most)]...)
	}
	if len(t.warnings) > 0 && rows >= leastHeight {
		lines = append(lines, render.WarningLine(t.warnings))
	}
	return lines
}

// footer has the prompt, a notice, that the screen is too small, or the keys.
func (t *topModel) footer(columns, rows int) string {
	switch {
	case t.prompt != nil && t.prompt.label != "":
		return promptLine(t.prompt, columns)
	case t.notice != "":
		return t.notice
	case columns < leastWidth || rows < leastHeight:
		return fmt.Sprintf("%d×%d is too small: top needs %d×%d", columns, rows, leastWidth, leastHeight)
	}
	var keys []string
	at := t.index()
	waits := at >= 0 && t.rows[at].s.Status == "waiting"
	for _, b := range bindings() {
		if b.footer && (waits || b.name != "answer") {
			keys = append(keys, b.shown+" "+b.name)
		}
	}
	const gap = "  "
	for len(keys) > 1 && render.DisplayWidth(strings.Join(keys, gap)) > columns {
		keys = keys[1:] // ? and q are the last
	}
	return strings.Join(keys, gap)
}

// promptLine has the label, what is typed, and a cursor. Of what is typed it shows the end if it is too long. The label has half of the
// line at most, that of a question all of it, and keeps its end.
func promptLine(p *prompt, columns int) string {
	const cursor, end = "▏", ": "
	room, suffix := columns/2, end
	if p.confirm {
		room, suffix = columns-1, confirmation
	}
	if p.enter {
		suffix = enterConfirmation
	}
	label := render.Truncate(strings.TrimSuffix(p.label, suffix), max(1, room-len(suffix))) + suffix
	text := render.Sanitize(string(p.text))
	if strings.HasSuffix(string(p.text), " ") {
		text += " "
	}
	for text != "" && render.DisplayWidth(label+text+cursor) > columns {
		text = string([]rune(text)[1:])
	}
	return label + text + cursor
}

// tableLines are the header of the table and the rows around the selected one.
func (t *topModel) tableLines(style render.TextOptions, height int) []string {
	if len(t.rows) == 0 {
		switch {
		case !t.known:
			return nil
		case t.filter != "":
			return []string{"no session has these words; Esc removes the filter"}
		case len(t.warnings) > 0:
			return []string{"no live session is known"}
		}
		return []string{"no live sessions; agentctl list -a shows stopped ones too"}
	}
	room := max(1, height-1)
	more := len(t.rows) > room
	if more { // the last line counts them
		room = max(1, room-1)
	}
	t.page = room
	i := max(0, t.index())
	t.first = min(max(t.first, i-room+1), i, max(0, len(t.rows)-room))
	t.first = max(t.first, 0)
	sessions, loads := make([]object.Session, len(t.rows)), make([]render.Load, len(t.rows))
	for n, r := range t.rows {
		sessions[n], loads[n] = r.s, r.load
		loads[n].Selected, loads[n].Marked = n == i, t.marked[r.key]
	}
	var b strings.Builder
	_ = render.TopTable(&b, sessions, loads, orders()[t.order].column, style) // a builder returns no error
	all := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if style.Color {
		all[i+1] = "\x1b[7m" + render.FitLine(render.WithoutColor(all[i+1]), style.Width) + "\x1b[0m"
	}
	lines := append(all[:1:1], all[1+t.first:min(len(all), 1+t.first+room)]...)
	if below := len(t.rows) - t.first - room; more && below > 0 {
		lines = append(lines, fmt.Sprintf("  %d more", below))
	}
	return lines[:min(len(lines), height)]
}

// paneLines are the title of the pane and a part of its content.
func (t *topModel) paneLines(width, height int) []string {
	title, lines, v := t.paneContent(width)
	room := max(1, height-1)
	t.paneRoom = room
	start := 0
	if v.begin != nil {
		start = max(0, slices.IndexFunc(lines, func(line string) bool { return v.begin(render.WithoutColor(line)) }))
	}
	if v.newestLast {
		start = max(0, len(lines)-room)
	}
	last := max(0, len(lines)-room)
	t.scroll = min(max(t.scroll, -start), max(0, last-start))
	start = min(max(0, start+t.scroll), max(last, start))
	more := ""
	if n := len(lines) - start - room; n > 0 {
		more = fmt.Sprintf(" %d more ──", n)
	}
	out := []string{rule(title, more, width)}
	for _, line := range lines[start:min(len(lines), start+room)] {
		out = append(out, render.FitLine(line, width))
	}
	return out
}

// rule is the line above a pane, with its title, and a text at its end.
func rule(title, end string, width int) string {
	text := render.Truncate("── "+title, max(0, width-1-render.DisplayWidth(end))) + " "
	return text + strings.Repeat("─", max(0, width-render.DisplayWidth(text+end))) + end
}

func (t *topModel) paneContent(width int) (title string, lines []string, v view) {
	if len(t.reports) > 0 {
		v.newestLast = true
		for i, r := range t.reports {
			if i > 0 {
				lines = append(lines, "")
			}
			if len(t.reports) > 1 {
				lines = append(lines, render.WrapPlain("$ "+r.commandLine, width)...)
			}
			for _, line := range r.lines {
				lines = append(lines, render.WrapPlain(render.WithoutColor(line), width)...)
			}
			if r.running {
				lines = append(lines, "running …")
			}
		}
		return "$ " + t.reports[len(t.reports)-1].commandLine, lines, v
	}
	all := views()
	v = all[slices.IndexFunc(all, func(v view) bool { return v.name == t.open })]
	i := t.index()
	if i < 0 && !v.general {
		return v.name, []string{"no session is selected"}, v
	}
	c := content{view: v.name, width: width}
	var argument string
	var s object.Session
	if i >= 0 {
		argument, s = t.arguments(t.rows[i : i+1])[0], t.rows[i].s
		if !v.general {
			c.state = fmt.Sprint(s.Status, s.WaitingFor, render.WaitingOnText(&s), s.LastActivityAt)
		}
	}
	c.commands = v.commands(argument, &s)
	if v.general {
		for n := range c.commands {
			c.commands[n] = append(c.commands[n], t.runner.hosts...)
		}
	}
	printed, known := t.pane.want(c, v.interval, time.Now())
	if !known {
		printed = []string{"reading …"}
	}
	for _, line := range printed {
		lines = append(lines, render.WrapPlain(line, width)...)
	}
	return v.name + ": $ " + t.runner.commandLine(c.commands[0]), lines, v
}
