package cli

import (
	"slices"
	"strings"
	"unicode"

	"agentctl/internal/render"
	"agentctl/internal/terminal"
)

// binding is what a key does.
type binding struct {
	keys []terminal.Key
	// shown are the keys for people; those with "" are shown with the binding before.
	shown string
	// name says in one or two words what they do, long in a sentence.
	name, long string
	// footer: the binding is in the last line of the screen.
	footer bool
	do     func(*topModel) terminal.Request
}

// bindings are all keys, in the order of the help.
func bindings() []binding {
	simple := func(do func(*topModel)) func(*topModel) terminal.Request {
		return func(m *topModel) terminal.Request { do(m); return terminal.Request{} }
	}
	keys := func(k ...terminal.Key) []terminal.Key { return k }
	list := []binding{
		{keys(terminal.Up, 'k'), "↑ ↓ j k", "select", "select a row", false, simple(func(m *topModel) { m.move(-1) })},
		{keys(terminal.Down, 'j'), "", "", "", false, simple(func(m *topModel) { m.move(1) })},
		{keys(terminal.Home, 'g'), "g G", "first, last", "select the first row, the last row; also Home, End", false, simple(func(m *topModel) { m.move(-len(m.rows)) })},
		{keys(terminal.End, 'G'), "", "", "", false, simple(func(m *topModel) { m.move(len(m.rows)) })},
		{keys(terminal.PageUp, 'b'-'a'+1), "^B ^F", "scroll", "scroll the pane; without one, the table; also PgUp, PgDn", false, simple(func(m *topModel) { m.scrollBy(-1) })},
		{keys(terminal.PageDown, 'f'-'a'+1), "", "", "", false, simple(func(m *topModel) { m.scrollBy(1) })},
		{keys(' '), "space", "mark", "mark the row, or unmark it: m and K are about all marked rows", false, simple((*topModel).mark)},
		{keys('/'), "/", "filter", "show only rows that have these words", true, simple((*topModel).askFilter)},
		{keys('s'), "s", "sort", "sort by another column", true, simple((*topModel).nextOrder)},
		{keys('p'), "p", "pause", "pause: the table stays as it is", false, simple(func(m *topModel) { m.paused = !m.paused })},
	}
	for _, v := range views() {
		b := binding{keys(terminal.Key(v.key[0])), v.key, v.name, v.long, false, simple(func(m *topModel) { m.toggle(v.name) })}
		if v.key == "Enter" {
			b.keys, b.footer = keys(terminal.Enter), true
		}
		list = append(list, b)
	}
	return append(list,
		binding{keys('a'), "a", "attach", "attach to the session where it runs", true, (*topModel).attach},
		binding{keys('y'), "y n", "answer", "answer the request of the session: shows it, then asks", true, simple(func(m *topModel) { m.askAnswer("yes") })},
		binding{keys('n'), "", "", "", false, simple(func(m *topModel) { m.askAnswer("no") })},
		binding{keys('m'), "m", "message", "send the session a message", true, simple((*topModel).askMessage)},
		binding{keys('K'), "K", "stop", "stop the session; asks first", true, simple((*topModel).askStop)},
		binding{keys(terminal.Escape), "Esc", "close", "close the pane; then remove the filter, then the marks", false, simple((*topModel).escape)},
		binding{keys('?', 'h'), "?", "help", "show or hide the keys", true, simple(func(m *topModel) { m.help = !m.help })},
		binding{keys('q', 'Q'), "q", "quit", "quit; also Ctrl-C", true, func(*topModel) terminal.Request { return terminal.Request{Quit: true} }},
	)
}

func (t *topModel) typed(key terminal.Key) terminal.Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notice = ""
	if t.prompt != nil {
		t.prompt.typed(t, key)
		return terminal.Request{}
	}
	if key == terminal.PasteBegin {
		t.prompt = &prompt{pasting: true} // what is pasted is no command
		return terminal.Request{}
	}
	if t.help {
		t.help = false
		if slices.Contains([]terminal.Key{'?', 'h', ' ', terminal.Enter, terminal.Escape}, key) { // they close it; the others do what the help says
			return terminal.Request{}
		}
	}
	for _, b := range bindings() {
		if slices.Contains(b.keys, key) {
			return b.do(t)
		}
	}
	return terminal.Request{}
}

