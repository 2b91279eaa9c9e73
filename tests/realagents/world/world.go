// Package world gives real agents a small world of their own: a private home in which every first question is
// answered already, a model that answers as a test wants, and an end with no process left.
package world

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/tests/model"
	"agentctl/tests/realagents/install"
)

// patience bounds every wait, for a machine that is very busy. No test waits for it to pass.
const patience = 5 * time.Minute

// World is one private home with the agents that live in it.
type World struct {
	// Home is the agents' HOME; real path.
	Home string
	// Model is the model of all agents of this world.
	Model *model.Server

	t       testing.TB
	base    string // holds all that the world writes
	shared  *started
	trusted map[string]bool
}

// New makes a world that ends with the test.
func New(t testing.TB) *World {
	t.Helper()
	w := &World{t: t, shared: &started{}, trusted: map[string]bool{}}
	base, err := os.MkdirTemp("", "agentctl-world-")
	if err == nil {
		w.base, err = filepath.EvalSymlinks(base)
	}
	w.check(err)
	t.Cleanup(w.end)
	w.Home = filepath.Join(w.base, "home")
	for _, dir := range []string{w.Home, w.tmp(), w.logs(), w.work()} {
		w.check(os.MkdirAll(dir, 0o755))
	}
	w.Model, err = model.Start("127.0.0.1:0")
	w.check(err)
	w.check(w.configureClaude())
	w.check(w.configureCodex())
	w.check(w.configureOpenCode())
	w.check(w.configurePi())
	for _, name := range []string{"claude", "codex", "opencode", "pi", "copilot"} { // made when they are needed: git takes its time
		w.Trust(filepath.Join(w.work(), name))
	}
	return w
}

func (w *World) tmp() string  { return filepath.Join(w.base, "tmp") }
func (w *World) logs() string { return filepath.Join(w.base, "logs") }
func (w *World) work() string { return filepath.Join(w.base, "work") }

// Dir makes a directory to work in, a git repository with one commit that every agent trusts, and returns its
// real path. The same name gives the same directory.
func (w *World) Dir(name string) string {
	w.t.Helper()
	dir := filepath.Join(w.work(), name)
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	w.check(os.MkdirAll(dir, 0o755))
	w.Trust(dir)
	w.git(dir, "init", "-q", "-b", "main")
	w.git(dir, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "--allow-empty", "-m", "first")
	return dir
}

// Trust makes every agent trust directories, which may still have to be made.
func (w *World) Trust(dirs ...string) {
	w.t.Helper()
	for _, dir := range dirs {
		if w.trusted[dir] {
			continue
		}
		w.trusted[dir] = true
		w.check(w.trustClaude(dir))
		w.check(w.trustCodex(dir))
		w.check(w.trustCopilot(dir))
	}
}

func (w *World) git(dir string, args ...string) {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, w.env(dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
}

// Claude is Claude Code of the given version, at work in the directory "claude".
func (w *World) Claude(version string) Agent {
	w.t.Helper()
	return w.agent(install.ClaudeCode, version, "claude")
}

// Codex is Codex of the given version, at work in the directory "codex".
func (w *World) Codex(version string) Agent {
	w.t.Helper()
	return w.agent(install.Codex, version, "codex")
}

// OpenCode is OpenCode of the given version, at work in the directory "opencode".
func (w *World) OpenCode(version string) Agent {
	w.t.Helper()
	return w.agent(install.OpenCode, version, "opencode")
}

// Release is the agent of a release.
func (w *World) Release(r install.Release) Agent {
	w.t.Helper()
	return w.agent(r.Agent, r.Version, strings.SplitN(r.Agent, "-", 2)[0])
}

// agent finds an installed agent. A missing one fails a CI run; on a person's machine it skips the test.
func (w *World) agent(name, version, dir string) Agent {
	w.t.Helper()
	i, err := install.Find(install.Release{Agent: name, Version: version})
	switch {
	case err == nil:
		if name == install.OpenCode {
			w.check(w.giveOpenCodeStore(i))
		}
		return Agent{Installation: i, w: w, dir: w.Dir(dir)}
	case os.Getenv("CI") == "true":
		w.t.Fatal(err)
	default:
		w.t.Skip(err)
	}
	return Agent{}
}

// WaitCall waits until the model was called for a prompt that contains the text and of which the given number of
// steps is done, and returns the request. The answer may be on its way still.
func (w *World) WaitCall(prompt string, step int) model.Request {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	q, err := w.Model.WaitRequest(ctx, func(q model.Request) bool {
		return !q.Side && q.Step == step && strings.Contains(q.Prompt, prompt)
	})
	if err != nil {
		w.t.Fatalf("waiting for step %d of %q: %v", step, prompt, err)
	}
	return q
}

func (w *World) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// end stops every process of the world, checks that none is left, and removes the world's files.
func (w *World) end() {
	if w.t.Failed() {
		w.explain()
	}
	if left := w.sweep(); left != "" {
		w.t.Errorf("these processes do not end:\n%s", left)
	}
	for _, p := range w.shared.all() {
		if p.cmd.Process != nil {
			<-p.reaped
		}
	}
	if w.Model != nil {
		_ = w.Model.Close()
	}
	w.removeSocket()
	if err := os.RemoveAll(w.base); err != nil {
		w.t.Error(err)
	}
}

// removeSocket removes what Codex's daemon keeps outside of its home: the socket that a link in the home leads to,
// and the lock beside it (since 0.160).
func (w *World) removeSocket() {
	socket, err := os.Readlink(filepath.Join(w.Home, ".codex", "app-server-control", "app-server-control.sock"))
	if err == nil && filepath.IsAbs(socket) {
		_ = os.Remove(socket)
		_ = os.Remove(socket + ".lock")
	}
}

// sweep kills all that lives in the world's home: daemons that have left their parents, and what tools have
// left behind, too. It looks again until a look finds nobody, and returns who is left at the end of patience.
func (w *World) sweep() (left string) {
	Poll(patience, func() bool {
		left = ""
		for _, pid := range w.processes() {
			left += describe(pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		return left == ""
	})
	return left
}

// processes are the living processes that were started with the world's home. Our own never are.
func (w *World) processes() []int {
	var list []int
	for _, pid := range pids() {
		if livesIn(pid, w.Home) {
			list = append(list, pid)
		}
	}
	return list
}

func describe(pid int) string {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return fmt.Sprintf("  %d %s\n", pid, strings.ReplaceAll(string(raw), "\x00", " "))
}

// explain logs what a person needs to understand a failure.
func (w *World) explain() {
	for _, p := range w.shared.all() {
		w.t.Logf("log of %s", p.logs())
	}
	if w.Model == nil {
		return
	}
	for _, q := range w.Model.Requests() {
		w.t.Logf("model request: %s %s step %d side %v prompt %.80q", q.API, q.Model, q.Step, q.Side, q.Prompt)
	}
	for _, pid := range w.processes() {
		w.t.Log("alive:", describe(pid))
	}
}
