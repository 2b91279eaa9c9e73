package cli

import (
	"unicode"

	"agentctl/internal/terminal"
)

// prompt is a line that the user types in the last line of the screen, or a question that he answers there.
type prompt struct {
	label string
	text  []rune
	// done takes the text; changed takes it at each key; cancelled is called if the user gives up. Each may be nil.
	done, changed func(string)
	cancelled     func()
	// confirm: y is yes, and any other key no.
	confirm bool
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
		if key == 'y' || key == 'Y' {
			p.done("")
		} else {
			m.notice = "nothing was done"
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

func (m *topModel) askFilter() {
	before := m.filter
	m.prompt = &prompt{
		label: "filter: ", text: []rune(m.filter),
		changed:   func(text string) { m.filter = text },
		cancelled: func() { m.filter = before },
	}
}
