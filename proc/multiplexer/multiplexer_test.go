package multiplexer

import (
	"maps"
	"testing"

	"agentctl/proc"
	"agentctl/tests/proctest"
)

// process is a fake process on terminal number tty; 0 is none.
func process(pid, parent, session int, tty uint64, exe string, env map[string]string) proctest.Process {
	p := proctest.Process{Environ: env, Process: proc.Process{
		ID: proc.ID{PID: pid, Birth: "b"}, Parent: parent, Session: session, TTYDevice: tty, State: 'S', Exe: exe,
	}}
	if tty != 0 {
		p.TTYPath = "/dev/pts/" + string(rune('0'+tty))
	}
	return p
}

func with(env map[string]string, more ...string) map[string]string {
	out := maps.Clone(env)
	for i := 0; i < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

const agentPID = 30

// Each kind by the environment of the pane's first process and the process that started it. The agent's own environment does not
// count.
func TestFind(t *testing.T) {
	inTmux := map[string]string{"TMUX": "/tmp/tmux-0/default,10,0", "TMUX_PANE": "%3"}
	inScreen := map[string]string{"STY": "10.pts-0.host", "WINDOW": "2"}
	inZellij := map[string]string{"ZELLIJ": "0", "ZELLIJ_SESSION_NAME": "work", "ZELLIJ_PANE_ID": "4"}
	inWezTerm := map[string]string{"WEZTERM_PANE": "5", "WEZTERM_UNIX_SOCKET": "/run/user/0/wezterm/gui-sock-10"}
	inKitty := map[string]string{"KITTY_PID": "10", "KITTY_WINDOW_ID": "6", "KITTY_LISTEN_ON": "unix:/tmp/kitty"}
	for name, test := range map[string]struct {
		server string
		env    map[string]string
		want   Pane
	}{
		"tmux":                   {"/usr/bin/tmux", inTmux, Pane{Kind: Tmux, Pane: "%3", Address: "/tmp/tmux-0/default"}},
		"a comma in the path":    {"/usr/bin/tmux", with(inTmux, "TMUX", "/tmp/a,b,10,0"), Pane{Kind: Tmux, Pane: "%3", Address: "/tmp/a,b"}},
		"screen":                 {"/usr/bin/screen", inScreen, Pane{Kind: Screen, Session: "10.pts-0.host", Window: "2"}},
		"screen elsewhere":       {"/usr/bin/screen", with(inScreen, "SCREENDIR", "/home/me/.screen"), Pane{Kind: Screen, Session: "10.pts-0.host", Window: "2", Address: "/home/me/.screen"}},
		"zellij":                 {"/usr/bin/zellij", inZellij, Pane{Kind: Zellij, Session: "work", Pane: "4", Address: "work"}},
		"wezterm":                {"/usr/bin/wezterm-gui", inWezTerm, Pane{Kind: WezTerm, Pane: "5", Address: "/run/user/0/wezterm/gui-sock-10"}},
		"wezterm's server":       {"/usr/bin/wezterm-mux-server", inWezTerm, Pane{Kind: WezTerm, Pane: "5", Address: "/run/user/0/wezterm/gui-sock-10"}},
		"kitty":                  {"/usr/bin/kitty", inKitty, Pane{Kind: Kitty, Pane: "6", Address: "unix:/tmp/kitty"}},
		"kitty that is closed":   {"/usr/bin/kitty", with(inKitty, "KITTY_LISTEN_ON", ""), Pane{Kind: Kitty, Pane: "6"}},
		"tmux in screen":         {"/usr/bin/tmux", with(inTmux, "STY", "8.pts-0.host", "WINDOW", "1"), Pane{Kind: Tmux, Pane: "%3", Address: "/tmp/tmux-0/default"}},
		"screen in tmux":         {"/usr/bin/screen", with(inScreen, "TMUX", "/tmp/t,8,0", "TMUX_PANE", "%1"), Pane{Kind: Screen, Session: "10.pts-0.host", Window: "2"}},
		"screen in kitty":        {"/usr/bin/screen", with(inScreen, "KITTY_PID", "8", "KITTY_WINDOW_ID", "1"), Pane{Kind: Screen, Session: "10.pts-0.host", Window: "2"}},
		"xterm in tmux":          {"/usr/bin/xterm", with(inTmux, "TMUX", "/tmp/t,8,0"), Pane{}},
		"xterm in zellij":        {"/usr/bin/xterm", inZellij, Pane{}},
		"xterm in wezterm":       {"/usr/bin/xterm", inWezTerm, Pane{}},
		"ssh":                    {"/usr/sbin/sshd", nil, Pane{}},
		"no pane":                {"/usr/bin/tmux", with(inTmux, "TMUX_PANE", ""), Pane{}},
		"no number of a pane":    {"/usr/bin/tmux", with(inTmux, "TMUX_PANE", "%3;kill-server"), Pane{}},
		"a relative socket":      {"/usr/bin/tmux", with(inTmux, "TMUX", "default,10,0"), Pane{}},
		"half a TMUX":            {"/usr/bin/tmux", with(inTmux, "TMUX", "/tmp/t"), Pane{}},
		"a session without name": {"/usr/bin/screen", with(inScreen, "STY", "10."), Pane{}},
		"a session as a flag":    {"/usr/bin/zellij", with(inZellij, "ZELLIJ_SESSION_NAME", "--help"), Pane{}},
		"a window by its title":  {"/usr/bin/screen", with(inScreen, "WINDOW", "-x"), Pane{}},
	} {
		table := proctest.NewTable(
			process(1, 0, 1, 0, "/sbin/init", nil), process(10, 1, 10, 0, test.server, nil), process(20, 10, 20, 3, "/bin/bash", test.env),
			process(agentPID, 20, 20, 3, "/usr/bin/claude", map[string]string{"TMUX": "/tmp/t,10,0", "TMUX_PANE": "%99"}),
		)
		agent, _ := table.ByPID(agentPID)
		pane := Find(table, agent)
		if test.want.Kind == "" {
			if pane != nil {
				t.Errorf("%s: %+v, want none", name, *pane)
			}
			continue
		}
		if pane == nil {
			t.Errorf("%s: none, want %+v", name, test.want)
			continue
		}
		got := *pane
		if got.TTY != "/dev/pts/3" || got.Leader.ID.PID != 20 || got.Server.ID.PID != 10 {
			t.Errorf("%s: %+v", name, got)
		}
		got.TTY, got.Leader, got.Server = "", proc.Process{}, proc.Process{}
		if got != test.want {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}

// Without a terminal, on another terminal than the pane's, and without the pane's first process, nothing is known. A process that was
// adopted is still in its session.
func TestFindByTree(t *testing.T) {
	env := map[string]string{"TMUX": "/tmp/tmux-0/default,10,0", "TMUX_PANE": "%3"}
	server, shell := process(10, 1, 10, 0, "/usr/bin/tmux", nil), process(20, 10, 20, 3, "/bin/bash", env)
	for name, test := range map[string]struct {
		agent proctest.Process
		shell proctest.Process
		want  bool
	}{
		"a child of the shell":       {process(agentPID, 20, 20, 3, "/usr/bin/claude", env), shell, true},
		"adopted":                    {process(agentPID, 1, 20, 3, "/usr/bin/claude", env), shell, true},
		"the shell's replacement":    {process(agentPID, 10, agentPID, 3, "/usr/bin/claude", env), shell, true},
		"no terminal":                {process(agentPID, 20, agentPID, 0, "/usr/bin/claude", env), shell, false},
		"below script(1)":            {process(agentPID, 25, agentPID, 4, "/usr/bin/claude", env), shell, false},
		"the shell has another tty":  {process(agentPID, 20, 20, 3, "/usr/bin/claude", env), process(20, 10, 20, 5, "/bin/bash", env), false},
		"the server has ended":       {process(agentPID, 20, 20, 3, "/usr/bin/claude", env), process(20, 1, 20, 3, "/bin/bash", env), false},
		"without sessions, as macOS": {process(agentPID, 20, 0, 3, "/usr/bin/claude", env), process(20, 10, 0, 3, "/bin/bash", env), true},
	} {
		table := proctest.NewTable(process(1, 0, 1, 0, "/sbin/init", nil), server, test.shell, process(25, 20, 20, 3, "/usr/bin/script", env), test.agent)
		agent, _ := table.ByPID(agentPID)
		if got := Find(table, agent); (got != nil) != test.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A process whose terminal or environment may not be read has no pane.
func TestFindUnreadable(t *testing.T) {
	env := map[string]string{"TMUX": "/tmp/tmux-0/default,10,0", "TMUX_PANE": "%3"}
	elsewhere := process(agentPID, 10, agentPID, 3, "/usr/bin/claude", env)
	elsewhere.OtherRoot = true
	denied := process(agentPID, 10, agentPID, 3, "/usr/bin/claude", env)
	denied.Err = proc.ErrUnsupported
	for _, p := range []proctest.Process{elsewhere, denied} {
		table := proctest.NewTable(process(10, 1, 10, 0, "/usr/bin/tmux", nil), p)
		agent, _ := table.ByPID(agentPID)
		if got := Find(table, agent); got != nil {
			t.Errorf("%+v", *got)
		}
	}
}
