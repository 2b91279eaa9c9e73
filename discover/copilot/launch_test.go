package copilot

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
	"agentctl/proc"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

// host returns an environment with an installed agent of a version.
func host(t *testing.T, version string) launch.Environment {
	t.Helper()
	dir := t.TempDir()
	manifest := fmt.Sprintf(`{"name":"@github/copilot-linux-x64","version":%q}`, version)
	must.Do(t, errors.Join(os.WriteFile(filepath.Join(dir, "copilot"), nil, 0o755), os.WriteFile(filepath.Join(dir, "package.json"), []byte(manifest), 0o644)))
	return launch.Environment{Environ: []string{"PATH=" + dir, "HOME=/home/someone"}}
}

func stored(home string) *discover.Session {
	return &discover.Session{Record: &discover.Record{Agent: agentName, ID: idA, Home: home, Dir: "/w", Model: "gpt"}}
}

// Each request becomes the command line that the agent needs for it. The prompt is never in it.
func TestSpec(t *testing.T) {
	own := stored("/home/someone/.copilot")
	for name, test := range map[string]struct {
		launch.Request
		want string
	}{
		"own":         {launch.Request{}, "--session-id=NEW"},
		"edit":        {launch.Request{Permissions: launch.PermissionsEdit, Model: "m"}, "--session-id=NEW --model=m --allow-tool=write"},
		"full, named": {launch.Request{Permissions: launch.PermissionsFull, Name: "n"}, "--session-id=NEW --name=n --allow-all"},
		"own flags":   {launch.Request{Args: []string{"--stream", "off"}}, "--session-id=NEW --stream off"},
		"resumed":     {launch.Request{Resume: own}, "--session-id=" + idA},
		"elsewhere":   {launch.Request{Resume: own, Moved: true}, "--session-id=" + idA + " COPILOT_DISABLE_RESUME_AUTO_CD=true"},
		"other home":  {launch.Request{Resume: stored("/other")}, "--session-id=" + idA + " COPILOT_HOME=/other"},
		"interactive": {launch.Request{Resume: own, Interactive: true}, "--session-id=" + idA},
	} {
		test.Dir, test.Prompt = "/w", "-p is no flag"
		if test.Permissions == "" {
			test.Permissions = launch.PermissionsOwn
		}
		spec, err := New().Spec(test.Request, host(t, "1.0.102"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := strings.ReplaceAll(test.want, "NEW", spec.ID)
		if got := strings.Join(append(spec.Args[1:], spec.Env...), " "); got != want || spec.Stdin != test.Prompt || spec.Dir != "/w" || !isUUID(spec.ID) || spec.Resumed != (test.Resume != nil) {
			t.Errorf("%s: %+v, want %s", name, spec, want)
		}
	}
}

// npm puts a launcher into the PATH that passes no signal on: the program that it runs is started instead.
func TestSpecWithoutLauncher(t *testing.T) {
	platform := "copilot-" + runtime.GOOS + "-" + cmp.Or(map[string]string{"amd64": "x64"}[runtime.GOARCH], runtime.GOARCH)
	for _, below := range []string{"@github", "@github/copilot/node_modules/@github"} {
		dir := t.TempDir()
		loader, native := filepath.Join(dir, "@github/copilot/npm-loader.js"), filepath.Join(dir, below, platform, "copilot")
		for _, file := range []string{loader, native} {
			must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o755)))
		}
		must.Do(t, os.Symlink(loader, filepath.Join(dir, "copilot")))
		spec, err := New().Spec(launch.Request{Dir: "/w", Permissions: launch.PermissionsOwn}, launch.Environment{Environ: []string{"PATH=" + dir}})
		if err != nil || spec.Args[0] != native {
			t.Errorf("%s: %q, %v", below, spec.Args, err)
		}
	}
}

