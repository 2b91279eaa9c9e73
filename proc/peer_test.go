package proc

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"agentctl/tests/must"
)

// listenAt listens, and accepts one connection if accepts is true.
func listenAt(t *testing.T, network, address string, accepts bool) net.Addr {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Skipf("%s %s: %v", network, address, err) // a machine without IPv6
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = l.Close(); <-done })
	go func() {
		defer close(done)
		if !accepts {
			return
		}
		if conn, err := l.Accept(); err == nil {
			t.Cleanup(func() { _ = conn.Close() })
		}
	}()
	return l.Addr()
}

func connectTo(t *testing.T, network, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial(network, address)
	must.Do(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func isOtherPeer(err error) bool {
	_, is := errors.AsType[*OtherPeerError](err)
	return is
}

// TestVerifyPeer: this process has the other end of its connection, and no other process has.
func TestVerifyPeer(t *testing.T) {
	t.Parallel()
	sockets, err := os.MkdirTemp("", "s") // a test's own is too long for a socket's name
	must.Do(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	self, err := Inspect(os.Getpid())
	must.Do(t, err)
	other := sleeping(t)
	for name, listen := range map[string][2]string{
		"IPv4": {"tcp4", "127.0.0.1:0"}, "all addresses": {"tcp", "[::]:0"},
		"a Unix socket": {"unix", filepath.Join(sockets, "s")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			network, address := listen[0], listenAt(t, listen[0], listen[1], true)
			at := address.String()
			if tcp, ok := address.(*net.TCPAddr); ok {
				network, at = "tcp4", (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: tcp.Port}).String()
			}
			conn := connectTo(t, network, at)
			if err := self.verifyPeer(t.Context(), conn, at); err != nil {
				t.Errorf("this process: %v", err)
			}
			if err := other.verifyPeer(t.Context(), conn, at); !isOtherPeer(err) {
				t.Errorf("another process: %v", err)
			}
			gone := self
			gone.ID.Birth = "another"
			if err := gone.verifyPeer(t.Context(), conn, at); !errors.Is(err, ErrGone) {
				t.Errorf("an earlier process of this pid: %v", err)
			}
		})
	}
}

// TestVerifyPeerWaitsForAccept: while no process has accepted the connection, verifyPeer waits.
func TestVerifyPeerWaitsForAccept(t *testing.T) {
	t.Parallel()
	self, err := Inspect(os.Getpid())
	must.Do(t, err)
	conn := connectTo(t, "tcp4", listenAt(t, "tcp4", "127.0.0.1:0", false).String())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := self.verifyPeer(ctx, conn, ""); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// sleeping starts another process.
func sleeping(t *testing.T) Process {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	p, err := Inspect(cmd.Process.Pid)
	must.Do(t, err)
	return p
}
