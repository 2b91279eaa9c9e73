package world

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Tool is a shell command for an agent's tool: it says when it runs and goes on until the test lets it end.
type Tool struct {
	// Command is the command; it needs the directory that the tool was made in to be the working directory.
	Command string

	w        *World
	begun    *os.File
	released *os.File
}

// Tool makes a command for an agent that works in dir.
func (w *World) Tool(dir string) *Tool {
	w.t.Helper()
	n := strconv.FormatInt(time.Now().UnixNano(), 36)
	tool := &Tool{w: w, Command: "echo > begun-" + n + "; head -n 1 released-" + n}
	tool.begun = w.fifo(filepath.Join(dir, "begun-"+n))
	tool.released = w.fifo(filepath.Join(dir, "released-"+n))
	return tool
}

// fifo makes a named pipe and holds both its ends, so that neither side waits for the other to open it.
func (w *World) fifo(path string) *os.File {
	w.t.Helper()
	w.check(syscall.Mkfifo(path, 0o600))
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
	w.check(err)
	w.t.Cleanup(func() { _ = f.Close() })
	return f
}

// WaitRunning waits until the command runs.
func (t *Tool) WaitRunning() {
	t.w.t.Helper()
	t.w.check(t.begun.SetReadDeadline(time.Now().Add(patience)))
	if _, err := t.begun.Read(make([]byte, 1)); err != nil {
		t.w.t.Fatalf("the tool does not run: %v", err)
	}
}

// End lets the command end, now or as soon as it waits: the line stays in the pipe that we hold open.
func (t *Tool) End() {
	t.w.t.Helper()
	_, err := t.released.WriteString("end\n")
	t.w.check(err)
}