func (t *topModel) mark() {
	if t.index() < 0 {
		return
	}
	if t.marked[t.selected] {
		delete(t.marked, t.selected)
	} else {
		t.marked[t.selected] = true
	}
	t.move(1)
}

func (t *topModel) nextOrder() {
	t.order = (t.order + 1) % len(orders())
	t.notice = "sorted by " + orders()[t.order].name
}

// toggle shows a view in the pane, or closes the pane if it shows it.
func (t *topModel) toggle(name string) {
	t.scroll = 0
	if t.reports = nil; t.open == name {
		name = ""
	}
	t.open = name
}

// escape closes what was opened last.
func (t *topModel) escape() {
	switch {
	case len(t.reports) > 0:
		t.reports = nil
	case t.open != "":
		t.open = ""
	case t.filter != "":
		t.filter = ""
	default:
		clear(t.marked)
	}
}

// scrollBy scrolls the pane, or else the table, by half of what is shown, on with 1 and back with -1.
func (t *topModel) scrollBy(direction int) {
	const half = 2
	if t.open == "" && len(t.reports) == 0 {
		t.move(direction * max(1, t.page/half))
		return
	}
	t.scroll += direction * max(1, t.paneRoom/half)
}

// helpLines list the keys, in as many columns as the height needs. Each has its sentence if there is room, else its name.
func helpLines(width, height int) []string {
	var list []binding
	for _, b := range bindings() {
		if b.shown != "" {
			list = append(list, b)
		}
	}
	const keyWidth, gap = 9, 2
	columns := (len(list) + height - 1) / max(1, height)
	rows := (len(list) + columns - 1) / columns
	cell := max(0, width/columns-gap)
	lines := make([]string, rows)
	for i, b := range list {
		text := b.long
		if render.DisplayWidth(text) > cell-keyWidth {
			text = b.name
		}
		lines[i%rows] += render.FitLine(render.FitLine(b.shown, keyWidth)+text, cell) + strings.Repeat(" ", gap)
	}
	return lines
}

// prompt is the last line of the screen, where the user types a text or answers a question.
type prompt struct {
	label string
	text  []rune
	// done takes the text; changed takes it at each key; cancelled is called if the user gives up. Each may be nil.
	done, changed func(string)
	cancelled     func()
	// confirm: y is yes, and any other key no. With enter, only Enter is yes.
	confirm, enter bool
	// pasting: the terminal types what was pasted. Without a label, that is dropped.
	pasting bool
}

// typed handles a key. m.mu is held.
func (p *prompt) typed(m *topModel, key terminal.Key) {
	switch {
	case key == terminal.PasteBegin:
		p.pasting = true
		return
	case key == terminal.PasteEnd:
		p.pasting = false
		if p.label == "" {
			m.prompt = nil
			m.notice = "what is pasted is no command; / and m take texts"
		}
		return
	case p.label == "" || p.confirm && p.pasting:
		return
	case p.confirm:
		m.prompt = nil
		if !p.enter && (key == 'y' || key == 'Y') || p.enter && key == terminal.Enter {
			p.done("")
			return
		}
		m.notice = "nothing was done"
		if p.cancelled != nil {
			p.cancelled()
		}
		return
	}
	p.edit(m, key)
}

// edit handles a key in a line of text. A line break within a paste becomes a blank.
func (p *prompt) edit(m *topModel, key terminal.Key) {
	switch {
	case key == terminal.Enter && !p.pasting:
		m.prompt = nil
		if p.done != nil {
			p.done(string(p.text))
		}
		return
	case key == terminal.Escape && !p.pasting:
		m.prompt = nil
		if p.cancelled != nil {
			p.cancelled()
		}
		return
	case key == terminal.Backspace:
		p.text = p.text[:max(0, len(p.text)-1)]
	case key == 'u'-'a'+1: // Ctrl-U
		p.text = nil
	case key == terminal.Enter, key == terminal.Tab:
		p.text = append(p.text, ' ')
	case key > 0 && unicode.IsPrint(rune(key)):
		p.text = append(p.text, rune(key))
	}
	if p.changed != nil {
		p.changed(string(p.text))
	}
}

func (t *topModel) askFilter() {
	before := t.filter
	t.prompt = &prompt{
		label: "filter: ", text: []rune(t.filter),
		changed:   func(text string) { t.filter = text },
		cancelled: func() { t.filter = before },
	}
}
