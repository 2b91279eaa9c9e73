package world

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// These few readings of /proc are the tests' own, so that nothing is believed of the program under test.

// pids are all processes of the machine.
func pids() []int {
	names, _ := filepath.Glob("/proc/[0-9]*")
	var list []int
	for _, n := range names {
		if pid, err := strconv.Atoi(filepath.Base(n)); err == nil {
			list = append(list, pid)
		}
	}
	slices.Sort(list)
	return list
}

// stat is the state letter and the parent of a process; 'X' if there is none.
func stat(pid int) (state byte, parent int) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 'X', 0
	}
	_, rest, _ := strings.Cut(string(raw[bytes.LastIndexByte(raw, ')'):]), " ")
	var letter string
	if _, err := fmt.Sscan(rest, &letter, &parent); err != nil {
		return 'X', 0
	}
	return letter[0], parent
}

func alive(pid int) bool {
	state, _ := stat(pid)
	return state != 'Z' && state != 'X'
}

// livesIn reports whether a living process was started with this home.
func livesIn(pid int, home string) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && slices.Contains(strings.Split(string(raw), "\x00"), "HOME="+home) && alive(pid)
}

// Poll asks again and again, where nothing tells: of what other programs store, and of processes that are not our
// children. Between two asks it leaves the processor to those who are waited for, four times as long as an ask takes. It
// reports whether the answer was yes before patience ran out.
func Poll(patience time.Duration, good func() bool) bool {
	for deadline := time.Now().Add(patience); ; {
		began := time.Now()
		if good() {
			return true
		}
		now := time.Now()
		if now.After(deadline) {
			return false
		}
		<-time.After(max(20*time.Millisecond, 4*now.Sub(began)))
	}
}

func (w *World) waitUntil(what string, good func() bool) {
	w.t.Helper()
	if !Poll(patience, good) {
		w.t.Fatalf("gave up waiting for %s", what)
	}
}
