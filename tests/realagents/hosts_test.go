package realagents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"agentctl/internal/host"
	"agentctl/internal/output"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
	"agentctl/tests/sshd"
)

// hostsWorld has real agents on two machines: Claude Code on ana, Codex and OpenCode on bob. mal is hostile, bare has no agentctl, away cannot be
// reached.
type hostsWorld struct {
	agentctl
	ana, bob *world.World
	net      *sshd.World
	// dirs are directories on ana, bobs on bob.
	dirs, bobs []string
}

func newHostsWorld(t *testing.T) *hostsWorld {
	t.Helper()
	sshd.Need(t)
	h := &hostsWorld{ana: world.New(t), bob: world.New(t)}
	claude, codex, opencode := h.ana.Claude(install.ClaudeCurrent), h.bob.Codex(install.CodexCurrent), h.bob.OpenCode(install.OpenCodeCurrent)
	for _, name := range []string{"one", "two", "three"} {
		h.dirs, h.bobs = append(h.dirs, h.ana.Dir(name)), append(h.bobs, h.bob.Dir(name))
	}
	dir := t.TempDir()
	banner := filepath.Join(dir, "banner")
	if err := os.WriteFile(banner, []byte("#!/bin/sh\nprintf 'Welcome \\033[31m\\no 5\\nhello' | tee /dev/stderr\nexec /bin/sh \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	mal := sshd.Host{Name: "mal", UID: 2003, Home: filepath.Join(dir, "mal"), Shell: banner}
	net, err := sshd.New(t.Context(), dir, h.ana.Machine("ana", 2001, claude), h.bob.Machine("bob", 2002, codex, opencode), mal,
		sshd.Host{Name: "bare", UID: 2004, Home: filepath.Join(dir, "bare")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(net.Close)
	h.net = net
	h.agentctl = agentctl{t: t, home: t.TempDir(), env: []string{"PATH=" + net.Bin + ":" + os.Getenv("PATH")}}
	config := filepath.Join(h.home, ".config", "agentctl", "config.toml")
	if err := os.MkdirAll(filepath.Dir(config), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte("[hosts]\nana = \"ana\"\nbob = \"bob\"\nmal = \"mal\"\nbare = \"bare\"\naway = \"away\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	h.does(0, "host", "install", "--yes", "ana")
	h.does(0, "host", "install", "--yes", "bob")
	return h
}

// hostile makes the agentctl of mal one that answers everything with this text, in the middle of which the connection seems to end.
func (h *hostsWorld) hostile(text string) {
	h.t.Helper()
	hello := fmt.Sprintf(`{"schema":%q,"version":"v9\u001b[2J"}`, output.SchemaID())
	program := filepath.Join(filepath.Dir(h.net.Bin), "mal/.local/bin/agentctl")
	answer := fmt.Sprintf("h %d\n%so %d\n%s", len(hello), hello, len(text), text)
	if err := os.WriteFile(program, []byte("#!/bin/sh\ncat <<'EOF'\n"+answer+"\nEOF\n"), 0o755); err != nil {
		h.t.Fatal(err)
	}
}

// does runs a command, which must end with the code, and returns what it prints.
func (h *hostsWorld) does(code int, args ...string) (stdout, stderr string) {
	h.t.Helper()
	out, errs, got := h.run(args...)
	if got != code {
		h.t.Fatalf("%q: exit code %d, want %d\n%s%s\n%s", args, got, code, out, errs, h.net.Log())
	}
	return out, errs
}

// says runs a command that must succeed, and whose output must have some words.
func (h *hostsWorld) says(words []string, args ...string) string {
	h.t.Helper()
	out, _ := h.does(0, args...)
	for _, word := range words {
		if !strings.Contains(out, word) {
			h.t.Errorf("%q: no %q in\n%s", args, word, out)
		}
	}
	return out
}

// launch launches an agent, and returns its session as H:ID.
func (h *hostsWorld) launch(agent, on, dir, prompt string, flags ...string) string {
	h.t.Helper()
	out, _ := h.does(0, slices.Concat([]string{"launch", agent, "--host", on, "--cwd", dir, "-p", prompt}, flags)...)
	id := strings.TrimSpace(out)
	if !strings.HasPrefix(id, on+":") || strings.ContainsAny(id, " \n") {
		h.t.Fatalf("launch prints %q", out)
	}
	return id
}

// statusOf returns a session of a host.
func (h *hostsWorld) statusOf(id string) session {
	h.t.Helper()
	out, _ := h.does(0, "status", "--json", id)
	var s session
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		h.t.Fatalf("%v\n%s", err, out)
	}
	return s
}

// background is a command beside the test.
type background struct {
	h         *hostsWorld
	cmd       *exec.Cmd
	out, errs string
}

// begin starts a command beside the test.
func (h *hostsWorld) begin(args ...string) *background {
	h.t.Helper()
	dir := h.t.TempDir()
	b := &background{h: h, cmd: exec.Command(os.Getenv(binary), args...), out: filepath.Join(dir, "out"), errs: filepath.Join(dir, "err")}
	b.cmd.Env = append([]string{"HOME=" + h.home}, h.env...)
	out, err := os.Create(b.out)
	if err != nil {
		h.t.Fatal(err)
	}
	defer out.Close()
	errs, err := os.Create(b.errs)
	if err != nil {
		h.t.Fatal(err)
	}
	defer errs.Close()
	b.cmd.Stdout, b.cmd.Stderr = out, errs
	if err := b.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = b.cmd.Process.Kill(); _ = b.cmd.Wait() }) // it has ended, if all went well
	return b
}

// until waits until the command has printed some words.
func (b *background) until(words ...string) string {
	b.h.t.Helper()
	var out []byte
	if !poll(func() bool {
		out, _ = os.ReadFile(b.out)
		return !slices.ContainsFunc(words, func(w string) bool { return !bytes.Contains(out, []byte(w)) })
	}) {
		errs, _ := os.ReadFile(b.errs)
		b.h.t.Fatalf("%q: no %q in\n%s%s", b.cmd.Args[1:], words, out, errs)
	}
	return string(out)
}

// ends waits for the end of the command, and for its exit code and a warning.
func (b *background) ends(code int, warning string) {
	b.h.t.Helper()
	_ = b.cmd.Wait()
	errs, _ := os.ReadFile(b.errs)
	if got := b.cmd.ProcessState.ExitCode(); got != code || !strings.Contains(string(errs), warning) {
		b.h.t.Errorf("%q: exit code %d, want %d\n%s", b.cmd.Args[1:], got, code, errs)
	}
}

// TestHosts: "real agents on two of them; a connection cut in the midst of events, wait and launch (the session lives on, and is found again)".
func TestHosts(t *testing.T) {
	h := newHostsWorld(t)
	a := h.launch("claude-code", "ana", h.dirs[0], "live on ana [[delay @ana a word of ana]]")
	b := h.launch("codex", "bob", h.bobs[0], "live on bob [[delay @bob a word of bob]]")
	h.ana.WaitCall("live on ana", 0)
	h.bob.WaitCall("live on bob", 0)
	h.seesAll(a, b)
	h.reads(a, b)
	h.showsAll(a, b)
	h.surviveCuts(a, b)
	h.acts(a)
}

// seesAll: one list of all hosts, with a warning of each that gives no answer.
func (h *hostsWorld) seesAll(a, b string) {
	h.t.Helper()
	_, id, _ := strings.Cut(a, ":")
	h.hostile(`[{"id":"` + id + `","host":"ana","adapter":"claude-code","status":"idle","pid":1,"title":"\u001b]0;t\u0007","meta":{}}`)
	for _, args := range [][]string{{"--all-hosts"}, {"--host", "ana,bob,mal", "--host", "bare,away"}} {
		out, errs := h.does(6, append([]string{"list", "--json"}, args...)...)
		var rows []session
		if err := json.Unmarshal([]byte(out), &rows); err != nil {
			h.t.Fatalf("%v\n%s", err, out)
		}
		var got []string
		for _, s := range rows {
			if s.Host != host.Local { // without root, all machines are of our own user
				got = append(got, s.Host+":"+*s.ID+" "+s.Status)
			}
		}
		slices.Sort(got)
		if want := []string{a + " running", b + " running", "mal:" + id + " idle"}; !slices.Equal(got, want) {
			h.t.Errorf("list %q: %q, want %q\n%s", args, got, want, errs)
		}
		for _, warning := range []string{"mal: the connection has ended", "bare: it has no agentctl", "away: it cannot be reached"} {
			if !strings.Contains(errs, warning) {
				h.t.Errorf("list %q: no %q in\n%s", args, warning, errs)
			}
		}
	}
	if out, errs := h.does(6, "list", "--all-hosts"); strings.ContainsAny(out+errs, "\x1b\x07") {
		h.t.Errorf("control characters of mal: %q", out+errs)
	}
	h.does(6, "stop", "mal:"+id)
	if s := h.statusOf(a); s.Status != "running" || s.Host != "ana" || s.PID == 0 || s.CWD != h.dirs[0] {
		h.t.Errorf("%+v", s)
	}
}

// reads: what live sessions have said, and what they used.
func (h *hostsWorld) reads(a, b string) {
	h.t.Helper()
	h.says([]string{"live on ana"}, "peek", a)
	h.says([]string{"live on bob"}, "logs", "-n", "1", b)
	h.says([]string{a}, "search", "-l", "--host", "ana,bob", "live on ana")
	h.says([]string{`agentctl_sessions{host="ana",adapter="claude-code",status="running"} 1`, `agentctl_host_up{host="bob"} 1`}, "metrics", "--host", "ana,bob")
	h.does(8, "search", "-l", "--host", "ana,bob", "never said")
	h.does(124, "wait", a, "--timeout", "1ms")
}

// showsAll: top shows the sessions of all hosts, and what is said in them.
func (h *hostsWorld) showsAll(a, b string) {
	h.t.Helper()
	dir := h.t.TempDir()
	top := h.topIn(filepath.Join(dir, "before"), filepath.Join(dir, "after"), "--host", "ana,bob")
	top.sees(`^2 running`)
	shortA, shortB := a[:len("ana:12345678")], b[:len("bob:12345678")]
	top.sees(` running +` + shortA + ` .*claude-code .*live on ana`)
	top.sees(` running +` + shortB + `.* codex .*live on bob`)
	top.types("/bob\r")
	top.sees(`filter: bob`, shortA)
	top.types("\r")
	top.sees(`peek: \$ agentctl peek .*` + b)
	top.sees(`live on bob`)
	top.types("q")
	top.sees(`^it ended with 0`)
}

// surviveCuts: events, wait, logs -f and launch end or go on without the host, and say so; the sessions go on, and are found again.
func (h *hostsWorld) surviveCuts(a, b string) {
	h.t.Helper()
	_, idA, _ := strings.Cut(a, ":")
	_, idB, _ := strings.Cut(b, ":")
	events := h.begin("events", "--host", "ana,bob", "--initial")
	events.until(idA, idB)
	wait, logs := h.begin("wait", a, b), h.begin("logs", "-f", a)
	logs.until("live on ana")
	launch := h.begin("launch", "claude-code", "--host", "ana", "--cwd", h.dirs[1], "--wait", "-p", "is cut off [[delay @cut a word after the cut]]")
	c := strings.TrimSpace(launch.until("ana:", "\n"))
	h.ana.WaitCall("is cut off", 0)
	events.until(strings.TrimPrefix(c, "ana:"))

	h.cut("ana")
	const warning = "warning: ana: the connection has ended"
	launch.ends(6, warning)
	logs.ends(6, warning)
	for _, id := range []string{a, c} {
		if s := h.statusOf(id); s.Status != "running" || s.PID == 0 {
			h.t.Errorf("after the cut: %s", rowOf(s))
		}
	}
	h.bob.Model.Release("bob")
	wait.until(b)
	wait.ends(6, warning)
	events.until(`"type":"session.stopped"`)
	if err := events.cmd.Process.Signal(syscall.SIGINT); err != nil {
		h.t.Error(err)
	}
	events.ends(130, warning)
	h.ana.Model.Release("ana")
	h.ana.Model.Release("cut")
	h.says([]string{a + "  stopped  completed", b + "  stopped  completed", c + "  stopped  completed"}, "wait", a, b, c)
	h.says([]string{"a word after the cut"}, "peek", c)
	h.says([]string{a, b, c}, "list", "-a", "-q", "--host", "ana,bob")
	h.says([]string{a, b}, "search", "-l", "--host", "ana,bob", "a word of")
	h.says([]string{`"host": "ana"`, `"host": "bob"`}, "usage", "--host", "ana,bob", "--by", "session", "--json")

	// A launch that is cut off before its session is proven: the agent goes on all the same.
	early := h.begin("launch", "claude-code", "--host", "ana", "--cwd", h.dirs[2], "-p", "is cut off early [[delay @early a late word]]")
	if !poll(func() bool { return h.runsAgent(h.dirs[2]) }) {
		h.t.Fatal("no agent starts")
	}
	h.cut("ana")
	_ = early.cmd.Wait()
	h.ana.WaitCall("is cut off early", 0)
	h.ana.Model.Release("early")
	var found string
	if !poll(func() bool {
		found, _ = h.does(0, "list", "-a", "-q", "--host", "ana", "--cwd", h.dirs[2])
		return strings.HasPrefix(found, "ana:")
	}) {
		h.t.Fatal("it is not found again")
	}
	h.does(0, "wait", strings.TrimSpace(found))
	h.says([]string{"a late word"}, "peek", strings.TrimSpace(found))
}

// cut ends all connections to a host.
func (h *hostsWorld) cut(name string) {
	h.t.Helper()
	if err := h.net.CutAll(name); err != nil {
		h.t.Fatal(err)
	}
}

// runsAgent reports whether Claude Code runs in a directory.
func (h *hostsWorld) runsAgent(dir string) bool {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	return slices.ContainsFunc(links, func(link string) bool {
		cwd, _ := os.Readlink(link)
		exe, _ := os.Readlink(filepath.Join(filepath.Dir(link), "exe"))
		return cwd == dir && strings.Contains(exe, install.ClaudeCode)
	})
}

// acts: send, stop, orphans, and a session that goes on in another agent on another host.
func (h *hostsWorld) acts(a string) {
	h.t.Helper()
	server := h.serve()
	session := "bob:" + ask(h.t, server, h.bobs[1], "first of the server")
	h.bob.WaitCall("first of the server", 0)
	h.does(0, "wait", session, "--until", "idle")
	h.says([]string{session + "  delivered"}, "send", session, `it's "more" $(touch pwned) \`)
	h.does(0, "wait", session, "--until", "idle")
	h.says([]string{`it's "more" $(touch pwned) \`}, "logs", session)

	h.bob.Model.Release("ana") // the prompt has what was said on ana, with its directive
	next := h.launch("codex", "bob", h.bobs[2], "go on from ana", "--from", a)
	h.does(0, "wait", next)
	h.says([]string{"> a word of ana", "go on from ana"}, "logs", "-n", "0", next)

	h.does(0, "wait", h.launch("claude-code", "ana", h.dirs[1], "leaves one [[shell (setsid sleep 600 >/dev/null 2>&1 &)]]", "--permissions", "full"))
	h.says([]string{"sleep 600", "ana"}, "list", "--orphans", "--host", "ana,bob")
	h.says([]string{"(1 signals to tools)"}, "stop", "--orphans", "--yes", "--host", "ana,bob")
	if out, _ := h.does(0, "list", "--orphans", "--json", "--host", "ana,bob"); strings.TrimSpace(out) != "[]" {
		h.t.Errorf("orphans are left: %s", out)
	}

	busy := h.launch("claude-code", "ana", h.dirs[0], "is busy [[hang]]")
	h.ana.WaitCall("is busy", 0)
	h.says([]string{busy + "  would be stopped"}, "stop", busy, "--dry-run")
	if s := h.statusOf(busy); s.Status != "running" {
		h.t.Errorf("after --dry-run: %s", rowOf(s))
	}
	h.says([]string{busy + "  stopped"}, "stop", busy)
	if s := h.statusOf(busy); s.Status != "stopped" || s.Outcome != "interrupted" {
		h.t.Errorf("after stop: %s", rowOf(s))
	}
	var checks []output.HostCheck
	out, _ := h.does(6, "host", "check", "--json")
	if err := json.Unmarshal([]byte(out), &checks); err != nil {
		h.t.Fatalf("%v\n%s", err, out)
	}
	for _, check := range checks {
		agents := map[string]int{"ana": 1, "bob": 2}[check.Host]
		if len(check.Agents) < agents || (check.Problem == "") != (agents > 0) {
			h.t.Errorf("host check: %+v", check)
		}
	}
}

// serve starts an OpenCode server on bob, and returns its address.
func (h *hostsWorld) serve() (url string) {
	h.t.Helper()
	out := filepath.Join(h.bobs[1], "serve.out")
	exec := exec.Command(filepath.Join(h.net.Bin, "ssh"), "bob", "cd "+h.bobs[1]+" && exec setsid opencode serve --port 0 >"+out+" 2>&1 </dev/null &")
	if text, err := exec.CombinedOutput(); err != nil {
		h.t.Fatalf("%v\n%s", err, text)
	}
	if !poll(func() bool {
		text, _ := os.ReadFile(out)
		_, rest, ok := strings.Cut(string(text), "listening on ")
		line, _, whole := strings.Cut(rest, "\n")
		url = strings.TrimSpace(line)
		return ok && whole
	}) {
		h.t.Fatal("the server does not say where it listens")
	}
	return url
}
