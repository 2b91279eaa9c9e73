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
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = slices.Concat(h.Environ, variables)
	out := fsread.LimitedBuffer{Limit: 64 << 10}
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second
	if err := proc.RunJob(ctx, cmd, true, runGrace); err != nil {
		words := append([]string{filepath.Base(args[0])}, args[1:]...)
		return fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, bytes.TrimSpace(out.Bytes()))
	}
	return nil
}
