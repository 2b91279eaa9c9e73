package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// waiters is how many sessions are waited for, and waitLimit the most of one processor that this may take, in percent.
const (
	waiters   = 10
	waitLimit = 1.0
)

// measureWait has agentctl wait for live sessions that write all the time, for so long, and tells what share of a
// processor that takes.
func measureWait(w io.Writer, b binaries, work string, span time.Duration) error {
	home := filepath.Join(work, "home")
	var ids []string
	for i := range waiters {
		id, alive, err := startWriter(work, home, []string{"claude", "codex"}[i%2])
		if err != nil {
			return err
		}
		defer alive.Close()
		ids = append(ids, id)
	}
	j := job{argv: append([]string{b.agentctl, "wait", "--timeout", span.String()}, ids...), home: home}
	cmd := j.command()
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(began)
	const timedOut = 124
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != timedOut {
		return fmt.Errorf("agentctl wait: %w\n%s", err, out)
	}
	used := exit.UserTime() + exit.SystemTime()
	share := bar{
		what: fmt.Sprintf("wait for %d sessions that write all the time, %s: %% of a processor", waiters, span), known: true,
		measured: 100 * used.Seconds() / took.Seconds(), limit: waitLimit,
	}
	if printBars(w, []bar{share}) > 0 {
		return errors.New("waiting takes too much")
	}
	return nil
}

// startWriter starts this program under an agent's name, with more variables, and returns the ID of the session that it
// plays until alive is closed.
func startWriter(work, home, program string, env ...string) (id string, alive io.Closer, err error) {
	path := filepath.Join(work, program)
	if err := copySelf(path); err != nil {
		return "", nil, err
	}
	cmd := exec.Command(path)
	cmd.Env = append([]string{"HOME=" + home}, env...)
	cmd.Dir = work
	out, err := cmd.StdoutPipe()
	if err == nil {
		alive, err = cmd.StdinPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = fmt.Fscanln(out, &id)
	}
	return id, alive, err
}

// copySelf puts this program at path, unless it is there: what runs tells by its file's name which agent it is.
func copySelf(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o700)
}
