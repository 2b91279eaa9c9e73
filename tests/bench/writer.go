package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"agentctl/proc"
)

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
