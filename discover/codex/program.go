package codex

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"agentctl/discover/native"
	"agentctl/launch"
)

// Program implements [discover.ProgramNamer].
func (Adapter) Program() string { return "codex" }

// installation is the agent as it is installed: its own binary where that is found.
type installation struct {
	path string
	env  []string
	// version is "" if the place of the binary does not show it.
	version string
}

// olderThan reports whether the program is known to be older than v.
func (i installation) olderThan(v native.Version) bool {
	return native.ParseVersion(i.version).Before(v)
}

// findInstallation finds codex in PATH. npm installs a script there. It runs the binary of another package, as a child process in older
// versions and where node is older than 22.15. findInstallation skips the script, so that the process that is started runs the session from
// its first moment on. In a layout that it does not know, it uses what is in PATH.
func findInstallation(host launch.Environment) (installation, error) {
	path, err := host.LookPath(Adapter{}.Program())
	if err != nil {
		return installation{}, &launch.NotInstalledError{Agent: agentName, Program: Adapter{}.Program()}
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return installation{}, &launch.NotInstalledError{Agent: agentName, Program: Adapter{}.Program(), Err: err}
	}
	p, ok := npmInstallation(real, host)
	if !ok {
		p = installation{path: path, version: binaryVersion(real)}
	}
	if why := belowFloor(p.version); why != "" {
		return p, unsupported(why)
	}
	return p, nil
}

// targetTriple is the platform as the binary's directories name it.
func targetTriple() string {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	system := map[string]string{"linux": "unknown-linux-musl", "darwin": "apple-darwin"}[runtime.GOOS]
	if arch == "" || system == "" {
		return ""
	}
	return arch + "-" + system
}

// npmInstallation finds the binary as @openai/codex/bin/codex.js does, and sets the same variables (SEEN 0.104, 0.169).
func npmInstallation(script string, host launch.Environment) (installation, bool) {
	if filepath.Base(script) != "codex.js" || filepath.Base(filepath.Dir(script)) != "bin" || targetTriple() == "" {
		return installation{}, false
	}
	root := filepath.Dir(filepath.Dir(script))
	for _, vendor := range vendorDirs(root) {
		folder := filepath.Join(vendor, targetTriple())
		if path := filepath.Join(folder, "bin", "codex"); isExecutable(path) {
			return installation{path, []string{managedBy(root), "CODEX_MANAGED_PACKAGE_ROOT=" + root}, binaryVersion(path)}, true
		}
		if path := filepath.Join(folder, "codex", "codex"); isExecutable(path) {
			return installation{path, []string{managedBy(root), "PATH=" + prependPath(filepath.Join(folder, "path"), host)}, binaryVersion(path)}, true
		}
	}
	return installation{}, false
}

// vendorDirs are the directories that may contain the binary: those where node looks for the platform's package, then the package itself.
func vendorDirs(root string) []string {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	var list []string
	for dir := root; len(dir) > 1; dir = filepath.Dir(dir) {
		modules := dir
		if filepath.Base(dir) != "node_modules" {
			modules = filepath.Join(dir, "node_modules")
		}
		list = append(list, filepath.Join(modules, "@openai", "codex-"+runtime.GOOS+"-"+arch, "vendor"))
	}
	return append(list, filepath.Join(root, "vendor"))
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// managedBy names the package manager. Codex shows its command when there is an update.
func managedBy(root string) string {
	switch {
	case strings.Contains(root, "/.bun/install/global/"):
		return "CODEX_MANAGED_BY_BUN=1"
	case strings.Contains(root, "/.pnpm/"):
		return "CODEX_MANAGED_BY_PNPM=1"
	}
	return "CODEX_MANAGED_BY_NPM=1"
}

// prependPath is PATH with a directory in front, if the directory exists. Older versions have their own rg there.
func prependPath(folder string, host launch.Environment) string {
	path := host.Getenv("PATH")
	if _, err := os.Stat(folder); errors.Is(err, os.ErrNotExist) {
		return path
	}
	return folder + string(filepath.ListSeparator) + path
}
