package codex

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"agentctl/proc"
)

// The kernel reports the evidence as expected: this process holds a lock, writes one rollout, reads another and watches files.
func TestOpenFilesOfARealProcess(t *testing.T) {
	w := newTestHome(t)
	open := func(path string, flag int) *os.File {
		f, err := os.OpenFile(path, flag, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	look := func() openFiles {
		p, err := proc.Inspect(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		e, err := readOpenFiles(p)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if e := look(); !e.descriptorsNamed || e.watchesFiles || len(e.threads) != 0 {
		t.Errorf("before: %+v", e)
	}
	lock := open(w.lock(threadA).Path, os.O_RDWR)
	open(w.rollout(nameB), os.O_RDONLY)
	if e := look(); len(e.threads) != 0 {
		t.Errorf("a lock file that is not locked, a rollout that is read: %+v", e)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	open(filepath.Join(w.home, "sessions/2026/11/20", nameB), os.O_RDWR|os.O_APPEND)
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(watch) })
	e := look()
	if !e.descriptorsNamed || !e.watchesFiles || len(e.threads) != 2 || e.threads[0].id != threadA || e.threads[0].lock == nil ||
		e.threads[0].rollout != nil || e.threads[1].id != threadB || e.threads[1].rollout == nil || e.threads[1].lock != nil {
		t.Errorf("after: %+v", e)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	if e := look(); len(e.threads) != 1 {
		t.Errorf("unlocked: %+v", e)
	}
}
