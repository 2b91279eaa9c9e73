package launch

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"time"

	"agentctl/discover/native/fsread"
	"agentctl/proc"
)

// StdioServer is a command of an agent that answers on its stdout what it is asked on its stdin, and ends when its stdin ends.
type StdioServer struct {
	// Stdin is what it reads from, Stdout what it writes to.
	Stdin, Stdout *os.File

	stderr fsread.LimitedBuffer // complete once it has ended
	cancel context.CancelFunc   // ends it
	ended  chan struct{}
}

// StartStdioServer starts such a command in a directory, with additional variables. It ends with ctx at the latest, as do reading and
// writing, even if a process that the server has started keeps the other end of a pipe.
func (h Environment) StartStdioServer(ctx context.Context, dir string, variables []string, args ...string) (*StdioServer, error) {
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer childIn.Close()
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	defer childOut.Close()
	ctx, cancel := context.WithCancel(ctx)
	s := &StdioServer{
		Stdin: in, Stdout: out,
		stderr: fsread.LimitedBuffer{Limit: 64 << 10}, cancel: cancel, ended: make(chan struct{}),
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = slices.Concat(h.Environ, variables, []string{"PWD=" + dir}), dir, runGrace
	cmd.Stdin, cmd.Stdout, cmd.Stderr = childIn, childOut, &s.stderr
	job, err := proc.StartJob(cmd, true)
	if err != nil {
		cancel()
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	context.AfterFunc(ctx, func() {
		past := time.Unix(1, 0)
		_ = errors.Join(in.SetDeadline(past), out.SetDeadline(past)) // they may be closed
	})
	go func() {
		defer close(s.ended)
		_ = job.WaitContext(ctx, runGrace) // its answers say whether it did what was asked
	}()
	return s, nil
}

// Close ends the server, and returns when it is gone. The result is what it has written to its stderr.
func (s *StdioServer) Close() []byte {
	_ = s.Stdin.Close()
	select {
	case <-s.ended:
	case <-time.After(runGrace):
	}
	s.cancel()
	<-s.ended
	_ = s.Stdout.Close()
	return bytes.TrimSpace(s.stderr.Bytes())
}
