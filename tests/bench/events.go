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
)

// eventsSpan is how long events runs; eventsLimit is the share of a processor that it may take while nothing happens, in
// percent.
const (
	eventsSpan  = 40 * time.Second
	eventsLimit = 1.0
)

// measureEvents runs `agentctl events` beside a store and live sessions that write nothing, and returns the bar of its
// share of a processor.
func measureEvents(w io.Writer, b binaries, work, home string, stored int) ([]bar, error) {
	live, err := startPlayers(work, filepath.Join(work, "events"), true, "claude", "codex")
	if err != nil {
		return nil, err
	}
	share, err := b.events(home, eventsSpan)
	if err = errors.Join(err, live.stop()); err != nil {
		return nil, err
	}
	what := fmt.Sprintf("`events`, idle, %d live, %d stored: %% of a processor", players, stored)
	fmt.Fprintf(w, "events: %.2f %% of a processor in %s\n", share, eventsSpan)
	return []bar{{what: what, measured: share, limit: eventsLimit, known: true}}, nil
}

// events runs events for so long and returns what share of a processor it took, in percent.
func (b binaries) events(home string, span time.Duration) (float64, error) {
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
