package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/creack/pty"

	"agentctl/proc"
	"agentctl/tests/trace"
)

// players is how many sessions live where live ones are measured.
const players = 10

// measureLive measures a list of sessions that live in homes of their own, with one store after the other as the caller's home.
func measureLive(b binaries, rounds int, dir string, homes []home) ([]*work, error) {
	stop, err := startPlayers(dir)
	if err != nil {
		return nil, err
	}
	list := func(h home) job { return job{h.dir, []string{b.agentctl, "list"}, 0} }
	few, many := list(homes[0]), list(homes[1])
	if err := checkLive(b, many.home); err != nil {
		return nil, errors.Join(err, stop())
	}
	rows := []*work{
		{what: fmt.Sprintf("`list`, %d live of %d processes ÷ hello world", players, idle), limit: 15, job: many, yardstick: job{argv: []string{b.hello}}},
		{what: fmt.Sprintf("… with %d sessions stored ÷ with %d", len(homes[1].sessions), len(homes[0].sessions)), limit: 1.2, job: many, yardstick: few},
	}
	measure(rounds, rows)
	for _, verb := range []string{"events", "top"} {
		share, err := share(job{many.home, []string{b.agentctl, verb}, 0})
		if err != nil {
			return nil, errors.Join(err, stop())
		}
		rows = append(rows, &work{what: fmt.Sprintf("`%s`, idle, %d live, %d stored: %% of a processor", verb, players, len(homes[1].sessions)), limit: 2, value: share})
	}
	return rows, stop()
}

// checkLive fails unless all players are listed at work.
func checkLive(b binaries, home string) error {
	out, err := job{home, []string{b.agentctl, "list", "--json"}, 0}.command().Output()
	var rows []struct{ Status string }
	if err == nil {
		err = json.Unmarshal(out, &rows)
	}
	running := 0
	for _, r := range rows {
		if r.Status == "running" {
			running++
		}
	}
	if err == nil && running != players {
		err = fmt.Errorf("%d of %d players are listed as running:\n%s", running, players, out)
	}
	return err
}

// share runs a command in a terminal for a while and returns what share of a processor it takes once it has begun, in percent.
func share(j job) (float64, error) {
	const begin, span = 5 * time.Second, 40 * time.Second
	cmd := j.command()
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 160, Rows: 50})
	if err != nil {
		return 0, err
	}
	defer terminal.Close()
	go func() { _, _ = io.Copy(io.Discard, terminal) }() // its error is how a terminal ends
	<-time.After(begin)
	began, before := time.Now(), used(cmd)
	<-time.After(span)
	spent, took := used(cmd)-before, time.Since(began)
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Wait()
	if before == 0 || spent < 0 {
		return 0, fmt.Errorf("%q has ended: %s", j.argv, cmd.ProcessState)
	}
	return 100 * spent.Seconds() / took.Seconds(), nil
}

// used is the processor time of a command that runs; 0: not known.
func used(cmd *exec.Cmd) time.Duration {
	p, err := proc.Inspect(cmd.Process.Pid)
	if err != nil {
		return 0
	}
	u, _ := p.Usage()
	return u.CPU
}

// measureRest measures what is no time: memory, and the size of the binary.
func measureRest(b binaries, home string) ([]*work, error) {
	info, err := os.Stat(b.agentctl)
	if err != nil {
		return nil, err
	}
	r, err := trace.Memory(job{home, []string{b.agentctl, "list", "-a", "--since", "all", "--json"}, 0}.command())
	if err != nil {
		return nil, err
	}
	return []*work{
		{what: "`list -a --since all --json`, MB resident", limit: 128, value: float64(r.PeakRSS) / 1e6},
		{what: "the binary, MB", limit: 26, value: float64(info.Size()) / 1e6},
	}, nil
}

