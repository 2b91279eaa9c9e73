package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"time"
)

// waitLimit is the most of one processor that waiting for all players may take, in percent.
const waitLimit = 1.0

// measureWait has agentctl wait for live sessions that write all the time, for so long, and tells what share of a
// processor that takes.
func measureWait(w io.Writer, b binaries, work string, span time.Duration) error {
	home := filepath.Join(work, "home")
	live, err := startPlayers(work, home, false, "claude", "codex")
	if err != nil {
		return err
	}
	j := job{argv: append([]string{b.agentctl, "wait", "--timeout", span.String()}, live.ids...), home: home}
	cmd := j.command()
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(began)
	if err := live.stop(); err != nil {
		return err
	}
	const timedOut = 124
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != timedOut {
		return fmt.Errorf("agentctl wait: %w\n%s", err, out)
	}
	used := exit.UserTime() + exit.SystemTime()
	share := bar{
		what: fmt.Sprintf("wait for %d sessions that write all the time, %s: %% of a processor", players, span), known: true,
		measured: 100 * used.Seconds() / took.Seconds(), limit: waitLimit,
	}
	if printBars(w, []bar{share}) > 0 {
		return errors.New("waiting takes too much")
	}
	return nil
}
