package sshd_test

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"agentctl/tests/sshd"
)

// A command runs on a machine as its user, in its home, and sees no process of another machine.
func TestRun(t *testing.T) {
	sshd.Need(t)
	dir := t.TempDir()
	w, err := sshd.New(t.Context(), dir, sshd.Host{Name: "ana", UID: 2001, Home: filepath.Join(dir, "ana")}, sshd.Host{Name: "bob", UID: 2002, Home: filepath.Join(dir, "bob")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	sleeper := slices.Concat(w.Enter("bob"), []string{"sh", "-c", "echo begun; exec sleep 600"})
	cmd := exec.Command(sleeper[0], sleeper[1:]...)
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "begun\n" {
		t.Fatal(line, err)
	}
	for name, want := range map[string]string{"ana": "ana 2001 " + filepath.Join(dir, "ana") + " 0\n", "bob": "bob 2002 " + filepath.Join(dir, "bob") + " 1\n"} {
		ssh := exec.Command(filepath.Join(w.Bin, "ssh"), "-o", "BatchMode=yes", name, "echo $(id -un) $(id -u) $(pwd) $(cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'slee[p] 600')")
		if out, err := ssh.Output(); err != nil || string(out) != want {
			t.Errorf("%v\n%s\n%s", err, out, w.Log())
		}
		if w.Connection(name) == 0 {
			t.Error("the connection is not known")
		}
	}
	w.Close()
	_ = cmd.Wait()
	if cmd.ProcessState.Success() {
		t.Error("a process outlives its machine")
	}
}