// startPlayers starts this program under the names of agents in turn, each with a session of its own that has begun when
// this returns. Their homes lie below dir; their processes name them, so that they are found from any other home.
func startPlayers(dir string) (stop func() error, err error) {
	var ends []func() error
	stop = func() (err error) {
		for _, end := range ends {
			err = errors.Join(err, end())
		}
		return err
	}
	for i := range players {
		path := filepath.Join(dir, []string{"claude", "codex"}[i%2])
		if i < 2 { // what runs tells by its file's name which agent it is
			self, err := os.Executable()
			if err != nil {
				return nil, err
			}
			raw, err := os.ReadFile(self)
			if err != nil {
				return nil, err
			}
			if err := os.WriteFile(path, raw, 0o700); err != nil {
				return nil, err
			}
		}
		cmd := exec.Command(path)
		home := filepath.Join(dir, "live")
		cmd.Env, cmd.Dir, cmd.Stderr = []string{"HOME=" + home, "CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude"), "CODEX_HOME=" + filepath.Join(home, ".codex")}, dir, os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		alive, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		ends = append(ends, func() error { return errors.Join(alive.Close(), cmd.Wait()) })
		var id string
		if _, err := fmt.Fscanln(out, &id); err != nil {
			return nil, errors.Join(fmt.Errorf("%s begins no session: %w", path, err), stop())
		}
	}
	return stop, nil
}

// playing plays the agent whose name this program has, until stdin ends; played is false if that is none's.
func playing() (code int, played bool) {
	begin := map[string]func() (string, *os.File, error){"claude": claude, "codex": codex}[filepath.Base(os.Args[0])]
	if begin == nil {
		return 0, false
	}
	id, file, err := begin()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	defer file.Close()
	_, _ = fmt.Fprintln(os.Stdout, id)
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0, true
}

// uuid is a new one of this version; 7 begins with the time in milliseconds.
func uuid(version byte) string {
	r := make([]byte, 16)
	_, _ = rand.Read(r) // never fails
	if version == 7 {
		ms := time.Now().UnixMilli()
		for i := range 6 {
			r[i] = byte(ms >> (40 - 8*i))
		}
	}
	r[6], r[8] = r[6]&0x0f|version<<4, r[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", r[:4], r[4:6], r[6:8], r[8:10], r[10:])
}

// claude registers as Claude Code 2.1.197 does, and begins a transcript with a turn in progress.
func claude() (id string, file *os.File, err error) {
	id = uuid(4)
	home := filepath.Join(os.Getenv("HOME"), ".claude")
	cwd, err := os.Getwd()
	if err != nil {
		return "", nil, err
	}
	self, err := proc.Inspect(os.Getpid())
	if err != nil {
		return "", nil, err
	}
	entry := fmt.Sprintf(`{"pid":%d,"sessionId":%q,"cwd":%q,"startedAt":%d,"procStart":"%d","version":"2.1.197","kind":"interactive","entrypoint":"cli","status":"busy"}`,
		os.Getpid(), id, cwd, time.Now().UnixMilli(), self.Ticks)
	if err := put(filepath.Join(home, "sessions", fmt.Sprintf("%d.json", os.Getpid())), entry); err != nil {
		return "", nil, err
	}
	f, err := openAppend(filepath.Join(home, "projects", "-bench", id+".jsonl"))
	if err != nil {
		return "", nil, err
	}
	common := fmt.Sprintf(`"isSidechain":false,"cwd":%q,"sessionId":%q,"version":"2.1.197","timestamp":"%s"}`+"\n", cwd, id, time.Now().UTC().Format(time.RFC3339Nano))
	_, err = fmt.Fprint(f, `{"type":"user","message":{"role":"user","content":"go on"},"uuid":"u0",`+common,
		`{"type":"assistant","message":{"role":"assistant","model":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"true"}}],"stop_reason":"tool_use"},"uuid":"u1",`+common,
		`{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":"ok"}]},"uuid":"u2",`+common)
	return id, f, err
}

// codex begins a rollout, and keeps it open for writing as Codex does.
func codex() (id string, file *os.File, err error) {
	now := time.Now()
	id = uuid(7)
	f, err := openAppend(filepath.Join(os.Getenv("HOME"), ".codex", "sessions", now.Format("2006/01/02"),
		fmt.Sprintf("rollout-%s-%s.jsonl", now.Format("2006-01-02T15-04-05"), id)))
	if err != nil {
		return "", nil, err
	}
	_, err = fmt.Fprintf(f, `{"timestamp":%[1]q,"type":"session_meta","payload":{"id":%[2]q,"timestamp":%[1]q,"cwd":"/","originator":"codex_exec","cli_version":"0.169.0","source":"exec"}}
{"timestamp":%[1]q,"type":"event_msg","payload":{"type":"task_started","turn_id":"1"}}
`, now.UTC().Format(time.RFC3339Nano), id)
	return id, f, err
}

func put(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

func openAppend(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}
