package top

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/internal/output"
)

const (
	// besideWidth is the least width of a screen that has the pane beside the table.
	besideWidth = 170
	// leastSplit is the least number of lines that table and pane share; from roomy on, the pane has more than half.
	leastSplit, roomy = 6, 24
	// limitsHeight is the least height of a screen that shows limits in the header.
	limitsHeight = 20
)

// frame returns the lines of the screen.
func (m *model) frame(columns, rows int) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.update()
	style := m.call.Style
	style.Width, style.Now = columns, m.call.Now()
	head, foot := m.header(style, rows), m.footer(columns)
	body := max(1, rows-len(head)-1)
	var lines []string
	switch pane := m.open != "" || m.report != nil; {
	case m.help:
		lines = helpLines(columns, body)
	case !pane:
		lines = m.tableLines(style, body)
	case columns >= besideWidth:
		left := columns * 3 / 5
		right := columns - left - 3 // " │ "
		style.Width = left
		table, beside := m.tableLines(style, body), m.paneLines(right, body)
		for i := range body {
			lines = append(lines, output.FitLine(at(table, i), left)+" │ "+at(beside, i))
		}
	case body < leastSplit:
		lines = m.paneLines(columns, body)
	default:
		below := body / 2
		if body >= roomy {
			below = body * 3 / 5
		}
		lines = m.tableLines(style, body-below)
		for len(lines) < body-below {
			lines = append(lines, "")
		}
		lines = append(lines, m.paneLines(columns, below)...)
	}
	for len(lines) < body {
		lines = append(lines, "")
	}
	lines = slices.Concat(head, lines[:body], []string{foot})
	for i := range lines {
		lines[i] = strings.TrimRight(output.FitLine(lines[i], columns), " ")
	}
	return lines[:min(len(lines), rows)]
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// header has the totals, and where there is room, the limits of the agents' providers.
func (m *model) header(style output.TextOptions, rows int) []string {
	sessions := make([]discover.Session, len(m.rows))
	rate, cpu := 0.0, 0.0
	for i, r := range m.rows {
		sessions[i] = r.s
		rate, cpu = rate+max(0, value(r.load.TokenRate)), cpu+max(0, value(r.load.CPU))
	}
	parts := []string{output.StatusSummary(sessions)}
	if !m.known {
		parts = []string{"reading …"}
	}
	if m.paused {
		parts = append(parts, "PAUSED")
	}
	if m.filter != "" {
		parts = append(parts, "filter: "+output.Sanitize(m.filter))
	}
	if n := len(m.marked); n > 0 {
		parts = append(parts, fmt.Sprintf("%d marked", n))
	}
	if m.order > 0 {
		parts = append(parts, "by "+orders()[m.order].name)
	}
	parts = append(parts, fmt.Sprintf("%.0f%% cpu", cpu), output.Thousands(int64(rate))+" tokens/min")
	if n := len(m.warnings); n > 0 {
		parts = append(parts, fmt.Sprintf("%d could not be read", n))
	}
	lines := []string{strings.Join(append(parts, style.Now.Format("15:04:05")), "  ·  ")}
	const most = 2
	if limits := style.Limits(sessions); rows >= limitsHeight {
		lines = append(lines, limits[:min(len(limits), most)]...)
	}
	return lines
}

// footer has the prompt, a notice, or the keys.
func (m *model) footer(columns int) string {
	switch {
	case m.prompt != nil && m.prompt.label != "":
		return promptLine(m.prompt, columns)
	case m.notice != "":
		return m.notice
	}
	var keys []string
	for _, b := range bindings() {
		if b.short != "" {
			keys = append(keys, b.shown+" "+b.short)
		}
	}
	const gap = "  "
	for len(keys) > 1 && len([]rune(strings.Join(keys, gap))) > columns {
		keys = keys[1:] // ? and q are the last
	}
	return strings.Join(keys, gap)
}