// What the agent cannot do is refused before anything is started.
func TestSpecRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		launch.Request
		version, want string
	}{
		"a fork":       {launch.Request{Resume: stored("/x"), Fork: true}, "1.0.102", "only in its terminal"},
		"a session":    {launch.Request{Args: []string{"--resume=x"}}, "1.0.102", "agentctl chooses the session"},
		"a prompt":     {launch.Request{Args: []string{"-p", "x"}}, "1.0.102", "agentctl chooses the session"},
		"an old agent": {launch.Request{}, "1.0.12", "older than supported"},
	} {
		_, err := New().Spec(test.Request, host(t, test.version))
		if e := (*launch.UnsupportedError)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	_, err := New().Spec(launch.Request{}, launch.Environment{Environ: []string{"PATH=" + t.TempDir()}})
	if e := (*launch.NotInstalledError)(nil); !errors.As(err, &e) {
		t.Errorf("not installed: %v", err)
	}
}

// A run that may edit nothing says so.
func TestHint(t *testing.T) {
	for want, r := range map[bool]launch.Request{
		true:  {Permissions: launch.PermissionsOwn},
		false: {Permissions: launch.PermissionsOwn, Args: []string{"--yolo"}},
	} {
		if got := hintOf(r) != ""; got != want {
			t.Errorf("%+v: hint %t", r, got)
		}
	}
}

func TestParseOutput(t *testing.T) {
	for output, want := range map[launch.ParsedOutput]launch.Output{
		{ID: idA}: {Stdout: []byte(`{"type":"assistant.message","data":{}}` + "\n" + `{"type":"result","sessionId":"` + idA + `","exitCode":0}` + "\n")},
		{}:        {Stdout: []byte("error: the answer speaks of one\n")},
		{Error: "No authentication information found."}: {Stderr: []byte("Error: No authentication information found.\n\nTo authenticate, …\n")},
		{Error: strings.Repeat("Ⱥ", 9)}:                 {Stderr: []byte("Error: " + strings.Repeat("Ⱥ", 9))}, // longer in lower case
		{Error: "unexpected argument '--x' found"}:      {Stderr: []byte("warning: old\nerror: unexpected argument '--x' found\n\nUsage:\n")},
	} {
		if got := New().ParseOutput(want); got != output {
			t.Errorf("%+v: %+v", want, got)
		}
	}
}

func FuzzParseOutput(f *testing.F) {
	f.Add([]byte(`{"type":"result","sessionId":"x"}`), []byte("error: \n"))
	f.Fuzz(func(t *testing.T, stdout, stderr []byte) {
		if got := New().ParseOutput(launch.Output{Stdout: stdout, Stderr: stderr}); got.ID != "" && !isUUID(got.ID) || len([]rune(got.Error)) > discover.ErrorLimit {
			t.Fatalf("%+v", got)
		}
	})
}

// The marker of a sub-agent's command names no session: its process does. Up to 1.0.12 there is none.
func TestMarkers(t *testing.T) {
	agent := proctest.Process{Process: proc.Process{ID: proc.ID{PID: 7, Birth: "b"}, Started: started}}
	table := proctest.NewTable(agent)
	p, _ := table.ByPID(7)
	s := discover.Session{Record: &discover.Record{Agent: agentName, ID: idA}, Processes: []proc.Process{p}}
	for name, test := range map[string]struct {
		env      map[string]string
		shared   bool
		ok, mine bool
	}{
		"a command":                         {map[string]string{sessionKey: idA, pidKey: "7"}, false, true, true},
		"an MCP server":                     {map[string]string{sessionKey: idA}, false, true, true},
		"a sub-agent's command":             {map[string]string{sessionKey: idB, pidKey: "7"}, false, true, true},
		"a sub-agent's, of several":         {map[string]string{sessionKey: idB, pidKey: "7"}, true, true, false},
		"another process's":                 {map[string]string{sessionKey: idB, pidKey: "8"}, false, true, false},
		"a variable that somebody else set": {map[string]string{pidKey: "7"}, false, false, false},
	} {
		tool := proctest.Process{Process: proc.Process{ID: proc.ID{PID: 9, Birth: "b"}, Started: started}, Environ: test.env}
		marked, _ := proctest.NewTable(tool).ByPID(9)
		_, ok := New().ReadMarker(func(key string) string { return test.env[key] })
		if s.Shared = test.shared; ok != test.ok || New().HasMarker(marked, s) != test.mine {
			t.Errorf("%s: marker %t, of the session %t", name, ok, !test.mine)
		}
	}
}

