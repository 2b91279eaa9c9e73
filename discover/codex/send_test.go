package codex

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

// withExe is a session that a process with this binary and command line runs.
func withExe(exe string, args ...string) discover.Session {
	p, _ := proctest.NewTable(proctest.Process{
		Process: proc.Process{ID: proc.ID{PID: 7, Birth: "b"}, Exe: exe, State: 'S'}, Arguments: append([]string{"codex"}, args...),
	}).ByPID(7)
	return discover.Session{Record: &discover.Record{Agent: "codex", ID: someID, Path: "/stored"}, Processes: []proc.Process{p}}
}

// installedVersion installs a program whose place tells its version, and returns its directory.
func installedVersion(t *testing.T, version string) string {
	t.Helper()
	return filepath.Dir(installed(t, filepath.Join(t.TempDir(), "releases", version, "bin", "codex")))
}

// A session is refused if no process of it takes messages, or the installed Codex cannot queue them.
func TestCheckSend(t *testing.T) {
	unprompted := withExe("/bin/codex", "--no-daemon")
	unprompted.Path = ""
	current, old := hostWith(installedVersion(t, "0.169.0")), hostWith(installedVersion(t, "0.148.0"))
	release := func(version string) string { return "/x/releases/" + version + "/bin/codex" }
	for name, test := range map[string]struct {
		session discover.Session
		host    launch.Environment
		say     string // "" if it takes messages
	}{
		"exec":               {withExe(release("0.169.0"), "exec", "--json", "-"), current, "exec takes no messages"},
		"review":             {withExe(release("0.169.0"), "review"), current, "exec takes no messages"},
		"MCP":                {withExe(release("0.155.0"), "mcp-server"), current, "mcp-server takes no messages"},
		"none":               {discover.Session{Record: &discover.Record{ID: someID}}, current, "shows no process"},
		"client":             {withExe(release("0.169.0"), "--remote", "unix://"), current, "shows no process"},
		"old":                {withExe(release("0.148.0")), current, "0.148.0 takes no messages: update Codex"},
		"TUI":                {withExe(release("0.149.0")), current, ""},
		"version unknown":    {withExe("/bin/codex", "--no-daemon"), current, ""},
		"stdio":              {withExe(release("0.169.0"), "app-server"), current, ""},
		"nothing stored":     {unprompted, current, "before its first prompt"},
		"installed is older": {withExe(release("0.169.0"), "--no-daemon"), old, "0.148.0, which is in PATH, has no queue"},
		"daemon":             {withExe(release("0.169.0"), "app-server", "--listen", "unix:///s"), old, ""},
	} {
		err := (Adapter{}).CheckSend(test.session, test.host)
		e := (*launch.UnsupportedError)(nil)
		if errors.As(err, &e) != (test.say != "") || test.say == "" && err != nil || err != nil && !strings.Contains(err.Error(), test.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
	e := (*launch.NotInstalledError)(nil)
	if err := (Adapter{}).CheckSend(withExe(release("0.169.0")), hostWith(t.TempDir())); !errors.As(err, &e) {
		t.Errorf("not installed: %v", err)
	}
}

// A server with a socket is sent the message with an ID of its own, which the transcript keeps.
func TestSendToServer(t *testing.T) {
	s := startServer(t, &fakeThread{ID: someID})
	session := sessionServedBy(someID, "app-server", "--listen", "unix://"+s.path)
	first, err := (Adapter{}).Send(t.Context(), session, "hi", launch.Environment{})
	must.Do(t, err)
	second, err := (Adapter{}).Send(t.Context(), session, "hi", launch.Environment{})
	if err != nil || first.ID == second.ID || !slices.Equal(s.asked, []string{"turn/start " + someID, "turn/start " + someID}) {
		t.Errorf("%+v, %+v, %v; asked %q", first, second, err, s.asked)
	}
	m := discover.Message{Role: discover.RoleUser, Text: "hi", SentID: first.ID}
	if !(Adapter{}).IsSent(m, first) || (Adapter{}).IsSent(m, second) {
		t.Error("messages with the same text are not told apart")
	}
	if _, err := (Adapter{}).Send(t.Context(), sessionServedBy(otherID, "app-server", "--listen", "unix://"+s.path), "hi", launch.Environment{}); err == nil || !strings.Contains(err.Error(), "thread not found") {
		t.Errorf("to a thread that is not loaded: %v", err)
	}
	other := sessionOfServer(os.Getppid(), someID, "app-server", "--listen", "unix://"+s.path)
	if _, err := (Adapter{}).Send(t.Context(), other, "hi", launch.Environment{}); err == nil || !strings.Contains(err.Error(), "and is sent nothing") || len(s.asked) != 2 {
		t.Errorf("to another process's socket: %v, asked %q", err, s.asked)
	}
}

// queueServer is a shell script that answers as `codex app-server` does. It puts what it is asked into a file.
const queueServer = `#!/bin/sh
[ "$*" = app-server ] || exit 2
while read -r line; do
	printf '%s\n' "$CODEX_HOME $line" >>"$OUT"
	case $line in
	*'"initialize"'*) echo '{"method":"note"}'; echo '{"id":1,"result":{}}' ;;
	*queue/add*) WHAT ;;
	esac
done
`

// A session without a socket gets its message by an app-server that is started to put it into the queue of the session's home.
func TestSendByQueue(t *testing.T) {
	for name, test := range map[string]struct {
		what, say string
	}{
		"accepted":   {`echo '{"id":2,"result":{"queuedSubmission":{}}}'`, ""},
		"refused":    {`echo '{"id":2,"error":{"message":"no rollout found"}}'`, "no rollout found"},
		"ends":       {`echo broken >&2; exit 1`, "broken"},
		"ends badly": {`kill -9 $$`, "EOF"},
		"silent":     {`trap '' TERM`, context.Canceled.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			bin, out := filepath.Join(home, "bin"), filepath.Join(home, "out")
			syscall.ForkLock.RLock() // a child process that inherits the open file would keep the program from being started
			err := os.WriteFile(installed(t, filepath.Join(bin, "codex")), []byte(strings.Replace(queueServer, "WHAT", test.what, 1)), 0o755)
			syscall.ForkLock.RUnlock()
			must.Do(t, err)
			session := withExe("/bin/codex", "--no-daemon")
			session.Home = home
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if name == "silent" { // nothing else ends it
				go func() {
					poll := time.NewTicker(10 * time.Millisecond)
					defer poll.Stop()
					for ctx.Err() == nil {
						if raw, _ := os.ReadFile(out); strings.HasSuffix(string(raw), "}\n") && strings.Contains(string(raw), "queue/add") {
							cancel()
						}
						<-poll.C
					}
				}()
			}
			text := strings.Repeat("a \"b\"\n", 50_000)
			sent, err := (Adapter{}).Send(ctx, session, text, launch.Environment{Environ: []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "OUT=" + out, "HOME=" + home}})
			if (err != nil) != (test.say != "") || err != nil && !strings.Contains(err.Error(), test.say) {
				t.Fatalf("%v, want %q", err, test.say)
			}
			raw, err := os.ReadFile(out)
			must.Do(t, err)
			lines := strings.Split(string(raw), "\n")
			last := lines[len(lines)-2]
			if !strings.HasPrefix(last, home+` {"id":2,"method":"thread/queue/add"`) || !strings.Contains(last, sent.ID) || !strings.Contains(last, someID) || len(last) < len(text) {
				t.Errorf("%d lines, the last: %.200s", len(lines), last)
			}
		})
	}
}

// An interruption is what the user may be told of, and is no proof that the message was lost.
func TestRefusal(t *testing.T) {
	for kind, want := range map[discover.MessageKind]bool{discover.KindInterruption: true, discover.KindText: false} {
		if text, dropped := (Adapter{}).Refusal(discover.Message{Kind: kind}, launch.SentMessage{}); (text != "") != want || dropped {
			t.Errorf("%s: %q, %t", kind, text, dropped)
		}
	}
}
