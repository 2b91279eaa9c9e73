package realagents

import (
	"io"
	"net"
	"sync"
	"testing"
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
