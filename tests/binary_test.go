package tests_test

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// On Linux the released binary needs nothing that is not in it.
func TestReleaseBinary(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // elsewhere the system's own library is always linked
	}
	bin := filepath.Join(t.TempDir(), "agentctl")
	if out, err := exec.Command("./build", bin).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
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
