package launch

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"agentctl/proc"
	"agentctl/proc/multiplexer"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

// fixture is a multiplexer that this process plays: it listens on the socket, and has started the first process of the pane.
type fixture struct {
	Guide
	multiplexer.Pane
	dir string
}

// newFixture makes a multiplexer of which a program in PATH prints a text for questions; LEADER in it is the pid of the pane's first process.
func newFixture(t *testing.T, kind multiplexer.Kind, program, answer string) fixture {
	t.Helper()
	dir := t.TempDir()
	f := fixture{Guide{Environment{Environ: []string{"PATH=" + dir + ":/usr/bin:/bin"}}, func(proc.Process) bool { return true }}, multiplexer.Pane{Kind: kind}, dir}
	listener, err := net.Listen("unix", filepath.Join(dir, "socket"))
	must.Do(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	child := exec.Command("sleep", "1000")
	must.Do(t, child.Start())
	t.Cleanup(func() { _, _ = child.Process.Kill(), child.Wait() })
	script := "#!/bin/sh\necho \"$WEZTERM_UNIX_SOCKET $*\" >>" + dir + "/asked\ncat <<'END'\n" + strings.ReplaceAll(answer, "LEADER", strconv.Itoa(child.Process.Pid)) + "\nEND\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, program), []byte(script), 0o755))
	if f.Server, err = proc.Inspect(os.Getpid()); err != nil {
		t.Fatal(err)
	}
	if f.Leader, err = proc.Inspect(child.Process.Pid); err != nil {
		t.Fatal(err)
	}
	f.TTY = "/dev/pts/7"
	f.Address = filepath.Join(dir, "socket")
	return f
}

// asked returns the command lines of the questions, with the socket's variable before each.
func (f fixture) asked(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(f.dir, "asked"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(raw), f.Address, "SOCKET")
}

// lines joins the command lines of a way, with the names of the programs alone.
func lines(f fixture, w Way) string {
	var out []string
	for _, line := range [][]string{w.Select, w.Attach} {
		if len(line) > 0 {
			out = append(out, strings.Join(append([]string{filepath.Base(line[0])}, line[1:]...), " "))
		}
	}
	return strings.ReplaceAll(strings.Join(out, "; "), f.Address, "SOCKET")
}

// WezTerm names the terminal of each pane; older versions only its number.
func TestWezTerm(t *testing.T) {
	for name, test := range map[string]struct {
		answer string
		want   string
		err    error
	}{
		"by its terminal": {`[{"tab_id":1,"pane_id":5,"workspace":"w","tty_name":"/dev/pts/3"},{"tab_id":2,"pane_id":6,"workspace":"w","tty_name":"/dev/pts/7"}]`, "w:2 6", nil},
		"by its number":   {`[{"tab_id":1,"pane_id":5,"workspace":"default"}]`, "default:1 5", nil},
		"elsewhere":       {`[{"tab_id":1,"pane_id":5,"workspace":"w","tty_name":"/dev/pts/3"}]`, ":  5", ErrNoPane},
	} {
		f := newFixture(t, multiplexer.WezTerm, "wezterm", test.answer)
		f.Pane.Pane = "5"
		got, err := f.Locate(t.Context(), f.Pane)
		if !errors.Is(err, test.err) || err == nil && got.Session+":"+got.Window+" "+got.Pane != test.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if asked := f.asked(t); asked != "SOCKET cli list --format json\n" {
			t.Errorf("%s: asked %q", name, asked)
		}
		if err != nil {
			continue
		}
		w, err := f.Way(nil, got)
		if err != nil || lines(f, w) != "wezterm cli activate-pane --pane-id "+got.Pane || len(w.Set) != 1 || w.Set[0] != "WEZTERM_UNIX_SOCKET="+f.Address {
			t.Errorf("%s: %+v, %v", name, w, err)
		}
	}
}

// A dead pane that tmux keeps (remain-on-exit) may have had the terminal before.
func TestTmuxDeadPane(t *testing.T) {
	f := newFixture(t, multiplexer.Tmux, "tmux", "/dev/pts/7 1 1 3 %3 work\n/dev/pts/7 LEADER 0 4 %4 my work")
	got, err := f.Locate(t.Context(), f.Pane)
	if err != nil || got.Window != "4" || got.Pane != "%4" || got.Session != "my work" {
		t.Errorf("%+v, %v", got, err)
	}
}

// kitty tells which process it has started in each pane.
func TestKitty(t *testing.T) {
	f := newFixture(t, multiplexer.Kitty, "kitty", "")
	f.Pane.Pane, f.Address = "6", "unix:"+f.Address
	answer := func(pid string) {
		script := "#!/bin/sh\necho '[{\"tabs\":[{\"id\":2,\"windows\":[{\"id\":6,\"pid\":" + pid + "}]}]}]'\n"
		must.Do(t, os.WriteFile(filepath.Join(f.dir, "kitty"), []byte(script), 0o755))
	}
	answer("1")
	if got, err := f.Locate(t.Context(), f.Pane); !errors.Is(err, ErrNoPane) {
		t.Errorf("with another process: %+v, %v", got, err)
	}
	answer(strings.TrimPrefix(f.Leader.ID.String(), "pid "))
	got, err := f.Locate(t.Context(), f.Pane)
	if err != nil || got.Window != "2" {
		t.Fatalf("%+v, %v", got, err)
	}
	if w, err := f.Way(nil, got); err != nil || lines(f, w) != "kitty @ --to SOCKET focus-window --match id:6" {
		t.Errorf("%+v, %v", w, err)
	}
	f.Address = ""
	if _, err := f.Locate(t.Context(), f.Pane); err == nil || !strings.Contains(err.Error(), "listen_on") {
		t.Errorf("a kitty that is closed: %v", err)
	}
}

// From inside of the session the pane is focused, from outside the terminal is attached.
func TestZellij(t *testing.T) {
	f := newFixture(t, multiplexer.Zellij, "zellij", "")
	f.Session, f.Pane.Pane = "work", "4"
	for want, from := range map[string]*multiplexer.Pane{
		"zellij --session=work action focus-pane-id terminal_4": {Server: f.Server}, "zellij attach work": nil,
	} {
		if w, err := f.Way(from, f.Pane); err != nil || lines(f, w) != want || len(w.Attach) > 0 != (len(w.Unset) > 0) {
			t.Errorf("%+v, %v; want %s", w, err, want)
		}
	}
	if got, err := f.Locate(t.Context(), f.Pane); err != nil || got != f.Pane || f.asked(t) != "" {
		t.Errorf("%+v, %v, asked %q", got, err, f.asked(t))
	}
}

// Nothing is asked of a process that is not ours, of one that is no longer the one, nor of another that listens on the socket.
func TestNotAsked(t *testing.T) {
	f := newFixture(t, multiplexer.Tmux, "tmux", "/dev/pts/7 LEADER 0 1 %1 work")
	if got, err := f.Locate(t.Context(), f.Pane); err != nil || got.Session != "work" {
		t.Fatalf("%+v, %v", got, err)
	}
	before := f.asked(t)
	for name, change := range map[string]func(*fixture){
		"another user's":            func(f *fixture) { f.Reachable = func(proc.Process) bool { return false } },
		"the first process is gone": func(f *fixture) { f.Leader.ID.Birth += "x" },
		"it has another terminal":   func(f *fixture) { f.Leader.TTYDevice++ },
		"not its parent":            func(f *fixture) { f.Server.ID.PID = 1 },
		"another one listens": func(f *fixture) {
			f.Server, _ = proctest.NewTable(proctest.Process{Process: f.Server, PeerPID: f.Leader.ID.PID}).ByPID(f.Server.ID.PID)
		},
		"no socket": func(f *fixture) { f.Address += "x" },
	} {
		g := f
		change(&g)
		if got, err := g.Locate(t.Context(), g.Pane); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if after := f.asked(t); after != before {
		t.Errorf("asked %q", strings.TrimPrefix(after, before))
	}
	if _, err := f.Way(nil, multiplexer.Pane{Kind: multiplexer.Zellij, Leader: f.Leader, Server: f.Server, Session: "s"}); err == nil || !strings.Contains(err.Error(), `no program "zellij"`) {
		t.Errorf("without the program: %v", err)
	}
}

// A process that the server has started, and that has left its group, keeps the pipe open. Reading ends with the context all the same.
func TestStdioServerReadingEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const script = "setsid sh -c 'echo $$; exec sleep 1000' & exec cat >/dev/null"
	s, err := Environment{Environ: os.Environ()}.StartStdioServer(ctx, t.TempDir(), nil, "/bin/sh", "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	lines := bufio.NewReader(s.Stdout)
	line, err := lines.ReadString('\n')
	pid, invalid := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || invalid != nil {
		t.Fatal(err, invalid)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	cancel()
	if line, err = lines.ReadString('\n'); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%q, %v", line, err)
	}
}
