// Package install brings real agents from npm into a folder of the user's cache, at pinned versions.
package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

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
	return run(ctx, dir, "npm", "install", "--ignore-scripts=false", "--no-audit", "--no-fund", "--save-exact", "--prefix", dir, r.pkg())
}

func run(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}
