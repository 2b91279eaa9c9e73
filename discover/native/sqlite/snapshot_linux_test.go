package sqlite

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestSnapshotOnExt4InWholeSeconds is TestSnapshotInWholeSeconds on ext4 with inodes of 128 bytes. Only root may mount
// it.
func TestSnapshotOnExt4InWholeSeconds(t *testing.T) {
	dir := mountWholeSeconds(t)
	path := filepath.Join(dir, "x.db")
	changesUnseen(t, path, 20, func() {})
	stop := startWriter(t, "checkpoint", filepath.Join(dir, "busy.db"))
	for range 100 {
		if _, err := count(t, filepath.Join(dir, "busy.db")); err != nil { // fails the test if it is not of one moment
			t.Error(err)
			break
		}
	}
	if err := stop(); err != nil {
		t.Errorf("the writer: %v", err)
	}
}

// mountWholeSeconds makes and mounts such a file system.
func mountWholeSeconds(t *testing.T) (dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("under CI=true this test must run as root: it mounts a file system that counts whole seconds")
		}
		t.Skip("only root may mount a file system that counts whole seconds")
	}
	image, dir := filepath.Join(t.TempDir(), "image"), filepath.Join(t.TempDir(), "mounted")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 32<<20); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mkfs.ext4", "-q", "-F", "-I", "128", image).CombinedOutput(); err != nil {
		t.Skipf("no file system that counts whole seconds can be made: %v %s", err, out)
	}
	if out, err := exec.Command("mount", "-o", "loop", image, dir).CombinedOutput(); err != nil {
		t.Skipf("a file system cannot be mounted here: %v %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v %s", err, out)
		}
	})
	return dir
}
