package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

const (
	childID  = "01a1fa6a-5869-7310-8297-cbac269b6577"
	nephewID = "01a1fa6a-5869-7310-8297-cbac269b6578"
	otherID  = "01a1fa6a-5869-7310-8297-cbac269b6579"
)

// fakeThread is a thread of a fake server. Interrupting it takes a few polls and leaves its command running.
type fakeThread struct {
	ID, Root, Parent string
	looks            int // until it is idle, once interrupted
	interrupted      bool
	commands         int
	archived         bool
	port             int // of the terminal that has loaded it
}

// fakeServer answers as the daemon does (SEEN 0.169).
type fakeServer struct {
	path    string
	mu      sync.Mutex
	threads []*fakeThread
	asked   []string
	// answer replaces what is answered, if it is not nil.
	answer func(method string) (json.RawMessage, bool)
}

func startServer(t *testing.T, threads ...*fakeThread) *fakeServer {
	t.Helper()
	dir, err := os.MkdirTemp("", "sock") // a test's own is too long for a socket's name
	must.Do(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &fakeServer{path: filepath.Join(dir, "s"), threads: threads}
	l, err := net.Listen("unix", s.path)
	must.Do(t, err)
	t.Cleanup(func() { l.Close() })
	go func() { _ = http.Serve(l, http.HandlerFunc(s.serve)) }() //nolint:gosec // it ends with the listener
	return s
}

func (s *fakeServer) serve(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	ctx := r.Context()
	for {
		var q struct {
			ID     int
			Method string
			Params struct{ ThreadID, TurnID string }
		}
		if _, message, err := conn.Read(ctx); err != nil || json.Unmarshal(message, &q) != nil {
			return
		}
		if q.ID == 0 {
			continue
		}
		key, value := "result", s.do(q.Method, q.Params.ThreadID)
		if strings.HasPrefix(string(value), `"`) {
			key, value = "error", json.RawMessage(`{"code":-32600,"message":`+string(value)+`}`)
		}
		note := `{"method":"thread/status/changed","params":{"id":` + "1" + `}}`
		raw, _ := json.Marshal(map[string]any{"id": q.ID, key: value})
		if q.Method == "thread/archive" {
			for _, t := range s.threads {
				if t.archived {
					_ = conn.Write(ctx, websocket.MessageText, []byte(`{"method":"thread/archived","params":{"threadId":"`+t.ID+`"}}`))
				}
			}
		}
		_ = conn.Write(ctx, websocket.MessageText, []byte(note))
		_ = conn.Write(ctx, websocket.MessageText, raw)
	}
}

// do answers one request. A string is an error response.
func (s *fakeServer) do(method, id string) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answer != nil {
		if raw, ok := s.answer(method); ok {
			return raw
		}
	}
	marshal := func(v any) json.RawMessage {
		raw, _ := json.Marshal(v)
		return raw
	}
	if method == "initialize" {
		return marshal(map[string]string{"userAgent": "codex"})
	}
	if method == "thread/loaded/list" {
		var ids []string
		for _, t := range s.threads {
			ids = append(ids, t.ID)
		}
		return marshal(map[string]any{"data": ids})
	}
	i := slices.IndexFunc(s.threads, func(t *fakeThread) bool { return t.ID == id })
	if i < 0 {
		return marshal("thread not found: " + id)
	}
	t := s.threads[i]
	switch method {
	case "thread/read":
		if t.interrupted && t.looks > 0 {
			t.looks--
		}
		status := "idle"
		if t.looks > 0 {
			status = "active"
		}
		return marshal(map[string]any{"thread": map[string]any{
			"id": t.ID, "sessionId": t.Root, "parentThreadId": t.Parent, "status": map[string]string{"type": status},
		}})
	case "turn/interrupt":
		t.interrupted = true
	case "thread/archive": // with its sub-agents
		for _, o := range s.threads {
			o.archived = o.archived || o == t || o.Root == t.ID
		}
	case "thread/unarchive":
		if !t.archived {
			return marshal("no archived rollout found for thread id " + id)
		}
		t.archived = false
	case "mcpServerStatus/list":
		return marshal(map[string]any{"data": []any{map[string]string{"name": tuiServer, "httpOrigin": fmt.Sprint("http://127.0.0.1:", t.port)}}})
	case "turn/start": // begins a turn, or has the one in progress read the message
	case "thread/backgroundTerminals/list":
		return marshal(map[string]any{"data": make([]struct{}, t.commands)})
	case "thread/backgroundTerminals/clean":
		t.commands = 0
	default:
		return marshal("unknown variant `" + method + "`")
	}
	s.asked = append(s.asked, method+" "+id)
	return marshal(struct{}{})
}

