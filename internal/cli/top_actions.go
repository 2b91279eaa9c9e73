package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/internal/terminal"
)

// report is what a command that acted has printed, in the pane.
type report struct {
	commandLine string
	lines       []string
	running     bool
}

// act runs commands beside the screen, one after another, and shows in the pane what they print. Other actions may run at the same
// time: a message waits until it is read. m.mu is held.
func (m *topModel) act(commands ...[]string) {
	if !slices.ContainsFunc(m.reports, func(r *report) bool { return r.running }) {
		m.reports = nil
	}
	m.scroll = 0
	begin := func(args []string) *report {
		r := &report{commandLine: m.runner.commandLine(args), running: true}
		m.reports = append(m.reports, r)
		return r
	}
	shown := begin(commands[0])
	m.start(func() {
		for i, args := range commands {
			lines, exit := m.runner.capture(m.ctx, reportWidth, args)
			m.mu.Lock()
			shown.lines, shown.running = append(lines, fmt.Sprintf("exit %d", exit)), false
			if i+1 < len(commands) {
				shown = begin(commands[i+1])
			}
			m.mu.Unlock()
			m.changed.notify()
		}
	})
}

// reportWidth is the width for which reports are printed. Their lines are wrapped to the pane when they are drawn.
const reportWidth = 400

// confirmation ends a question that y answers.
const confirmation = " ? [y/N] "

// askStop asks whether the targets are to be stopped.
func (m *topModel) askStop() {
	rows := slices.DeleteFunc(slices.Clone(m.targets()), func(r row) bool { return r.s.Status == string(discover.Stopped) })
	if len(rows) == 0 {
		m.notice = "there is no live session to stop"
		return
	}
	args := append([]string{"stop"}, m.arguments(rows)...)
	m.prompt = &prompt{label: m.runner.commandLine(args) + confirmation, confirm: true, done: func(string) { m.act(args) }}
}

func (m *topModel) askMessage() {
	rows := m.targets()
	if len(rows) == 0 {
		m.notice = "there is no session to send a message to"
		return
	}
	to, receiver := m.arguments(rows), fmt.Sprintf("%d sessions", len(rows))
	if len(rows) == 1 {
		s := rows[0].s
		host := object.HostPrefix(s.Host)
		id := render.SessionID{Agent: s.Adapter, ID: strings.TrimPrefix(s.Name(), host)}
		receiver = fmt.Sprint(s.Adapter, " ", host, m.call.Style.ShortIDs([]render.SessionID{id})[0])
	}
	m.prompt = &prompt{label: "message to " + receiver + ": ", done: func(text string) {
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
func (m *topModel) attach() terminal.Request {
	i := m.index()
	if i < 0 {
		m.notice = "there is no session to attach to"
		return terminal.Request{}
	}
	args := append([]string{"attach"}, m.arguments(m.rows[i:i+1])...)
	m.notice = m.runner.commandLine(args)
	return terminal.Request{Run: func(ctx context.Context) { m.runner.foreground(ctx, args) }}
}
