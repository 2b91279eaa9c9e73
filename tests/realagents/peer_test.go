package realagents

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// decoy listens where an agent's server might, and keeps what it hears.
type decoy struct {
	listener net.Listener
	talks    sync.WaitGroup
	mu       sync.Mutex
	heard    []byte
}

func listenAs(t *testing.T, network, address string) *decoy {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	d := &decoy{listener: l}
	d.talks.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			d.talks.Go(func() { d.listen(conn) })
		}
	})
	t.Cleanup(func() { _ = l.Close() })
	return d
}

func (d *decoy) listen(conn net.Conn) {
	said, _ := io.ReadAll(conn)
	_ = conn.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.heard = append(d.heard, said...)
}

// end returns all that was heard.
func (d *decoy) end() string {
	_ = d.listener.Close()
	d.talks.Wait()
	return string(d.heard)
}

// TestOpenCodesPasswordGoesToItsServer, and to nobody else who has its port: the server listens on one address, and another
// process on the one that is asked.
func TestOpenCodesPasswordGoesToItsServer(t *testing.T) {
	w := world.New(t)
	const password = "OPENCODE_SERVER_PASSWORD=not to be told"
	a := w.OpenCode(install.OpenCodeCurrent).With(password)
	without := agentctlIn(t, w).as(a)
	with := without
	with.env = append(slices.Clone(without.env), password)
	working := func(server *world.Process) (id string, at *url.URL, tool *world.Tool) {
		at, err := url.Parse(serverURL(t, server))
		if err != nil {
			t.Fatal(err)
		}
		login := *at
		login.User = url.UserPassword("opencode", "not to be told")
		tool = w.Tool(a.Dir())
		id = ask(t, login.String(), a.Dir(), "[[shell "+tool.Command+"]]")
		tool.WaitRunning()
		return id, at, tool
	}

	elsewhere := a.Serve("--hostname", "127.0.0.2")
	id, at, _ := working(elsewhere)
	d := listenAs(t, "tcp4", "127.0.0.1:"+at.Port())
	out, errs, code := with.run("stop", id)
	want := fmt.Sprintf("another process than pid %d listens on 127.0.0.1:%s, and is not asked", elsewhere.PID(), at.Port())
	if code != 5 || !strings.Contains(out+errs, want) {
		t.Errorf("exit code %d, %s%s, want 5 and %q", code, out, errs, want)
	}
	if heard := d.end(); heard != "" {
		t.Errorf("another process hears %q", heard)
	}
	with.expect([]string{row(id, elsewhere.PID(), "running")})
	elsewhere.Kill()

	server := a.Serve()
	id, _, tool := working(server)
	if out, errs, code := without.run("stop", id); code != 5 || !strings.Contains(out+errs, "asks for a password: set OPENCODE_SERVER_PASSWORD") {
		t.Errorf("without the password: exit code %d, %s%s", code, out, errs)
	}
	stopsWith(t, with, id, tool)
	if got := rowOf(with.status(id)); got != row(id, server.PID(), "idle") {
		t.Errorf("afterwards: %s", got)
	}
}

// TestCodexsDaemonAloneIsAsked: whoever has taken the place of its socket is told nothing.
func TestCodexsDaemonAloneIsAsked(t *testing.T) {
	w := world.New(t)
	a := w.Codex(install.CodexCurrent)
	c := agentctlIn(t, w).as(a)
	tool := w.Tool(a.Dir())
	tui := a.TUI()
	tui.Submit("works [[shell " + tool.Command + "]]")
	tool.WaitRunning()
	daemon, id := daemonPID(t, w), codexID(t, w, "works [[")

	socket := filepath.Join(w.Home, ".codex", "app-server-control", "app-server-control.sock")
	dir, err := os.MkdirTemp("", "s") // a test's own is too long for a socket's name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	d := listenAs(t, "unix", filepath.Join(dir, "s"))
	if err := errors.Join(os.Rename(socket, socket+".kept"), os.Symlink(filepath.Join(dir, "s"), socket)); err != nil {
		t.Fatal(err)
	}
	out, errs, code := c.run("stop", id)
	if want := fmt.Sprintf("another process than pid %d listens on %s, and is not asked", daemon, socket); code != 5 || !strings.Contains(out+errs, want) {
		t.Errorf("exit code %d, %s%s, want 5 and %q", code, out, errs, want)
	}
	if heard := d.end(); heard != "" {
		t.Errorf("another process hears %q", heard)
	}
	if got := rowOf(c.status(id)); got != row(id, tui.PID(), "running") {
		t.Errorf("it is %s", got)
	}

	if err := os.Rename(socket+".kept", socket); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := c.run("stop", id); code != 0 {
		t.Errorf("stop: exit code %d, %s%s", code, out, errs)
	}
	if got := rowOf(c.status(id)); got != row(id, 0, "stopped interrupted") || !living(daemon) {
		t.Errorf("afterwards: %s", got)
	}
}
