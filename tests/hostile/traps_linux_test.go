package hostile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"agentctl/tests/hostile/mutate"
)

// trap makes a directory that a session may name as its own, and in which reading is dangerous.
func (t *trial) trap() string {
	t.traps++
	dir := filepath.Join(t.dir, fmt.Sprintf("trap-%d-try-g-cc", t.traps))
	git := filepath.Join(dir, ".git")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.fail("generator", "%v", err)
		return dir
	}
	var err error
	switch t.IntN(14) {
	case 0:
		err = syscall.Mkfifo(git, 0o644)
	case 1:
		err = os.Symlink("/dev/zero", git)
	case 2:
		err = os.WriteFile(git, []byte("gitdir: "+mutate.Text(t.Rand)+"\n"), 0o644)
	case 3:
		err = errors.Join(os.WriteFile(git, []byte("gitdir: /x"), 0o644), os.Truncate(git, 1<<40))
	case 4:
		err = os.Symlink(".git", git)
	case 5:
		err = os.WriteFile(git, []byte("gitdir: "+dir+"/loop\n"), 0o644)
	case 6, 7, 8:
		if err = copyTree(t.repo, dir); err == nil {
			if err := t.hostileRepository(dir); err != nil {
				t.note("%v", err) // what was damaged before is in the way
			}
		}
	case 9:
		return pick(t, []string{"/dev/zero", "/proc/self/cwd", "/proc/1/root", "/dev/fd/0", "relative", "", "/", strings.Repeat("/long", 2000), dir + "/nowhere", "\x00"})
	case 10:
		dir += "-" + strings.ReplaceAll(mutate.Name(t.Rand), "/", "")
		if len(filepath.Base(dir)) > 255 {
			dir = dir[:len(dir)-60]
		}
		err = os.MkdirAll(dir, 0o755)
	case 11:
		err = os.Chmod(dir, 0)
	case 12:
		dir += "-loop"
		err = os.Symlink(filepath.Base(dir), dir)
	case 13:
		dir += "-fifo"
		err = syscall.Mkfifo(dir, 0o644)
	}
	if err != nil {
		t.fail("generator", "%v", err)
	}
	return dir
}

func pick[T any](t *trial, of []T) T { return of[t.IntN(len(of))] }

// hostileRepository has git run a program whenever it can: a person who works there has git do so, agentctl must not.
func (t *trial) hostileRepository(dir string) error {
	program := filepath.Join(t.dir, "bin", "sh-canary")
	config := fmt.Sprintf(`
[core]
	fsmonitor = %[1]s
	pager = %[1]s
	editor = %[1]s
	sshCommand = %[1]s
[diff]
	external = %[1]s
[filter "x"]
	clean = %[1]s
	smudge = %[1]s
	process = %[1]s
	required = true
[diff "x"]
	textconv = %[1]s
	command = %[1]s
[alias]
	status = !%[1]s
[credential]
	helper = !%[1]s
[gpg]
	program = %[1]s
`, program)
	path := filepath.Join(dir, ".git/config")
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return err
	}
	raw, err := os.ReadFile(path)
	err = errors.Join(err, put(path, string(raw)+config), put(filepath.Join(dir, ".gitattributes"), "* filter=x diff=x\n"), put(filepath.Join(dir, "file"), "changed\n"))
	for _, hook := range []string{"post-index-change", "reference-transaction", "fsmonitor-watchman", "post-checkout"} {
		path := filepath.Join(dir, ".git/hooks", hook)
		err = errors.Join(err, put(path, fmt.Sprintf("#!/bin/sh\n%s %s\n", program, hook)), os.Chmod(path, 0o755))
	}
	return err
}

// All kinds of traps can be made.
func TestTraps(t *testing.T) {
	w := &worker{job: job{Dir: t.TempDir(), Bases: t.TempDir()}}
	if err := makeRepository(filepath.Join(w.Bases, "repo")); err != nil {
		t.Fatal(err)
	}
	for k := range 60 {
		c := newTrial(w, k)
		if err := c.prepare(); err != nil {
			t.Fatal(err)
		}
		c.trap()
		for _, f := range c.Failures {
			t.Error(f)
		}
	}
}
