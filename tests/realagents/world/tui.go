package world

import (
	"context"
	"strings"
	"time"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/term"
)

// TUI is an agent in a terminal.
type TUI struct {
	*Process
	agent string
	term  *term.Terminal
}

// Terminal starts the agent in a terminal and does not wait for anything: it may well ask a question first.
func (a Agent) Terminal(args ...string) *TUI {
	w := a.w
	w.t.Helper()
	p := &Process{w: w, cmd: a.line(context.Background(), args...), reaped: make(chan struct{})}
	w.shared.add(p)
	terminal, err := term.Start(p.cmd)
	w.check(err)
	p.begin()
	tui := &TUI{Process: p, agent: a.Agent(), term: terminal}
	w.t.Cleanup(func() {
		if w.t.Failed() {
			w.t.Logf("screen of %s:\n%s", p.name, tui.Screen())
		}
		tui.HangUp()
	})
	return tui
}

// prompts are what an agent's screen shows when it takes a prompt; any one will do.
func prompts(agent string) []string {
	switch agent {
	case install.ClaudeCode:
		return []string{"? for shortcuts", "/effort", "auto mode on"}
	case install.Codex:
		return []string{"% left", "? for shortcuts", "gpt-5.4 default ·", "⏎ send"}
	default:
		return []string{"Ask anything"}
	}
}

// WaitReady waits until the agent takes a prompt.
func (u *TUI) WaitReady() {
	u.w.t.Helper()
	u.waitUntil("its prompt box", func(screen string) bool {
		for _, sign := range prompts(u.agent) {
			if term.Contains(screen, sign) {
				return true
			}
		}
		return false
	})
}

// WaitFor waits until the text is on the screen.
func (u *TUI) WaitFor(text string) {
	u.w.t.Helper()
	u.waitUntil(text, func(screen string) bool { return term.Contains(screen, text) })
}

// WaitGone waits until the text is on the screen no more.
func (u *TUI) WaitGone(text string) {
	u.w.t.Helper()
	u.waitUntil("the end of "+text, func(screen string) bool { return !term.Contains(screen, text) })
}

func (u *TUI) waitUntil(what string, good func(string) bool) {
	u.w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := u.term.WaitUntil(ctx, good); err != nil {
		u.w.t.Fatalf("%s, for %q: %v", u.name, what, err)
	}
}

// Answer presses the key until the text, a question, is on the screen no more: agents overlook what is typed in the
// first moments of a question, so that nobody answers it by mistake.
func (u *TUI) Answer(question string, k term.Key) {
	u.w.t.Helper()
	u.WaitFor(question)
	u.w.waitUntil("the end of the question "+question, func() bool {
		u.Press(k)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return u.term.WaitUntil(ctx, func(screen string) bool { return !term.Contains(screen, question) }) == nil
	})
}

// HangUp takes the terminal away, as closing its window would.
func (u *TUI) HangUp() { u.term.Close() }

// Screen is the text on the screen.
func (u *TUI) Screen() string {
	screen, _ := u.term.Screen()
	return strings.TrimRight(screen, " \n")
}

// Type types text and waits until it is on the screen.
func (u *TUI) Type(text string) {
	u.w.t.Helper()
	u.w.check(u.term.Send(text))
	u.waitUntil(text, func(screen string) bool { return term.Typed(screen, text) })
}

// Press presses a key.
func (u *TUI) Press(k term.Key) {
	u.w.t.Helper()
	u.w.check(u.term.Send(string(k)))
}

// Submit types a prompt or a command of the agent's and presses Enter: apart, since agents take a text that ends
// in a newline for a paste.
func (u *TUI) Submit(text string) {
	u.w.t.Helper()
	u.Type(text)
	u.Press(term.Enter)
}
