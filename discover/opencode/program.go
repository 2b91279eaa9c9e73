package opencode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
	"agentctl/launch"
)

// Program implements [discover.ProgramNamer].
func (Adapter) Program() string { return "opencode" }

// installation is the binary to start.
type installation struct {
	path    string
	version native.Version // zero if its place does not show it
}

// findInstallation finds the agent's own binary. The program in npm's package opencode-ai may be another one: up to 1.15.0, a launcher that
// runs the binary, .opencode beside it, as a child process; later, a placeholder that the package's install script replaces.
func findInstallation(host launch.Environment) (installation, error) {
	name := Adapter{}.Program()
	path, err := host.LookPath(name)
	if err != nil {
		return installation{}, &launch.NotInstalledError{Agent: agentName, Program: name}
	}
	real := discover.RealPath(path)
	if isNPM(real) && !isBinary(real) {
		if filepath.Ext(real) != "" {
			return installation{}, &launch.NotInstalledError{Agent: agentName, Program: name, Err: fmt.Errorf(
				"%s stands in for the program: run `node postinstall.mjs` in %s", real, filepath.Dir(filepath.Dir(real)),
			)}
		}
		if binary := filepath.Join(filepath.Dir(real), ".opencode"); isBinary(binary) {
			path, real = binary, binary
		}
	}
	p := installation{path, versionOf(real)}
	if why := belowFloor(p.version); why != "" {
		return p, unsupported(why)
	}
	return p, nil
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
