package codex

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// The client reads no more of a server's answer than a bounded number of bytes of its header and of a message, and stops when its context
// ends.
func TestServerWithEndlessAnswer(t *testing.T) {
	t.Parallel()
	messages := func(again func(*websocket.Conn, context.Context) error) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			conn, err := websocket.Accept(w, r, nil)
			for err == nil {
				err = again(conn, r.Context())
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sent := 0
	for name, test := range map[string]struct {
		serve http.HandlerFunc
		want  string
	}{
		"a header": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) }, "exceeded"},
		"a message": {messages(func(c *websocket.Conn, ctx context.Context) error {
			return c.Write(ctx, websocket.MessageText, make([]byte, maxMessage+1))
		}), "limited"},
		"notifications": {messages(func(c *websocket.Conn, ctx context.Context) error {
			if sent++; sent == 1000 { // nothing else ends it
				cancel()
			}
			return c.Write(ctx, websocket.MessageText, []byte(`{"method":""}`))
		}), context.Canceled.Error()},
	} {
		call := t.Context()
		if name == "notifications" {
			call = ctx
		}
		c, err := connect(call, serveSocket(t, test.serve), thisProcess(t))
		if err == nil {
			c.close()
			err = errors.New("none")
		}
		if !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

// serveSocket starts a server on a Unix socket.
func serveSocket(t *testing.T, serve http.HandlerFunc) (path string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ws") // the test's own would be too long for a socket's name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path = filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() { _ = http.Serve(l, serve) }() //nolint:gosec // it ends with the listener
	return path
}
