package top

import (
	"slices"

	"agentctl/internal/terminal"
)

// binding is what a key does.
type binding struct {
	keys []terminal.Key
	// shown are the keys for people; short is what they do in one word, for the last line of the screen; "" where it is not
	// there.
	shown, short, long string
	do                 func(*model) terminal.Request
}

// bindings are all keys, in the order of the help.
func bindings() []binding {
	const half = 2
	simple := func(do func(*model)) func(*model) terminal.Request {
		return func(m *model) terminal.Request { do(m); return terminal.Request{} }
	}
	list := []binding{
		{keys: []terminal.Key{terminal.Up, 'k'}, shown: "↑ k", long: "select the row above", do: simple(func(m *model) { m.move(-1) })},
		{keys: []terminal.Key{terminal.Down, 'j'}, shown: "↓ j", long: "select the row below", do: simple(func(m *model) { m.move(1) })},
		{keys: []terminal.Key{terminal.Home, 'g'}, shown: "Home g", long: "select the first row", do: simple(func(m *model) { m.move(-len(m.rows)) })},
		{keys: []terminal.Key{terminal.End, 'G'}, shown: "End G", long: "select the last row", do: simple(func(m *model) { m.move(len(m.rows)) })},
		{keys: []terminal.Key{terminal.PageUp, 'b' - 'a' + 1}, shown: "PgUp ^B", long: "scroll the pane back; without one, the table", do: simple(func(m *model) { m.scrollBy(-max(1, m.page/half)) })},
		{keys: []terminal.Key{terminal.PageDown, 'f' - 'a' + 1}, shown: "PgDn ^F", long: "scroll the pane on; without one, the table", do: simple(func(m *model) { m.scrollBy(max(1, m.page/half)) })},
		{keys: []terminal.Key{' '}, shown: "space", long: "mark the row, or unmark it: actions are about all marked rows", do: simple((*model).mark)},
		{keys: []terminal.Key{'/'}, shown: "/", short: "filter", long: "show only rows that have these words", do: simple((*model).askFilter)},
		{keys: []terminal.Key{'s'}, shown: "s", short: "sort", long: "sort by another column", do: simple((*model).nextOrder)},
		{keys: []terminal.Key{'p'}, shown: "p", long: "pause: the table stays as it is", do: simple(func(m *model) { m.paused = !m.paused })},
	}
	for _, v := range views() {
		b := binding{keys: []terminal.Key{terminal.Key(v.key[0])}, shown: v.key, long: "show or hide " + v.name, do: simple(func(m *model) { m.toggle(v.name) })}
		if v.key == "Enter" {
			b.keys, b.short = []terminal.Key{terminal.Enter}, "peek"
		}
		list = append(list, b)
	}
	return append(list,
		binding{keys: []terminal.Key{'a'}, shown: "a", short: "attach", long: "attach to the session where it runs", do: (*model).attach},
		binding{keys: []terminal.Key{'m'}, shown: "m", short: "message", long: "send the session a message", do: simple((*model).askMessage)},
		binding{keys: []terminal.Key{'K'}, shown: "K", short: "stop", long: "stop the session; asks first", do: simple((*model).askStop)},
		binding{keys: []terminal.Key{terminal.Escape}, shown: "Esc", long: "close the pane; then remove the filter and the marks", do: simple((*model).escape)},
		binding{keys: []terminal.Key{'?', 'h'}, shown: "?", short: "help", long: "show or hide the keys", do: simple(func(m *model) { m.help = !m.help })},
		binding{keys: []terminal.Key{'q', 'Q'}, shown: "q", short: "quit", long: "quit", do: func(*model) terminal.Request { return terminal.Request{Quit: true} }},
	)
}

// typed handles a key.
func (m *model) typed(key terminal.Key) terminal.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notice = ""
	if m.prompt != nil {
		m.prompt.typed(m, key)
		return terminal.Request{}
	}
	switch {
	case key == terminal.PasteBegin:
		m.prompt = &prompt{pasting: true} // what is pasted is no command
		return terminal.Request{}
	case m.help && key != 'q':
		m.help = false
		return terminal.Request{}
	}
	for _, b := range bindings() {
		if slices.Contains(b.keys, key) {
			return b.do(m)
		}
	}
	return terminal.Request{}
}

func (m *model) mark() {
	if m.index() < 0 {
		return
	}
	if m.marked[m.selected] {
		delete(m.marked, m.selected)
	} else {
		m.marked[m.selected] = true
	}
	m.move(1)
}

func (m *model) nextOrder() {
	m.order = (m.order + 1) % len(orders())
	m.notice = "sorted by " + orders()[m.order].name
}

// toggle shows a view in the pane, or closes the pane if it shows it.
func (m *model) toggle(name string) {
	m.scroll = 0
	if m.report = nil; m.open == name {
		name = ""
	}
	m.open = name
}

// escape closes what was opened last.
func (m *model) escape() {
	switch {
	case m.report != nil:
		m.report = nil
	case m.open != "":
		m.open = ""
	case m.filter != "":
		m.filter = ""
	default:
		clear(m.marked)
	}
}

// scrollBy scrolls the pane, or else the table.
func (m *model) scrollBy(lines int) {
	if m.open == "" && m.report == nil {
		m.move(lines)
		return
	}
	m.scroll += lines
}
