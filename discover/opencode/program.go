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
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
	"agentctl/discover/opencode/transcript"
	"agentctl/launch"
)

// Program implements [discover.Program]: the name the agent is installed under.
func (Adapter) Program() string { return "opencode" }

// binKey names the variable by which npm's launcher of versions before 1.15 is told which binary to run.
const binKey = "OPENCODE_BIN_PATH"

// installation is the agent as it is installed.
type installation struct {
	path    string
	version native.Version // zero where the installation does not tell
}

// findInstallation looks up the agent's own binary. In npm's package opencode-ai the program may be a launcher that runs the
// binary in a process of its own (before 1.15), or stand in for one that the package's installation script would put in
// its place; then the binary of the platform's package is taken, as the launcher would.
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
	for _, candidate := range nativeBinaries(filepath.Dir(real)) {
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

// isNPM reports whether the program is that of npm's package: opencode-ai/bin/opencode, or since 1.15 opencode.exe on
// all systems.
func isNPM(path string) bool {
	return strings.HasSuffix(filepath.Dir(path), filepath.Join("opencode-ai", "bin"))
}

// isBinary tells the agent's binary, of some hundred megabytes, from scripts.
func isBinary(path string) bool {
	const smallest = 1 << 20
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() >= smallest
}

// nativeBinaries are the places of the platform's package, the likeliest first: node_modules/opencode-linux-x64 and its
// variants for older processors and for musl, in the folder or in one above it (READ 1.1.65).
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

// isMusl reports whether programs here are linked with musl.
func isMusl() bool {
	_, err := os.Stat("/etc/alpine-release")
	return err == nil
}

// versionText is the version for messages.
func (p installation) versionText() string {
	if !p.version.Known() {
		return "unknown"
	}
	return p.version.String()
}

// versionOf reads the manifest of the npm package that a binary is in; zero if it is in none.
func versionOf(path string) native.Version {
	data, err := fsread.ReadFileNoFollow(filepath.Join(filepath.Dir(filepath.Dir(path)), "package.json"), 1<<20)
	if err != nil || !strings.HasPrefix(jsonl.Object(data).Get("name").Text(transcript.NameLimit), "opencode-") {
		return native.Version{}
	}
	return native.ParseVersion(jsonl.Object(data).Get("version").Text(transcript.NameLimit))
}
