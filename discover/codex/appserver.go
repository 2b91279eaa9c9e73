package codex

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"

	"github.com/coder/websocket"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// rpcClient is a client of an app-server. It speaks JSON-RPC (SEEN 0.169).
type rpcClient struct {
	launch.RPCClient
	// requests are those of the server, and resolved the numbers of those that have been answered.
	requests []serverRequest
	resolved map[string]bool
}

// appServer is an app-server and the socket that it listens on.
type appServer struct {
	proc.Process
	socket string
}

// connect opens a connection to a server and initializes it. The connection works until ctx ends. connect sends nothing to another process
// that listens on the path. It resolves the path, because Codex puts a link in the home where socket names, some hundred bytes, are too
// short for the path.
func (a appServer) connect(ctx context.Context) (*rpcClient, error) {
	const maxHeader = 64 << 10
	transport := &http.Transport{MaxResponseHeaderBytes: maxHeader, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return a.Dial(ctx, "unix", discover.RealPath(a.socket))
	}}
	conn, _, err := websocket.Dial(ctx, "ws://localhost/", &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(maxMessage)
	return initialize(&webSocket{ctx, conn})
}

// ask is connect with an error that says whom it was for.
func (a appServer) ask(ctx context.Context) (*rpcClient, error) {
	c, err := a.connect(ctx)
	if other, ok := errors.AsType[*proc.OtherPeerError](err); ok { // without the words of the libraries around it
		return nil, other
	}
	if err != nil {
		return nil, fmt.Errorf("asking the app-server at %s: %w", a.socket, err)
	}
	return c, nil
}

// initialize begins the conversation of a client with a server. It closes the connection if that fails.
func initialize(conn launch.RPCConn) (*rpcClient, error) {
	c := &rpcClient{RPCClient: launch.RPCClient{RPCConn: conn}, resolved: map[string]bool{}}
	c.Incoming = c.note
	_, err := c.Call("initialize", map[string]any{
		"clientInfo": map[string]string{"name": "agentctl", "version": "1"},
		// without it, the server has no methods for background terminals and queues
		"capabilities": map[string]bool{"experimentalApi": true},
	})
	if err == nil {
		err = c.Write(launch.RPCRequest{Method: "initialized"})
	}
	if err != nil {
		conn.Hangup()
		return nil, err
	}
	return c, nil
}

// loadedThread is a thread in a server's memory.
type loadedThread struct {
	id, root, parent           string
	active, waiting, ephemeral bool
}

// loadedThreads returns all threads that the server has loaded.
func (r *rpcClient) loadedThreads() (all []loadedThread, err error) {
	list, err := r.Call("thread/loaded/list", struct{}{})
	if err != nil {
		return nil, err
	}
	for v := range list.Get("data").Elements() {
		t, err := r.readThread(v.Text(0))
		if ignoreRefusal(err) != nil {
			return nil, err
		}
		if err == nil { // else it was unloaded meanwhile
			all = append(all, t)
		}
	}
	return all, nil
}

// threadTree returns the loaded threads of a session, itself first. It returns none if the session is not loaded.
func (r *rpcClient) threadTree(id string) ([]loadedThread, error) {
	all, err := r.loadedThreads()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(t loadedThread) bool { return t.id == id })
	if i < 0 {
		return nil, nil
	}
	family := []loadedThread{all[i]}
	for n := 0; n < len(family); n++ {
		for _, t := range all {
			known := slices.ContainsFunc(family, func(f loadedThread) bool { return f.id == t.id })
			if !known && (t.parent == family[n].id || t.root == family[n].id) {
				family = append(family, t)
			}
		}
	}
	return family, nil
}

// readThread reads the state of one thread.
func (r *rpcClient) readThread(id string) (loadedThread, error) {
	result, err := r.Call("thread/read", map[string]any{"threadId": id})
	if err != nil {
		return loadedThread{}, err
	}
	t := result.Get("thread").Object()
	flags := texts(t.Get("status").Object().Get("activeFlags")) // waitingOnApproval, waitingOnUserInput (SEEN 0.171)
	return loadedThread{
		id: id, root: t.Get("sessionId").Text(0), parent: t.Get("parentThreadId").Text(0),
		active: t.Get("status").Object().Get("type").Text(0) == "active", waiting: len(flags) > 0,
		ephemeral: t.Get("ephemeral").IsTrue(),
	}, nil
}

// webSocket is a WebSocket to a server on a Unix socket. The daemon speaks it, and `codex app-server proxy` passes it on unchanged
// (SEEN 0.169).
type webSocket struct {
	ctx  context.Context // the socket works until it ends
	conn *websocket.Conn
}

// maxMessage is the most bytes of a message. The daemon splits its own messages above this size (SEEN 0.169).
const maxMessage = 16 << 20

func (w *webSocket) Hangup() { _ = w.conn.CloseNow() } // all has been read and written

// SendMessage implements [launch.RPCConn]: one message of the protocol is one message of the WebSocket (SEEN 0.169).
func (w *webSocket) SendMessage(message []byte) error {
	return w.orEnd(w.conn.Write(w.ctx, websocket.MessageText, message))
}

// orEnd returns why the context has ended, if it has: the library then closes the connection, and may report that.
func (w *webSocket) orEnd(err error) error {
	if err != nil && w.ctx.Err() != nil {
		return w.ctx.Err()
	}
	return err
}

// ReceiveMessage returns the next message. Error: [io.EOF] once the server has closed the connection.
func (w *webSocket) ReceiveMessage() ([]byte, error) {
	_, message, err := w.conn.Read(w.ctx)
	if websocket.CloseStatus(err) != -1 || errors.Is(err, io.EOF) {
		err = io.EOF
	}
	return message, w.orEnd(err)
}

// stdioServer is an app-server that was started for one client. It reads requests from its stdin and writes answers to its stdout, one on
// each line, and ends when its stdin ends (SEEN 0.149-0.169).
type stdioServer struct {
	*launch.StdioServer
	lines *bufio.Scanner
}

// SendMessage implements [launch.RPCConn].
func (s stdioServer) SendMessage(message []byte) error {
	_, err := s.Stdin.Write(append(message, '\n'))
	return s.explain(err)
}

// ReceiveMessage implements [launch.RPCConn].
func (s stdioServer) ReceiveMessage() ([]byte, error) {
	if s.lines.Scan() {
		return s.lines.Bytes(), nil
	}
	return nil, s.explain(cmp.Or(s.lines.Err(), io.EOF))
}

// explain adds what a server that has ended too early has written to its stderr.
func (s stdioServer) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("codex app-server: %w: %s", err, s.Close())
}

func (s stdioServer) Hangup() { s.Close() }
