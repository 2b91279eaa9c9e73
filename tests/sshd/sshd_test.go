package sshd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/tests/sshd"
)

// passable returns a directory that all users may enter.
func passable(t testing.TB) string {
	dir := t.TempDir()
	for d := dir; d != "/" && d != os.TempDir(); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A command runs on a machine as its user, in its home.
func TestRun(t *testing.T) {
	dir, uid := passable(t), os.Getuid()
	if uid == 0 {
		uid = 2001
	}
	w, err := sshd.New(t.Context(), dir, sshd.Host{Name: "ana", UID: uid, Home: filepath.Join(dir, "ana")})
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(w.Bin, "ssh"), "-o", "BatchMode=yes", "ana", "id -u; pwd").CombinedOutput()
	if err != nil || !strings.Contains(string(out), filepath.Join(dir, "ana")) {
		t.Fatalf("%v\n%s\n%s", err, out, w.Log())
	}
	if w.Connection("ana") == 0 {
		t.Error("the connection is not known")
	}
}
