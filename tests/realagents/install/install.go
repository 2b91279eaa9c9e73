// Package install brings real agents from npm into a folder of the user's cache, at pinned versions.
package install

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"agentctl/tests/cache"
)

// ErrMissing: the release is not installed.
var ErrMissing = errors.New("not installed")

// Root is the folder of all installations: $AGENTCTL_TEST_AGENTS, else agentctl-test/agents-with-scripts in the user's cache.
func Root() (string, error) { return cache.Root("AGENTCTL_TEST_AGENTS", "agents-with-scripts") }

// Find returns a finished installation, or an error that wraps [ErrMissing]. It uses no network.
func Find(r Release) (Installation, error) {
	root, err := Root()
	if err != nil {
		return Installation{}, err
	}
	i, err := r.check(filepath.Join(root, r.String()))
	if err != nil {
		return Installation{}, fmt.Errorf("%w: %s (%w); npm and the network are needed once, or a folder with the agents in $AGENTCTL_TEST_AGENTS", ErrMissing, r, err)
	}
	return i, nil
}

// Ensure installs r unless it is there. It needs npm, and the network for what npm does not have in its cache.
func Ensure(ctx context.Context, r Release) error {
	root, err := Root()
	if err != nil {
		return err
	}
	check := func(dir string) error {
		_, err := r.check(dir)
		return err
	}
	return cache.Make(root, r.String(), check, func(dir string) error { return npm(ctx, r, dir) })
}

// npm installs the package as users do: its scripts decide where the agent's program is.
func npm(ctx context.Context, r Release, dir string) error {
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private":true}`), 0o644); err != nil {
		return err
	}
	return run(ctx, dir, "npm", append([]string{"install", "--ignore-scripts=false", "--no-audit", "--no-fund", "--save-exact", "--prefix", dir}, r.packages()...)...)
}

func run(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}

// Installation is a finished installation of a release.
type Installation struct {
	Release
	// Native is what to execute to get the agent itself, without a launcher between.
	Native string
	// Shim is the launcher that npm users run; it ends up in a process of its own. It is empty where npm's
	// command is the agent itself.
	Shim []string
	// Runtime is the program that Native, a script, is run by; "" if Native is a program. Its folder comes first in the PATH.
	Runtime string
}

// platform is npm's name of this machine: linux-x64, darwin-arm64.
func platform() string {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	return runtime.GOOS + "-" + arch
}

// packages are the npm packages of a release, with their versions.
func (r Release) packages() []string {
	names := map[string]string{
		ClaudeCode: "@anthropic-ai/claude-code", Codex: "@openai/codex", codexACP: "@zed-industries/codex-acp", OpenCode: "opencode-ai", Pi: piPackage,
		Copilot: "@github/copilot",
	}
	list := []string{names[r.Agent] + "@" + r.Version}
	if r.Agent == Pi {
		list = append(list, nodePackage()+"@"+nodeVersion)
	}
	return list
}

const piPackage = "@earendil-works/pi-coding-agent"

// nodePackage is the npm package of node itself.
func nodePackage() string { return "node-" + platform() }

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
	case Copilot:
		manifest = filepath.Join(modules, "@github", "copilot", "package.json")
		i.Native = filepath.Join(modules, "@github", "copilot-"+platform(), "copilot")
		i.Shim = []string{filepath.Join(modules, ".bin", "copilot")}
	case Pi:
		manifest, i.Native = filepath.Join(modules, filepath.FromSlash(piPackage), "package.json"), filepath.Join(modules, ".bin", "pi")
		i.Runtime = filepath.Join(modules, nodePackage(), "bin", "node")
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
	program := cmp.Or(i.Runtime, i.Native)
	info, err := os.Stat(program)
	switch {
	case err != nil:
		return i, err
	case info.Size() < smallest || info.Mode().Perm()&0o111 == 0:
		return i, fmt.Errorf("%s is no program", program)
	}
	return i, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
