package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/creack/pty"

	"agentctl/proc"
)

// topSpan is how long top is measured, from topBegin after its start; topLimit is the share of a processor that it may take while nothing happens, topManyLimit with
// topMany sessions that are at work, in percent.
const (
	topSpan      = 40 * time.Second
	topBegin     = 5 * time.Second
	topLimit     = 1.0
	topMany      = 100
	topManyLimit = 10.0
)

// measureTop runs `agentctl top` beside a store: with live sessions that write nothing, and with many that write once a second, or
// twenty times. It returns the bars of its share of a processor.
func measureTop(w io.Writer, b binaries, work, home string, stored int) ([]bar, error) {
	var bars []bar
	for i, c := range []struct {
		live      int
		how, what string
		limit     float64
	}{
		{players, quietKey + "=1", "idle", topLimit},
		{topMany, periodKey + "=1s", "each of which writes once a second", topManyLimit},
		{topMany, periodKey + "=50ms", "each of which writes twenty times a second", topManyLimit},
	} {
		live, err := startCast(c.live, work, filepath.Join(work, fmt.Sprintf("top-%d", i)), c.how, "claude", "codex")
		if err != nil {
			return nil, err
		}
		share, err := b.top(home, topSpan)
		if err = errors.Join(err, live.stop()); err != nil {
			return nil, err
		}
		fmt.Fprintf(w, "top: %d live, %s: %.2f %% of a processor in %s\n", c.live, c.what, share, topSpan)
		bars = append(bars, bar{
			what: fmt.Sprintf("`top`, %d live, %s, %d stored: %% of a processor", c.live, c.what, stored), measured: share, limit: c.limit, known: true,
		})
	}
	return bars, nil
}

// top runs top in a terminal for so long and returns what share of a processor it took, in percent.
func (b binaries) top(home string, span time.Duration) (float64, error) {
	j := job{argv: []string{b.agentctl, "top"}, home: home}
	cmd := exec.Command(j.argv[0], j.argv[1:]...)
	cmd.Env = append(slices.Clone(j.command().Env), "TERM=xterm-256color")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 160, Rows: 50})
	if err != nil {
		return 0, err
	}
	defer terminal.Close()
	drained := make(chan int64)
	go func() {
		n, _ := io.Copy(io.Discard, terminal) // its error is how a terminal ends
		drained <- n
	}()
	<-time.After(topBegin)
	began, before := time.Now(), used(cmd)
	<-time.After(span)
	spent, took := used(cmd)-before, time.Since(began)
	if _, err := terminal.WriteString("q"); err != nil {
		return 0, err
	}
	err = cmd.Wait()
	if written := <-drained; err != nil || written == 0 || spent <= 0 {
		return 0, fmt.Errorf("agentctl top: %w; it has drawn %d bytes and used %s", errors.Join(err, os.ErrInvalid), written, spent)
	}
	return 100 * spent.Seconds() / took.Seconds(), nil
}

// used is the processor time of a command that runs; 0: not known.
func used(cmd *exec.Cmd) time.Duration {
	p, err := proc.Inspect(cmd.Process.Pid)
	if err != nil {
		return 0
	}
	u, err := p.Usage()
	if err != nil {
		return 0
	}
	return u.CPU
}