// sessionServedBy is a session that a server with this command line runs. The server is this process, as its sockets show.
func sessionServedBy(id string, args ...string) discover.Session {
	return sessionOfServer(os.Getpid(), id, args...)
}

func sessionOfServer(pid int, id string, args ...string) discover.Session {
	table := proctest.NewTable(proctest.Process{
		Process: proc.Process{ID: proc.ID{PID: 7, Birth: "b"}, Exe: "/x/codex", State: 'S'}, Arguments: append([]string{"codex"}, args...),
		PeerPID: pid,
	})
	p, _ := table.ByPID(7)
	return discover.Session{Record: &discover.Record{Agent: "codex", ID: id}, Processes: []proc.Process{p}}
}

// Interrupt ends the turns of a session and its sub-agents, and their commands, on a server with a socket.
func TestInterrupt(t *testing.T) {
	for name, test := range map[string]struct {
		threads  []*fakeThread
		answer   func(string) (json.RawMessage, bool)
		accepted bool
	}{
		"busy, with sub-agents": {[]*fakeThread{
			{ID: otherID, Root: otherID, looks: 1, commands: 1},
			{ID: nephewID, Root: someID, Parent: childID, looks: 3, commands: 2},
			{ID: childID, Root: someID, Parent: someID, looks: 2},
			{ID: someID, Root: someID, looks: 3, commands: 1},
		}, nil, true},
		"idle":       {[]*fakeThread{{ID: someID, Root: someID}}, nil, true},
		"not loaded": {[]*fakeThread{{ID: otherID, Root: otherID, looks: 1}}, nil, false},
		"commands are unknown to it": {[]*fakeThread{{ID: someID, Root: someID, looks: 1}}, func(method string) (json.RawMessage, bool) {
			return json.RawMessage(`"unknown variant"`), strings.HasPrefix(method, "thread/background")
		}, true},
	} {
		s := startServer(t, test.threads...)
		s.answer = test.answer
		accepted, err := (Adapter{}).Interrupt(t.Context(), sessionServedBy(someID, "app-server", "--listen", "unix://"+s.path), launch.Environment{})
		if accepted != test.accepted || err != nil {
			t.Errorf("%s: accepted %t, %v", name, accepted, err)
		}
		for _, f := range s.threads {
			if ours := f.Root == someID; ours && (f.looks > 0 || f.commands > 0) || !ours && (f.interrupted || f.looks == 0) {
				t.Errorf("%s: %+v after %q", name, f, s.asked)
			}
		}
	}
}

// A server that cannot be reached, or refuses, gives an error. A server that only its client can talk to is not accepted.
func TestInterruptNotHandled(t *testing.T) {
	refuses := startServer(t)
	refuses.answer = func(string) (json.RawMessage, bool) { return json.RawMessage(`"not now"`), true }
	for name, test := range map[string]struct {
		args []string
		say  string
	}{
		"stdio":    {[]string{"app-server"}, ""},
		"TCP":      {[]string{"app-server", "--listen", "ws://127.0.0.1:1"}, ""},
		"no home":  {[]string{"app-server", "--listen=unix://", "--managed-daemon"}, ""},
		"exec":     {[]string{"exec", "--listen", "unix://" + refuses.path}, ""},
		"nobody":   {[]string{"app-server", "--listen", "unix:///nowhere/at/all"}, "/nowhere/at/all"},
		"unwilled": {[]string{"app-server", "--listen", "unix://" + refuses.path}, "not now"},
	} {
		accepted, err := (Adapter{}).Interrupt(t.Context(), sessionServedBy(someID, test.args...), launch.Environment{})
		if accepted || (err != nil) != (test.say != "") || err != nil && !strings.Contains(err.Error(), test.say) {
			t.Errorf("%s: accepted %t, %v", name, accepted, err)
		}
	}
}

func thisProcess(t *testing.T) proc.Process {
	t.Helper()
	p, err := proc.Inspect(os.Getpid())
	must.Do(t, err)
	return p
}

