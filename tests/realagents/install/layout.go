package install

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Installation is a finished installation of a release.
type Installation struct {
	Release
	// Native is what to execute to get the agent itself, without a launcher between.
	Native string
	// Shim is the launcher that npm users run; it ends up in a process of its own. It is empty where npm's
	// command is the agent itself.
	Shim []string
}

// platform is npm's name of this machine: linux-x64, darwin-arm64.
func platform() string {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	return runtime.GOOS + "-" + arch
}

// pkg is the npm package of a release, with its version.
func (r Release) pkg() string {
	names := map[string]string{ClaudeCode: "@anthropic-ai/claude-code", Codex: "@openai/codex", codexACP: "@zed-industries/codex-acp", OpenCode: "opencode-ai"}
	return names[r.Agent] + "@" + r.Version
}

// at describes the installation of r below dir, whether it is finished or not.
func (r Release) at(dir string) (i Installation, manifest string) {
	modules := filepath.Join(dir, "node_modules")
	i.Release = r
	switch r.Agent {
	case ClaudeCode:
		pkg := filepath.Join(modules, "@anthropic-ai", "claude-code")
		manifest, i.Native = filepath.Join(pkg, "package.json"), filepath.Join(modules, ".bin", "claude")
		if wrapper := filepath.Join(pkg, "cli-wrapper.cjs"); exists(wrapper) {
			i.Shim = []string{"node", wrapper}
		}
	case Codex:
		manifest = filepath.Join(modules, "@openai", "codex", "package.json")
		// "codex/codex" in the older ones, "bin/codex" in the newer
		found, _ := filepath.Glob(filepath.Join(modules, "@openai", "codex-"+platform(), "vendor", "*", "*", "codex"))
		i.Native = append(found, "missing")[0]
		i.Shim = []string{filepath.Join(modules, ".bin", "codex")}
	case codexACP:
		manifest = filepath.Join(modules, "@zed-industries", "codex-acp", "package.json")
		i.Native = filepath.Join(modules, "@zed-industries", "codex-acp-"+platform(), "bin", "codex-acp")
	default:
		pkg := filepath.Join(modules, "opencode-ai")
		manifest = filepath.Join(pkg, "package.json")
		i.Native = filepath.Join(modules, ".bin", "opencode") // since 1.15.3, npm's script puts the agent itself there
		if exists(filepath.Join(pkg, "bin", "opencode")) {    // up to 1.15.0, a launcher of what the script has put beside it
			i.Shim = []string{i.Native}
			i.Native = filepath.Join(pkg, "bin", ".opencode")
		}
	}
	return i, manifest
}

// smallest is less than any agent's program and more than any placeholder that stands in for a missing one.
const smallest = 1 << 20

// check reports why the installation below dir is not the finished one of r.
func (r Release) check(dir string) (Installation, error) {
	i, manifest := r.at(dir)
	raw, err := os.ReadFile(manifest)
	if err != nil {
		return i, err
	}
	var m struct{ Version string }
	if err := json.Unmarshal(raw, &m); err != nil {
		return i, fmt.Errorf("%s: %w", manifest, err)
	}
	if m.Version != r.Version {
		return i, fmt.Errorf("%s: version %q, want %s", manifest, m.Version, r.Version)
	}
	info, err := os.Stat(i.Native)
	switch {
	case err != nil:
		return i, err
	case info.Size() < smallest || info.Mode().Perm()&0o111 == 0:
		return i, fmt.Errorf("%s is no program", i.Native)
	}
	return i, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
