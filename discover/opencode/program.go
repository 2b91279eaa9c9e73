package opencode

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/cpu"

	"agentctl/discover"
	"agentctl/discover/native"
	"agentctl/launch"
)

// Program implements [discover.ProgramNamer].
func (Adapter) Program() string { return "opencode" }

// binKey is the variable that tells npm's launcher, in versions up to 1.15.0, which binary to run.
const binKey = "OPENCODE_BIN_PATH"

// installation is the binary to start.
type installation struct {
	path    string
	version native.Version // zero if its place does not show it
}

// findInstallation finds the agent's own binary. The program in npm's package opencode-ai may be another one: up to 1.15.0, a launcher that
// runs the binary as a child process; later, a placeholder that the package's install script replaces. Then findInstallation searches where
// the launcher does: for what the install script has put beside it, and for the binary of the platform's package.
func findInstallation(host launch.Environment) (installation, error) {
	name := Adapter{}.Program()
	path, err := host.LookPath(name)
	if err != nil {
		return installation{}, &launch.NotInstalledError{Agent: agentName, Program: name}
	}
	real := discover.RealPath(path)
	if !isNPM(real) || isBinary(real) {
		return installation{path, versionOf(real)}, nil
	}
	if set := host.Getenv(binKey); set != "" && filepath.Ext(real) == "" {
		return installation{set, versionOf(set)}, nil
	}
	candidates := append([]string{filepath.Join(filepath.Dir(real), ".opencode")}, nativeBinaries(filepath.Dir(real))...)
	for _, candidate := range candidates {
		if isBinary(candidate) {
			return installation{candidate, versionOf(candidate)}, nil
		}
	}
	if filepath.Ext(real) != "" {
		return installation{}, &launch.NotInstalledError{Agent: agentName, Program: name, Err: fmt.Errorf(
			"%s stands in for the program: run `node postinstall.mjs` in %s", real, filepath.Dir(filepath.Dir(real)),
		)}
	}
	return installation{path, versionOf(real)}, nil
}

// isNPM reports whether the program is in npm's package: opencode-ai/bin/opencode, or since 1.15 opencode.exe on all systems.
func isNPM(path string) bool {
	return strings.HasSuffix(filepath.Dir(path), filepath.Join("opencode-ai", "bin"))
}

// isBinary reports whether a file is large enough to be the agent's binary, which has more than a hundred megabytes, and no script.
func isBinary(path string) bool {
	const smallest = 1 << 20
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() >= smallest
}

// nativeBinaries returns where the binary of the platform's package may be, the likeliest place first. The packages are
// node_modules/opencode-linux-x64 and its variants for older processors and for musl, in the folder or in one above it (READ 1.1.65).
func nativeBinaries(dir string) []string {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	base := "opencode-" + runtime.GOOS + "-" + arch
	names := []string{base, base + "-baseline"}
	if runtime.GOARCH == "amd64" && !cpu.X86.HasAVX2 {
		slices.Reverse(names)
	}
	if musl := []string{names[0] + "-musl", names[1] + "-musl"}; isMusl() {
		names = append(musl, names...)
	} else {
		names = append(names, musl...)
	}
	var out []string
	for {
		for _, name := range names {
			out = append(out, filepath.Join(dir, "node_modules", name, "bin", "opencode"))
		}
		up := filepath.Dir(dir)
		if up == dir {
			return out
		}
		dir = up
	}
}

// isMusl reports whether this system uses musl.
func isMusl() bool {
	_, err := os.Stat("/etc/alpine-release")
	return err == nil
}
