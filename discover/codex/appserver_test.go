package codex

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The client reads no more of a server's answer than a bounded number of header lines, of bytes in a line and of bytes in a message, and
// stops when its context ends.
func TestServerWithEndlessAnswer(t *testing.T) {
	t.Parallel()
	const accepted = "HTTP/1.1 101 Switching Protocols\r\n\r\n"
	notification := "\x81\x0d" + `{"method":""}`
	for name, test := range map[string]struct {
		begin, again string
		want         error
	}{
		"a line":        {"", strings.Repeat("x", 4<<10), errMessageTooLong},
		"lines":         {"", "x: y\r\n", errMessageTooLong},
		"a message":     {accepted + "\x01\x7e\xff\xff" + strings.Repeat("x", 0xffff), "\x00\x7e\xff\xff" + strings.Repeat("x", 0xffff), errMessageTooLong},
		"notifications": {accepted, notification, os.ErrDeadlineExceeded},
	} {
		path, said := endlessServer(t, test.begin, test.again)
		ctx, cancel := context.WithCancel(t.Context())
		if errors.Is(test.want, os.ErrDeadlineExceeded) { // nothing else ends it
			go func() {
				poll := time.NewTicker(time.Millisecond)
				defer poll.Stop()
				for said.Load() < 1<<20 {
					<-poll.C
				}
				cancel()
			}()
		}
		c, err := connect(ctx, path, thisProcess(t))
		if err == nil {
			c.close()
		}
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
		if most := int64(2 * maxMessage); said.Load() > most && !errors.Is(test.want, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %d bytes were taken", name, said.Load())
		}
		cancel()
	}
}

// endlessServer starts a server that sends begin once and then again until the client closes the connection. It counts what it sends.
func endlessServer(t *testing.T, begin, again string) (path string, said *atomic.Int64) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ws") // the test's own would be too long for a socket's name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path, said = filepath.Join(dir, "s"), new(atomic.Int64)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, err = conn.Write([]byte(begin))
		for err == nil {
			var n int
			n, err = conn.Write([]byte(again))
			said.Add(int64(n))
		}
	}()
	return path, said
}
