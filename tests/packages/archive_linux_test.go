package packages

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"agentctl/tests/extent"
)

// archives checks the archive of each target. With all targets there are those that the release names.
func archives(t *testing.T, r release) {
	var targets []string
	for _, name := range r.files {
		if target, ok := strings.CutSuffix(name, ".tar.gz"); ok {
			target = regexp.MustCompile(`[a-z]+_[a-z0-9]+$`).FindString(target)
			targets = append(targets, target)
			t.Run(target, func(t *testing.T) { programOf(t, target, unpack(t, filepath.Join(r.dir, name))) })
		}
	}
	want := []string{"linux_" + runtime.GOARCH}
	if extent.All() {
		want = []string{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64"}
	}
	if slices.Sort(targets); !slices.Equal(targets, want) {
		t.Errorf("archives for %q, want %q", targets, want)
	}
}

// unpack returns the program of an archive. The archive has it, the texts, the pages of the manual and the completion of each shell, below
// one folder.
func unpack(t *testing.T, file string) (program []byte) {
	f, err := os.Open(file)
	check(t, err)
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	check(t, err)
	want := map[string]int64{
		"agentctl": 0o755, "LICENSE": 0o644, "README.md": 0o644, "CHANGELOG.md": 0o644, "completions/_agentctl": 0o644,
		"completions/agentctl.bash": 0o644, "completions/agentctl.fish": 0o644, "completions/agentctl.ps1": 0o644,
	}
	for _, name := range pages(t) {
		want["man/man1/"+name+".gz"] = 0o644
	}
	root := strings.TrimSuffix(filepath.Base(file), ".tar.gz")
	for entries := tar.NewReader(unpacked); ; {
		h, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		check(t, err)
		name, _ := strings.CutPrefix(h.Name, root+"/")
		if mode, ok := want[name]; !ok || mode != h.Mode&0o7777 || h.Uid != 0 || h.Gid != 0 || h.Size == 0 {
			t.Errorf("%s: mode %o, user %d, group %d, %d bytes; wanted is mode %o (%t)", h.Name, h.Mode, h.Uid, h.Gid, h.Size, mode, ok)
		}
		delete(want, name)
		if name == "agentctl" {
			program, err = io.ReadAll(entries)
			check(t, err)
		}
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	return program
}

// programOf checks that a program is for a target, and runs it if this machine can.
func programOf(t *testing.T, target string, program []byte) {
	if system, _, _ := strings.Cut(target, "_"); system == "darwin" {
		check(t, machO(program, target))
		return
	}
	f, err := elf.NewFile(bytes.NewReader(program))
	check(t, err)
	want := map[string]elf.Machine{"linux_amd64": elf.EM_X86_64, "linux_arm64": elf.EM_AARCH64}[target]
	dynamic := slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC })
	if f.Class != elf.ELFCLASS64 || f.Machine != want || f.Type != elf.ET_EXEC || dynamic {
		t.Errorf("%s %s %s, dynamic: %t; want a static program for %s", f.Class, f.Machine, f.Type, dynamic, want)
	}
	path := filepath.Join(t.TempDir(), "agentctl")
	check(t, os.WriteFile(path, program, 0o755))
	if target == "linux_"+runtime.GOARCH {
		if out := run(t, exec.Command(path, "version")); !strings.HasPrefix(out, "agentctl v0.0.0-SNAPSHOT-") {
			t.Errorf("version prints %q", out)
		}
	}
}

// machO fails unless a program is one for macOS on the target's processor, needs only the system's own libraries, and is signed: on ARM,
// macOS runs no other one.
func machO(program []byte, target string) error {
	f, err := macho.NewFile(bytes.NewReader(program))
	if err != nil {
		return err
	}
	want := map[string]macho.Cpu{"darwin_amd64": macho.CpuAmd64, "darwin_arm64": macho.CpuArm64}[target]
	if f.Type != macho.TypeExec || f.Cpu != want {
		return fmt.Errorf("%s for %s, want a program for %s", f.Type, f.Cpu, want)
	}
	libraries, err := f.ImportedLibraries()
	if err != nil {
		return err
	}
	for _, l := range libraries {
		if !strings.HasPrefix(l, "/usr/lib/") && !strings.HasPrefix(l, "/System/Library/") {
			return fmt.Errorf("it needs the library %s", l)
		}
	}
	const codeSignature = 0x1d
	signed := slices.ContainsFunc(f.Loads, func(l macho.Load) bool { return f.ByteOrder.Uint32(l.Raw()) == codeSignature })
	if want == macho.CpuArm64 && !signed {
		return errors.New("it has no signature")
	}
	return nil
}
