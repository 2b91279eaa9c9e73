package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"agentctl/tests/store/generate"
)

// measureWatch has agentctl print events for so long, beside a large store and live sessions that write nothing, and
// then beside others that write all the time. It tells what share of a processor each takes.
func measureWatch(w io.Writer, b binaries, work, cache string, sessions int, span time.Duration) error {
	made := generate.Defaults()
	made.Sessions = sessions
	home, _, err := generate.Cached(cache, made)
	if err != nil {
		return err
	}
	var list []bar
	for _, quiet := range []bool{true, false} {
		what := "write all the time"
		if quiet {
			what = "write nothing"
		}
		live, err := startPlayers(work, filepath.Join(work, fmt.Sprintf("live-%t", quiet)), quiet, "claude", "codex")
		if err != nil {
			return err
		}
		share, err := b.watch(home, span)
		if err = errors.Join(err, live.stop()); err != nil {
			return err
		}
		list = append(list, bar{
			what:  fmt.Sprintf("events, %s, %d stored, %d live that %s: %% of a processor", span, sessions, players, what),
			known: true, measured: share, limit: waitLimit, goal: !quiet,
		})
	}
	if printBars(w, list) > 0 {
		return errors.New("watching takes too much")
	}
	return nil
}

// watch runs events for so long and returns what share of a processor it took, in percent.
func (b binaries) watch(home string, span time.Duration) (float64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), span)
	defer cancel()
	j := job{argv: []string{b.agentctl, "events"}, home: home}
	cmd := exec.CommandContext(ctx, j.argv[0], j.argv[1:]...)
	cmd.Env = slices.Clone(j.command().Env)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(began)
	const interrupted = 130
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != interrupted {
		return 0, fmt.Errorf("agentctl events: %w\n%s", err, out)
	}
	return 100 * (exit.UserTime() + exit.SystemTime()).Seconds() / took.Seconds(), nil
}
