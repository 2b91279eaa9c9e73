package tests_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// The released binary is small, and on Linux needs nothing that is not in it.
func TestReleaseBinary(t *testing.T) {
	// It has 17.3 MB, of which SQLite takes 5.6, and what renders HTML 1.0.
	const limit = 18_000_000
	bin := filepath.Join(t.TempDir(), "agentctl")
	if out, err := exec.Command("./build", bin).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(bin)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", info.Size())
	if info.Size() > limit {
		t.Errorf("the binary has %d bytes, more than %d", info.Size(), limit)
	}
	if runtime.GOOS != "linux" {
		return // elsewhere the system's own library is always linked
	}
	f, err := elf.Open(bin)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the binary asks for a dynamic loader")
		}
	}
	if libs, err := f.ImportedLibraries(); err != nil || len(libs) > 0 {
		t.Errorf("the binary needs %q (%v)", libs, err)
	}
}