// Nothing is sent to another process that listens on the server's socket.
func TestInterruptWithOtherListener(t *testing.T) {
	dir, err := os.MkdirTemp("", "sock")
	must.Do(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path, heard := filepath.Join(dir, "s"), make(chan string, 1)
	l, err := net.Listen("unix", path)
	must.Do(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		conn, err := l.Accept()
		if err != nil {
			heard <- err.Error()
			return
		}
		said := make([]byte, 1<<10)
		n, _ := conn.Read(said)
		_ = conn.Close()
		heard <- string(said[:n])
	}()
	session := sessionOfServer(os.Getppid(), someID, "app-server", "--listen", "unix://"+path)
	accepted, err := (Adapter{}).Interrupt(t.Context(), session, launch.Environment{})
	if accepted || err == nil || !strings.Contains(err.Error(), "another process than pid 7 listens on "+path) {
		t.Errorf("accepted %t, %v", accepted, err)
	}
	if said := <-heard; said != "" {
		t.Errorf("it hears %q", said)
	}
}

// A tool of a sub-agent has the session's marker.
func TestHasMarker(t *testing.T) {
	s := discover.Session{Record: &discover.Record{ID: someID}}
	for name, test := range map[string]struct {
		env  map[string]string
		want bool
	}{
		"own":          {map[string]string{threadKey: someID}, true},
		"a sub-agent":  {map[string]string{threadKey: childID, rootKey: someID}, true},
		"another's":    {map[string]string{threadKey: childID, rootKey: childID}, false},
		"nobody's":     {nil, false},
		"of no thread": {map[string]string{threadKey: ""}, false},
	} {
		p, _ := proctest.NewTable(proctest.Process{Process: proc.Process{ID: proc.ID{PID: 7, Birth: "b"}}, Environ: test.env}).ByPID(7)
		if (Adapter{}).HasMarker(p, s) != test.want || (Adapter{}).HasMarker(p, discover.UnknownSession()) {
			t.Errorf("%s: not %t", name, test.want)
		}
	}
}

// Unload archives a session of the daemon and unarchives it, with its sub-agents, if it is stored and in no turn.
func TestUnload(t *testing.T) {
	stored := filepath.Join(t.TempDir(), nameA)
	must.Do(t, os.WriteFile(stored, []byte("{}\n"), 0o600))
	family := func() []*fakeThread {
		return []*fakeThread{{ID: someID, Root: someID}, {ID: childID, Root: someID, Parent: someID}, {ID: otherID, Root: otherID}}
	}
	busy := family()
	busy[1].looks = 1
	for name, test := range map[string]struct {
		threads []*fakeThread
		source  string
		path    string
		daemon  bool
		unloads bool
		says    string
	}{
		"idle":                    {family(), "tui", stored, true, true, ""},
		"of exec --remote":        {family(), "exec", stored, true, true, ""},
		"not loaded any more":     {nil, "tui", stored, true, true, ""},
		"in a turn":               {busy, "tui", stored, true, false, "a turn has begun"},
		"of another client":       {family(), "vscode", stored, true, false, ""},
		"nothing is stored of it": {family(), "tui", "", true, false, ""},
		"in another server":       {family(), "tui", stored, false, false, ""},
	} {
		server := startServer(t, test.threads...)
		args := []string{"app-server", "--listen", "unix://" + server.path}
		if test.daemon {
			args = append(args, "--managed-daemon")
		}
		s := sessionServedBy(someID, args...)
		s.Source, s.Path = test.source, test.path
		unloads, err := (Adapter{}).Unload(t.Context(), s, launch.Environment{})
		if unloads != test.unloads || (err != nil) != (test.says != "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, %v", name, unloads, err)
		}
		asked := strings.Join(server.asked, "; ")
		if did := strings.Contains(asked, "thread/archive "+someID); did != (test.unloads && test.threads != nil) {
			t.Errorf("%s: asked %s", name, asked)
		}
		for _, f := range test.threads {
			if f.archived {
				t.Errorf("%s: %s is archived", name, f.ID)
			}
		}
	}
}

// The daemon says by the port of which terminal each thread was loaded. Sub-agents and threads that are not stored do not count.
func TestThreadsByPort(t *testing.T) {
	server := startServer(t, &fakeThread{ID: someID, Root: someID, port: 4001}, &fakeThread{ID: childID, Root: someID, Parent: someID, port: 4001},
		&fakeThread{ID: otherID, Root: otherID, port: 4002})
	s := sessionServedBy(someID, "app-server", "--listen", "unix://"+server.path)
	c, err := serverOf(s).ask(t.Context())
	must.Do(t, err)
	defer c.Hangup()
	byPort, err := c.threadsByPort()
	if err != nil || !slices.Equal(byPort[4001], []string{someID}) || !slices.Equal(byPort[4002], []string{otherID}) || len(byPort) != 2 {
		t.Errorf("%v, %v", byPort, err)
	}
}

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
		c, err := appServer{thisProcess(t), serveSocket(t, test.serve)}.connect(call)
		if err == nil {
			c.Hangup()
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
	must.Do(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path = filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	must.Do(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() { _ = http.Serve(l, serve) }() //nolint:gosec // it ends with the listener
	return path
}
