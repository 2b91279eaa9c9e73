package top

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/internal/output"
	"agentctl/internal/terminal"
)

// report is what a command that acted has printed, in the pane.
type report struct {
	commandLine string
	lines       []string
	running     bool
}

// act runs commands beside the screen, one after another, and shows in the pane what they print. m.mu is held.
func (m *model) act(commands ...[]string) {
	if m.report != nil && m.report.running {
		m.notice = "the last command has not ended yet: " + m.report.commandLine
		return
	}
	shown := &report{commandLine: m.runner.commandLine(commands[0]), running: true}
	m.report, m.scroll = shown, 0
	m.start(func() {
		for i, args := range commands {
			line := m.runner.commandLine(args)
			m.mu.Lock()
			shown.commandLine = line
			if i > 0 {
				shown.lines = append(shown.lines, "", "$ "+line)
			}
			m.mu.Unlock()
			m.changed.notify()
			lines, exit := m.runner.capture(m.ctx, reportWidth, args)
			m.mu.Lock()
			shown.lines = append(append(shown.lines, lines...), fmt.Sprintf("exit %d", exit))
			m.mu.Unlock()
		}
		m.mu.Lock()
		shown.running = false
		m.mu.Unlock()
		m.changed.notify()
	})
}

// reportWidth is the width for which reports are printed. Their lines are wrapped to the pane when they are drawn.
const reportWidth = 400

// askStop asks whether the targets are to be stopped.
func (m *model) askStop() {
	rows := slices.DeleteFunc(slices.Clone(m.targets()), func(r row) bool { return r.s.Status == discover.Stopped })
	if len(rows) == 0 {
		m.notice = "there is no live session to stop"
		return
	}
	args := append([]string{"stop"}, m.arguments(rows)...)
	m.prompt = &prompt{label: m.runner.commandLine(args) + " ? [y/N] ", confirm: true, done: func(string) { m.act(args) }}
}

// askMessage asks for a message to the targets.
func (m *model) askMessage() {
	rows := m.targets()
	if len(rows) == 0 {
		m.notice = "there is no session to send a message to"
		return
	}
	to := m.arguments(rows)
	m.prompt = &prompt{label: "message to " + output.Sanitize(strings.Join(to, ", ")) + ": ", done: func(text string) {
		if strings.TrimSpace(text) == "" {
			m.notice = "nothing was sent"
			return
		}
		var commands [][]string
		for _, id := range to {
			commands = append(commands, []string{"send", "--", id, text})
		}
		m.act(commands...)
	}}
}

// attach gives the terminal to the session, or to what leads there.
func (m *model) attach() terminal.Request {
	i := m.index()
	if i < 0 {
		m.notice = "there is no session to attach to"
		return terminal.Request{}
	}
	args := append([]string{"attach"}, m.arguments(m.rows[i:i+1])...)
	m.notice = m.runner.commandLine(args)
	return terminal.Request{Run: func(ctx context.Context) { m.runner.foreground(ctx, args) }}
}