// serve answers requests as the agent does, with what answer returns for a method, and returns the methods that were called.
func serve(t *testing.T, conn net.Conn, answer func(method string, params storage.Object) string) (methods []string) {
	t.Helper()
	c := &rpcConn{conn, bufio.NewReader(conn)}
	for {
		message, err := c.ReceiveMessage()
		if err != nil {
			return methods
		}
		r := storage.Object(message)
		method := r.Get("method").Text(0)
		methods = append(methods, method)
		_ = c.SendMessage([]byte(`{"jsonrpc":"2.0","method":"session.event","params":{}}`))
		if err := c.SendMessage(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,%s}`, r.Get("id").Int(), answer(method, r.Get("params").Object()))); err != nil {
			return methods
		}
	}
}

// The open requests for permission are those of the server, and it takes the first answer to each.
func TestAnswer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	defer listener.Close()
	var given []string
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serve(t, conn, func(method string, params storage.Object) string {
				switch method {
				case "session.permissions.pendingRequests": // as 1.0.102 answers
					return `"result":{"items":[{"requestId":"r1","request":{"kind":"commands","fullCommandText":"touch x1","intention":"a command","commandIdentifiers":["touch"],"canOfferSessionApproval":true,"toolCallId":"c1"}},
						{"requestId":"r2","request":{"kind":"mcp","serverName":"lab","toolName":"add"}}]}`
				case "session.permissions.handlePendingPermissionRequest":
					given = append(given, string(params.Get("result").Raw()))
					return fmt.Sprintf(`"result":{"success":%t}`, len(given) < 4)
				}
				return `"result":{}`
			})
		}
	}()
	table := proctest.NewTable(proctest.Process{
		Process: proc.Process{ID: proc.ID{PID: 7, Birth: "b"}, UID: os.Geteuid()}, Arguments: []string{"copilot", "--ui-server"},
		Ports: []int{listener.Addr().(*net.TCPAddr).Port}, PeerPID: os.Getpid(),
	})
	p, _ := table.ByPID(7)
	s := discover.Session{Record: &discover.Record{Agent: agentName, ID: idA}, Processes: []proc.Process{p}}
	open, err := New().OpenRequests(t.Context(), s, launch.Environment{})
	if err != nil || len(open) != 2 || open[0].ID != "r1" || open[0].Call != "r1" || open[0].Text != "touch x1" || !strings.Contains(open[0].Always, "touch") ||
		!strings.Contains(open[1].Text, `"toolName":"add"`) || open[1].Always != "" {
		t.Fatalf("%+v, %v", open, err)
	}
	for _, reply := range []launch.Reply{{Kind: launch.ReplyYes}, {Kind: launch.ReplyAlways}, {Kind: launch.ReplyNo, Reason: "why"}} {
		if err := New().Answer(t.Context(), s, open[0], reply, launch.Environment{}); err != nil {
			t.Errorf("%s: %v", reply.Kind, err)
		}
	}
	if err := New().Answer(t.Context(), s, open[0], launch.Reply{Kind: launch.ReplyYes}, launch.Environment{}); !errors.Is(err, launch.ErrAnswered) {
		t.Errorf("a second answer: %v", err)
	}
	want := []string{`{"kind":"approve-once"}`, `{"approval":{"commandIdentifiers":["touch"],"kind":"commands"},"kind":"approve-for-session"}`, `{"feedback":"why","kind":"reject"}`}
	if !slices.Equal(given[:3], want) {
		t.Errorf("%q", given)
	}
}

// A message goes to the terminal that listens, and to no other process.
func TestSend(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	defer listener.Close()
	called := make(chan []string, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			called <- nil
			return
		}
		called <- serve(t, conn, func(method string, params storage.Object) string {
			if method == "session.send" && params.Get("prompt").Text(0) == "hello" && params.Get("sessionId").Text(0) == idA {
				return `"result":{"messageId":"m1"}`
			}
			return `"result":{}`
		})
	}()
	terminal := func(peer int, args ...string) discover.Session {
		table := proctest.NewTable(proctest.Process{
			Process: proc.Process{ID: proc.ID{PID: 7, Birth: "b"}, UID: os.Geteuid()}, Arguments: append([]string{"copilot"}, args...),
			Ports: []int{listener.Addr().(*net.TCPAddr).Port}, PeerPID: peer,
		})
		p, _ := table.ByPID(7)
		return discover.Session{Record: &discover.Record{Agent: agentName, ID: idA}, Processes: []proc.Process{p}}
	}
	if e := (*launch.UnsupportedError)(nil); !errors.As(New().CheckSend(terminal(7), launch.Environment{}), &e) {
		t.Error("a terminal that does not listen")
	}
	s := terminal(os.Getpid(), "--ui-server")
	sent, err := New().Send(t.Context(), s, "hello", launch.Environment{})
	if methods := strings.Join(<-called, " "); err != nil || sent.ID != "m1" || methods != "connect session.resume session.send" {
		t.Errorf("%+v, %v: %s", sent, err, methods)
	}
	for m, want := range map[[2]string]bool{{"m1", "wrapped"}: true, {"m2", "hello"}: false, {"", "hello"}: true, {"", "other"}: false} {
		if got := New().IsSent(discover.Message{Role: discover.RoleUser, SentID: m[0], Text: m[1]}, sent); got != want {
			t.Errorf("%q is sent: %t", m, got)
		}
	}
}

// The server deletes a session, and what it refuses is said.
func TestStoreCommand(t *testing.T) {
	h := host(t, "1.0.102")
	command, err := New().StoreCommand(launch.ActionRemove, *stored("/home/someone/.copilot"), h)
	if err != nil || strings.Join(command.Args[1:], " ") != "--server --stdio" {
		t.Fatalf("%+v, %v", command, err)
	}
	for _, refusal := range []string{"", "it is currently in use by another process"} {
		us, them := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			serve(t, them, func(method string, params storage.Object) string {
				if method == "sessions.delete" && refusal != "" {
					return `"error":{"code":-32603,"message":"` + refusal + `"}`
				}
				return `"result":{}`
			})
		}()
		err := deleteSession(us, us, idA)
		if got := fmt.Sprint(err); (err == nil) != (refusal == "") || !strings.Contains(got, refusal) && refusal != "" {
			t.Errorf("%q: %v", refusal, err)
		}
		_ = us.Close()
		<-done
	}
	if _, err := New().StoreCommand(launch.ActionArchive, *stored("/x"), h); err == nil {
		t.Error("it has no archive")
	}
}

// Whatever the other end sends, no message is longer than it says and than the limit.
func FuzzReceiveMessage(f *testing.F) {
	f.Add("Content-Length: 2\r\n\r\n{}")
	f.Add("Content-Length: 99999999999\r\n\r\n")
	f.Add("content-length:1\nX: y\n\n{")
	f.Fuzz(func(t *testing.T, in string) {
		c := &rpcConn{io.Discard, bufio.NewReader(strings.NewReader(in))}
		for {
			message, err := c.ReceiveMessage()
			if err != nil {
				return
			}
			if len(message) > len(in) {
				t.Fatalf("%d bytes of %d", len(message), len(in))
			}
		}
	})
}
