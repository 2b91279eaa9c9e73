package codex

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"

	"github.com/coder/websocket"

	"agentctl/discover"
	"agentctl/proc"
)

// webSocket is a WebSocket to a server on a Unix socket. The daemon speaks it, and `codex app-server proxy` passes it on unchanged
// (SEEN 0.169).
type webSocket struct {
	ctx  context.Context // the socket works until it ends
	conn *websocket.Conn
}

// maxMessage is the most bytes of a message. The daemon splits its own messages above this size (SEEN 0.169).
const maxMessage = 16 << 20

// dial connects to a server. The socket works until ctx ends. dial sends nothing to another process that listens on the path. It
// resolves the path, because Codex puts a link in the home where socket names, some hundred bytes, are too short for the path.
func dial(ctx context.Context, path string, server proc.Process) (*webSocket, error) {
	const maxHeader = 64 << 10
	transport := &http.Transport{MaxResponseHeaderBytes: maxHeader, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return server.Dial(ctx, "unix", discover.RealPath(path))
	}}
	conn, _, err := websocket.Dial(ctx, "ws://localhost/", &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(maxMessage)
	return &webSocket{ctx, conn}, nil
}

func (s *webSocket) close() { _ = s.conn.CloseNow() } // all has been read and written

// sendMessage implements [rpcConn]: one message of the protocol is one message of the WebSocket (SEEN 0.169).
func (s *webSocket) sendMessage(message []byte) error {
	return s.orEnd(s.conn.Write(s.ctx, websocket.MessageText, message))
}

// orEnd returns why the context has ended, if it has: the library then closes the connection, and may report that.
func (s *webSocket) orEnd(err error) error {
	if err != nil && s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	return err
}

// receive returns the next message. Error: [io.EOF] once the server has closed the connection.
func (s *webSocket) receive() ([]byte, error) {
	_, message, err := s.conn.Read(s.ctx)
	if websocket.CloseStatus(err) != -1 || errors.Is(err, io.EOF) {
		err = io.EOF
	}
	return message, s.orEnd(err)
}
