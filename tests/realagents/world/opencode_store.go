package world

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"agentctl/tests/cache"
	"agentctl/tests/realagents/install"
)

// storeMade is the file that says that a release has made what it stores before its first session.
const storeMade = "made"

// giveOpenCodeStore gives the home the empty database that this release itself has made, unless OpenCode has stored something there. It
// cannot make a database twice at once, and takes seconds of a processor to do so: each release does it once, in the cache.
func (w *World) giveOpenCodeStore(i install.Installation) error {
	root, err := cache.Root("AGENTCTL_TEST_OPENCODE", "opencode")
	if err != nil {
		return err
	}
	name := i.Release.String()
	check := func(dir string) error {
		_, err := os.Stat(filepath.Join(dir, storeMade))
		return err
	}
	if err := cache.Make(root, name, check, func(dir string) error { return w.makeOpenCodeStore(i, dir) }); err != nil {
		return err
	}
	from, to := openCodeHome(filepath.Join(root, name)), w.OpenCodeHome()
	if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.CopyFS(to, os.DirFS(from))
}

// makeOpenCodeStore has a release store what it does before its first session. Neither its log nor what the processes with an open database
// share belongs to that.
func (w *World) makeOpenCodeStore(i install.Installation, home string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, i.Native, "session", "list")
	cmd.Dir, cmd.Env = home, append(w.env(home), "HOME="+home)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	folder := openCodeHome(home)
	return errors.Join(
		os.RemoveAll(filepath.Join(folder, "log")), os.RemoveAll(filepath.Join(folder, "opencode.db-shm")),
		os.WriteFile(filepath.Join(home, storeMade), nil, 0o644),
	)
}

// OpenCodeHome is where OpenCode stores everything.
func (w *World) OpenCodeHome() string { return openCodeHome(w.Home) }

func openCodeHome(home string) string { return filepath.Join(home, ".local", "share", "opencode") }
