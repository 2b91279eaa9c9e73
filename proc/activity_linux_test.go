package proc

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"agentctl/tests/must"
)

// A process that sleeps has run when it was started, and the end of a connection says when data came last.
func TestActivity(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	must.Do(t, err)
	defer conn.Close()
	sent := time.Now()
	if _, err := conn.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	file, err := conn.(*net.TCPConn).File()
	must.Do(t, err)
	defer file.Close()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	must.Do(t, err)
	defer out.Close()
	must.Do(t, os.Chtimes(out.Name(), time.Now(), time.Unix(1000, 0)))
	cmd := exec.Command("sleep", "1000")
	cmd.Stdout, cmd.ExtraFiles = out, []*os.File{file}
	started := time.Now()
	must.Do(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	p, err := Inspect(cmd.Process.Pid)
	must.Do(t, err)
	a, err := p.Activity()
	const blur = 100 * time.Millisecond // of the clocks
	switch {
	case err != nil:
		t.Fatal(err)
	case !a.LastOutput.Equal(time.Unix(1000, 0)), !a.LastWrite.Equal(a.LastOutput), a.WatchesFiles, len(a.Sockets) != 1:
		t.Errorf("%+v", a)
	case !a.LastRun.IsZero() && (a.LastRun.Before(started.Add(-blur)) || a.LastRun.After(time.Now().Add(blur))): // a kernel may not tell
		t.Errorf("ran at %v, started at %v", a.LastRun, started)
	}
	sockets, err := ReadTCPSockets()
	must.Do(t, err)
	listens, ends := false, 0
	for _, s := range sockets {
		listens = listens || s.Listens && s.Local.String() == listener.Addr().String()
		if a.Sockets[s.Inode] {
			ends++
			if s.Listens || s.Local.String() != conn.LocalAddr().String() || s.Remote.String() != listener.Addr().String() {
				t.Errorf("%+v", s)
			}
			if s.LastMoved.Before(sent.Add(-blur)) || s.LastMoved.After(time.Now().Add(blur)) {
				t.Errorf("moved at %v, sent at %v", s.LastMoved, sent)
			}
		}
	}
	if !listens || ends != 1 {
		t.Errorf("listens: %v, %d connections of %d", listens, ends, len(sockets))
	}
}
