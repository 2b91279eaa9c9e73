package shells

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/tests/realagents/term"
)

// desk is a shell in a terminal, in a repository, with a private home.
type desk struct {
	t          *testing.T
	home, repo string
	shell      shell
	terminal   *term.Terminal
	runs       int
}

// recorder is the agentctl of a desk: completion is the program's; of any other command line it keeps the arguments, and says so.
const recorder = `#!/bin/sh
case $1 in
__complete | completion) exec "${0%/*}/real/agentctl" "$@" ;;
esac
n=$(ls "$HOME/runs" | wc -l)
printf '%s\0' "$@" >"$HOME/runs/$((n + 1))"
echo "[ran $((n + 1))]"
`

// newDesk makes a home with a repository.
func newDesk(t *testing.T) *desk {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	d := &desk{t: t, home: filepath.Join(base, "home"), repo: filepath.Join(base, "repo")}
	d.check(err)
	for _, dir := range []string{"bin", "runs", ".config/fish"} {
		d.check(os.MkdirAll(filepath.Join(d.home, dir), 0o755))
	}
	self, err := os.Executable()
	d.check(err)
	d.check(os.Mkdir(filepath.Join(d.home, "bin/real"), 0o755))
	d.check(os.Symlink(self, filepath.Join(d.home, "bin/real/agentctl")))
	d.check(os.WriteFile(filepath.Join(d.home, "bin/agentctl"), []byte(recorder), 0o755))
	d.check(os.Mkdir(d.repo, 0o755))
	d.git("init", "-q", "-b", "main")
	d.git("-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "--allow-empty", "-m", "first")
	return d
}

func (d *desk) check(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) git(args ...string) string {
	d.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", d.repo}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+d.home, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return strings.TrimSpace(string(out))
}

// session stores a stopped session of Claude Code that was last active some minutes ago.
func (d *desk) session(id, dir, title string, minutes int) {
	d.t.Helper()
	at := time.Now().Add(-time.Duration(minutes) * time.Minute)
	stamp := at.UTC().Format("2006-01-02T15:04:05.000Z")
	common := map[string]any{"sessionId": id, "cwd": dir, "timestamp": stamp, "version": "2.1.197", "userType": "external", "isSidechain": false}
	var text []byte
	for _, record := range []map[string]any{
		{"type": "user", "uuid": id[:35] + "1", "parentUuid": nil, "message": map[string]any{"role": "user", "content": title}},
		{"type": "assistant", "uuid": id[:35] + "2", "parentUuid": id[:35] + "1", "message": map[string]any{
			"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
			"content": []any{map[string]any{"type": "text", "text": "done"}},
		}},
	} {
		maps.Copy(record, common)
		line, err := json.Marshal(record)
		d.check(err)
		text = append(append(text, line...), '\n')
	}
	project := filepath.Join(d.home, ".claude/projects", fmt.Sprintf("-p%d", minutes))
	d.check(os.MkdirAll(project, 0o755))
	file := filepath.Join(project, id+".jsonl")
	d.check(os.WriteFile(file, text, 0o644))
	d.check(os.Chtimes(file, at, at))
}

// open starts the shell, and waits until it is ready.
func (d *desk) open(s shell) {
	d.t.Helper()
	d.shell = s
	d.check(os.WriteFile(s.rc, []byte(s.text), 0o644))
	environ := s.environ
	if len(environ) == 0 {
		environ = []string{"PATH=" + os.Getenv("PATH")}
	}
	environ = slices.Clone(environ)
	for i, variable := range environ {
		if path, ok := strings.CutPrefix(variable, "PATH="); ok {
			environ[i] = "PATH=" + filepath.Join(d.home, "bin") + ":" + path
		}
	}
	cmd := exec.Command(s.program, s.args...)
	cmd.Dir = d.repo
	cmd.Env = append(environ, "HOME="+d.home, "TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "TZ=UTC")
	terminal, err := term.Start(cmd)
	d.check(err)
	d.terminal = terminal
	d.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		terminal.Close()
		_ = cmd.Wait()
	})
	d.sees("READY>")
}

func (d *desk) types(text string) {
	d.t.Helper()
	d.check(d.terminal.Send(text))
}

// sees waits until the texts stand on the screen in this order.
func (d *desk) sees(texts ...string) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), 2*time.Minute)
	defer cancel()
	err := d.terminal.WaitUntil(ctx, func(screen string) bool {
		for _, text := range texts {
			_, rest, found := strings.Cut(screen, text)
			if !found {
				return false
			}
			screen = rest
		}
		return true
	})
	if err != nil {
		screen, _ := d.terminal.Screen()
		d.t.Fatalf("%q: %v\n%s", texts, err, screen)
	}
}

// completed types a line up to a Tab, and Enter, and returns the arguments that agentctl got.
func (d *desk) completed(line string) []string {
	d.t.Helper()
	d.runs++
	d.types(line + string(term.Tab) + string(term.Enter))
	d.sees(fmt.Sprintf("[ran %d]", d.runs), "READY>")
	raw, err := os.ReadFile(filepath.Join(d.home, "runs", fmt.Sprint(d.runs)))
	d.check(err)
	return strings.Split(strings.TrimSuffix(string(raw), "\x00"), "\x00")
}

// untouched fails if anything that a hostile name holds was run: each would make a file whose name begins with pw.
func (d *desk) untouched() {
	d.t.Helper()
	for _, dir := range []string{d.repo, d.home} {
		found, err := filepath.Glob(filepath.Join(dir, "pw*"))
		d.check(err)
		if len(found) > 0 {
			d.t.Errorf("a name was run: %q", found)
		}
	}
}
