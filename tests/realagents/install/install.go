// Package install brings real agents from npm into a folder of the user's cache, at pinned versions.
//
// A release is installed into a temporary folder and renamed when it is finished, under a lock: what is there is
// whole, it is made once, and test runs at the same time share it.
package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrMissing: the release is not installed.
var ErrMissing = errors.New("not installed")

// Root is the folder of all installations: $AGENTCTL_TEST_AGENTS, else agentctl-test/agents in the user's cache.
func Root() (string, error) {
	if dir := os.Getenv("AGENTCTL_TEST_AGENTS"); dir != "" {
		return filepath.Abs(dir)
	}
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "agentctl-test", "agents"), err
}

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
	if _, err := Find(r); err == nil {
		return nil
	}
	root, err := Root()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	unlock, err := lock(filepath.Join(root, "."+r.String()+".lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := Find(r); err == nil {
		return nil // made while we waited
	}
	return build(ctx, r, root)
}

// build makes one installation; the caller holds its lock.
func build(ctx context.Context, r Release, root string) error {
	tmp, err := os.MkdirTemp(root, ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := npm(ctx, r, tmp); err != nil {
		return fmt.Errorf("installing %s: %w", r, err)
	}
	if _, err := r.check(tmp); err != nil {
		return fmt.Errorf("npm has installed %s, but: %w", r, err)
	}
	final := filepath.Join(root, r.String())
	if err := os.RemoveAll(final); err != nil { // a torn one of a crashed machine
		return err
	}
	return os.Rename(tmp, final)
}

// npm fetches the packages without running their scripts; Claude Code's own, which only links its program
// into place, is run by hand.
func npm(ctx context.Context, r Release, dir string) error {
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private":true}`), 0o644); err != nil {
		return err
	}
	args := append([]string{"install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", "--prefix", dir}, r.packages()...)
	if err := run(ctx, dir, "npm", args...); err != nil {
		return err
	}
	script := filepath.Join(dir, "node_modules", "@anthropic-ai", "claude-code", "install.cjs")
	if r.Agent == ClaudeCode && exists(script) {
		return run(ctx, dir, "node", script)
	}
	return nil
}

func run(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}

// lock takes an exclusive lock, waiting for it; the kernel frees it if we die.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return func() { _ = f.Close() }, nil
}
