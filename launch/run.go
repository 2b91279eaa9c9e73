package launch

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentctl/discover/native/fsread"
	"agentctl/proc"
)

// Run runs a short command of an agent to its end, with additional variables. The error has what the command printed.
func (h Environment) Run(ctx context.Context, variables []string, args ...string) error {
	return h.RunIn(ctx, "", variables, args...)
}

// RunIn is [Environment.Run] in a directory; "" is that of this process.
func (h Environment) RunIn(ctx context.Context, dir string, variables []string, args ...string) error {
	_, err := h.Output(ctx, dir, variables, args...)
	return err
}

// Output is [Environment.RunIn] and returns what the command printed, on stdout and stderr.
func (h Environment) Output(ctx context.Context, dir string, variables []string, args ...string) (string, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = slices.Concat(h.Environ, variables)
	if cmd.Dir = dir; dir != "" {
		cmd.Env = append(cmd.Env, "PWD="+dir) // some believe it more than the kernel
	}
	out := fsread.LimitedBuffer{Limit: 64 << 10}
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second
	if err := proc.RunJob(ctx, cmd, true, runGrace); err != nil {
		words := append([]string{filepath.Base(args[0])}, args[1:]...)
		return string(out.Bytes()), fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, bytes.TrimSpace(out.Bytes()))
	}
	return string(out.Bytes()), nil
}
