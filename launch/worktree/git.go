package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"agentctl/discover/storage"
	"agentctl/proc"
)

// gitError is a git command that failed.
type gitError struct {
	command string
	message string // git's
	err     error
}

func (e *gitError) Error() string { return fmt.Sprintf("git %s: %s", e.command, e.message) }

func (e *gitError) Unwrap() error { return e.err }

// readTimeout is how long git may take to read its own files, which takes milliseconds. If one of them is a FIFO, or a file
// system does not answer, git never ends.
const readTimeout = 20 * time.Second

// readsOwnFiles reports whether a git command reads only git's own files, so that its time does not depend on the worktree.
func readsOwnFiles(args []string) bool {
	switch args[0] {
	case "rev-parse", "for-each-ref", "check-ref-format", "config":
		return true
	case "worktree":
		return args[1] == "list"
	}
	return false
}

// git runs git in a directory and returns what it prints. If ctx ends, git is asked to end, and undoes what it has begun.
func (r *Repo) git(ctx context.Context, dir string, args ...string) (string, error) {
	if !readsOwnFiles(args) {
		return r.run(ctx, dir, args)
	}
	limited, cancel := context.WithTimeout(ctx, cmp.Or(r.timeout, readTimeout))
	defer cancel()
	out, err := r.run(limited, dir, args)
	if limited.Err() != nil && ctx.Err() == nil {
		return "", &gitError{args[0], "no answer in time: one of git's files is no regular file, or its file system does not answer", err}
	}
	return out, err
}

// run runs git as [Repo.git] does, without a timeout.
func (r *Repo) run(ctx context.Context, dir string, args []string) (string, error) {
	argv := slices.Concat([]string{"-C", dir, "--no-optional-locks"}, r.options, args)
	cmd := exec.Command(r.program, argv...)
	cmd.Env = r.environ
	stdout, stderr := storage.LimitedBuffer{Limit: outputLimit}, storage.LimitedBuffer{Limit: outputLimit}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second // for what a hook leaves running
	err := proc.RunJob(ctx, cmd, true, cleanupTimeout)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return "", &gitError{args[0], errorMessage(string(stderr.Bytes()), err), err}
	}
	out, err := stdout.Whole()
	return string(out), err
}

// cleanupTimeout is how long git may take to undo what it has begun, before it is killed with its children.
const cleanupTimeout = 10 * time.Second

// outputLimit bounds the output of git, in bytes. The names of a million files are shorter.
const outputLimit = 64 << 20

// Output runs a git command in the directory that [Open] was given, and returns what it prints. Errors are those of git.
func (r *Repo) Output(ctx context.Context, args ...string) (string, error) {
	return r.git(ctx, r.dir, args...)
}

// errorMessage returns the errors that git printed; without one, all that it printed, or else how it ended.
func errorMessage(words string, failed error) string {
	var out []string
	for line := range strings.Lines(words) {
		for _, kind := range []string{"fatal: ", "error: "} {
			if said, ok := strings.CutPrefix(line, kind); ok {
				out = append(out, strings.TrimSpace(said))
			}
		}
	}
	switch {
	case len(out) > 0:
		return strings.Join(out, "; ")
	case strings.TrimSpace(words) != "":
		return strings.TrimSpace(words)
	}
	return failed.Error()
}

// test runs a git command whose exit status is the answer: 0 is yes, 1 is no.
func (r *Repo) test(ctx context.Context, dir string, args ...string) (bool, error) {
	_, err := r.git(ctx, dir, args...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return false, nil
	}
	return err == nil, err
}

// gitEnviron returns the environment for git. Of git's variables it has only the user's settings: inside of a hook, the others
// name the repository and index that the enclosing git works on. Git never asks for a password.
func gitEnviron(all []string) []string {
	settings := []string{
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH",
		"GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM",
	}
	kept := slices.DeleteFunc(slices.Clone(all), func(variable string) bool {
		key, _, _ := strings.Cut(variable, "=")
		return strings.HasPrefix(key, "GIT_") && !slices.Contains(settings, key)
	})
	return append(kept, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0")
}
