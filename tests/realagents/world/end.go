package world

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

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
