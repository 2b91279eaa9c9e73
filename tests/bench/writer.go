package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"agentctl/proc"
)

// writer is a session that this program plays.
type writer struct {
	id   string
	file *os.File
	// records are lines of the file that go on with the turn, in turns: a tool call and its result. The time and the call's number are
	// put into them.
	records []string
	// held is what its agent keeps open besides.
	held []io.Closer
}

// writers are the agents that this program can play, by the name of the binary.
func writers() map[string]func() (writer, error) {
	return map[string]func() (writer, error){"claude": claudeWriter, "codex": codexWriter, "opencode": openCodeWriter}
}

// quietKey names the variable by which a writer is told to write one record and then no more.
const quietKey = "AGENTCTL_BENCH_QUIET"

// periodKey names the variable that has the time between two records; without it there are twenty a second.
const periodKey = "AGENTCTL_BENCH_PERIOD"

// playing plays the agent whose name this program has; played is false if that is none's.
func playing() (code int, played bool) {
	begin := writers()[filepath.Base(os.Args[0])]
	if begin == nil {
		return 0, false
	}
	if err := play(begin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	return 0, true
}

// play begins a session with a record of a turn in progress, prints its ID, and goes on with the turn, by twenty records a
// second or as [periodKey] says, until stdin ends.
func play(begin func() (writer, error)) error {
	w, err := begin()
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	period, err := time.ParseDuration(cmp.Or(os.Getenv(periodKey), "50ms"))
	if err != nil {
		return err
	}
	next := time.NewTicker(period)
	defer next.Stop()
	for n := 0; ; n++ {
		count := len(w.records)
		if _, err := fmt.Fprintf(w.file, w.records[n%count]+"\n", time.Now().UTC().Format(time.RFC3339Nano), n/count); err != nil {
			return err
		}
		if n == 0 {
			fmt.Fprintln(os.Stdout, w.id)
		}
		tick := next.C
		if os.Getenv(quietKey) != "" {
			tick = nil
		}
		select {
		case <-tick:
		case <-ended:
			return w.close()
		}
	}
}

func (w writer) close() error {
	err := w.file.Close()
	for _, c := range w.held {
		err = errors.Join(err, c.Close())
	}
	return err
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

// claudeWriter registers as Claude Code 2.1.197 does, and begins a transcript.
func claudeWriter() (writer, error) {
	id := uuid(4)
	home := filepath.Join(os.Getenv("HOME"), ".claude")
	cwd, err := os.Getwd()
	if err != nil {
		return writer{}, err
	}
	self, err := proc.Inspect(os.Getpid())
	if err != nil {
		return writer{}, err
	}
	entry := fmt.Sprintf(`{"pid":%d,"sessionId":%q,"cwd":%q,"startedAt":%d,"procStart":"%d","version":"2.1.197","kind":"interactive","entrypoint":"cli","status":"busy"}`,
		os.Getpid(), id, cwd, time.Now().UnixMilli(), self.Ticks)
	if err := put(filepath.Join(home, "sessions", fmt.Sprintf("%d.json", os.Getpid())), entry); err != nil {
		return writer{}, err
	}
	f, err := openAppend(filepath.Join(home, "projects", "-bench", id+".jsonl"))
	if err != nil {
		return writer{}, err
	}
	common := fmt.Sprintf(`"isSidechain":false,"cwd":%q,"sessionId":%q,"version":"2.1.197","timestamp":`, cwd, id)
	_, err = fmt.Fprintf(f, `{"type":"user","message":{"role":"user","content":"go on"},"uuid":"u0",%s"%s"}`+"\n", common, time.Now().UTC().Format(time.RFC3339Nano))
	record := `{"type":"assistant","message":{"role":"assistant","model":"claude-opus-4-8","content":[{"type":"tool_use","id":"t%[2]d","name":"Bash","input":{"command":"true"}}],"stop_reason":"tool_use"},"uuid":"u%[2]d",` + common + `"%[1]s"}`
	result := `{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t%[2]d","type":"tool_result","content":"ok"}]},"uuid":"r%[2]d",` + common + `"%[1]s"}`
	return writer{id: id, file: f, records: []string{record, result}}, err
}

// codexWriter begins a rollout, and keeps it open for writing as Codex does.
func codexWriter() (writer, error) {
	id, now := uuid(7), time.Now()
	f, err := openAppend(filepath.Join(os.Getenv("HOME"), ".codex", "sessions", now.Format("2006/01/02"),
		fmt.Sprintf("rollout-%s-%s.jsonl", now.Format("2006-01-02T15-04-05"), id)))
	if err != nil {
		return writer{}, err
	}
	at := now.UTC().Format(time.RFC3339Nano)
	_, err = fmt.Fprintf(f, `{"timestamp":%[1]q,"type":"session_meta","payload":{"id":%[2]q,"timestamp":%[1]q,"cwd":"/","originator":"codex_exec","cli_version":"0.169.0","source":"exec"}}
{"timestamp":%[1]q,"type":"event_msg","payload":{"type":"task_started","turn_id":"1"}}
`, at, id)
	record := `{"timestamp":%q,"type":"response_item","payload":{"type":"function_call","name":"exec_command","call_id":"c%d","arguments":"{}"}}`
	result := `{"timestamp":%q,"type":"response_item","payload":{"type":"function_call_output","call_id":"c%d","output":"ok"}}`
	return writer{id: id, file: f, records: []string{record, result}}, err
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