// promptLine shows the end of what is typed if it is too long. The question of a confirmation keeps its end too.
func promptLine(p *prompt, columns int) string {
	const least = 20
	label := output.Truncate(p.label, max(least, columns/2))
	if p.confirm {
		label = p.label
		if end := "… ? [y/N] "; len(label) > columns-1 {
			label = output.Truncate(strings.TrimSuffix(p.label, " ? [y/N] "), max(1, columns-len(end)-1)) + " ? [y/N] "
		}
	}
	text := output.Sanitize(string(p.text))
	if strings.HasSuffix(string(p.text), " ") {
		text += " "
	}
	for text != "" && len([]rune(label))+len([]rune(text))+1 > columns {
		text = string([]rune(text)[1:])
	}
	return label + text + "▏"
}

// tableLines are the header of the table and the rows around the selected one.
func (m *model) tableLines(style output.TextOptions, height int) []string {
	if len(m.rows) == 0 {
		switch {
		case !m.known:
			return nil
		case m.filter != "":
			return []string{"no session has these words; Esc removes the filter"}
		}
		return []string{"no live sessions; agentctl list -a shows stopped ones too"}
	}
	room := max(1, height-1)
	m.page = room
	i := max(0, m.index())
	m.first = min(max(m.first, i-room+1), i, max(0, len(m.rows)-room))
	m.first = max(m.first, 0)
	sessions, loads := make([]discover.Session, len(m.rows)), make([]output.Load, len(m.rows))
	for n, r := range m.rows {
		sessions[n], loads[n] = r.s, r.load
		loads[n].Selected, loads[n].Marked = n == i, m.marked[r.key]
	}
	var b strings.Builder
	_ = output.TopTable(&b, sessions, loads, style) // a builder returns no error
	all := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if style.Color {
		all[i+1] = "\x1b[7m" + output.FitLine(output.WithoutColor(all[i+1]), style.Width) + "\x1b[0m"
	}
	lines := append(all[:1:1], all[1+m.first:min(len(all), 1+m.first+room)]...)
	return lines[:min(len(lines), height)]
}

// paneLines are the title of the pane and a part of its content.
func (m *model) paneLines(width, height int) []string {
	title, lines, v := m.paneContent(width)
	room := max(1, height-1)
	start := 0
	if v.begin != nil {
		start = max(0, slices.IndexFunc(lines, func(line string) bool { return v.begin(output.WithoutColor(line)) }))
	}
	if v.newestLast {
		start = max(0, len(lines)-room)
	}
	last := max(0, len(lines)-room)
	m.scroll = min(max(m.scroll, -start), max(0, last-start))
	start = min(max(0, start+m.scroll), max(last, start))
	if more := len(lines) - start - room; more > 0 {
		title += fmt.Sprintf(" (%d more lines)", more)
	}
	out := []string{rule(title, width)}
	for _, line := range lines[start:min(len(lines), start+room)] {
		out = append(out, output.FitLine(line, width))
	}
	return out
}

// rule is the line above a pane, with its title.
func rule(title string, width int) string {
	text := output.Truncate("── "+title+" ", width)
	return text + strings.Repeat("─", max(0, width-len([]rune(text))))
}

// paneContent returns the title of the pane, the lines of its content, and its view.
func (m *model) paneContent(width int) (title string, lines []string, v view) {
	if r := m.report; r != nil {
		title = "$ " + r.commandLine
		for _, line := range r.lines {
			lines = append(lines, output.WrapPlain(output.WithoutColor(line), width)...)
		}
		if r.running {
			lines = append(lines, "running …")
		}
		return title, lines, v
	}
	all := views()
	v = all[slices.IndexFunc(all, func(v view) bool { return v.name == m.open })]
	i := m.index()
	if i < 0 && !v.general {
		return v.name, []string{"no session is selected"}, v
	}
	c := content{view: v.name, width: width}
	session, dir := "", ""
	if i >= 0 {
		s := m.rows[i].s
		session, dir = m.arguments(m.rows[i : i+1])[0], s.Dir
		if !v.general {
			c.state = fmt.Sprint(s.Status, s.WaitingFor, s.WaitingOn, s.Updated, s.Turn.State)
		}
	}
	c.commands = v.commands(session, dir)
	printed, known := m.pane.want(c, cmp.Or(v.interval, time.Minute), time.Now())
	if !known {
		printed = []string{"reading …"}
	}
	for _, line := range printed {
		lines = append(lines, output.WrapPlain(line, width)...)
	}
	return v.name + ": $ " + m.runner.commandLine(c.commands[0]), lines, v
}
