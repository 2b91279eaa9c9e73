package hostile

import (
	"os/exec"
	"time"

	"github.com/creack/pty"
)

// start starts the command, on a terminal if the call wants one. When the command has ended, drain waits until all its output
// was read.
func (c *call) start(cmd *exec.Cmd) (drain func(), err error) {
	if !c.terminal {
		return func() {}, cmd.Start()
	}
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = nil, nil, nil
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 100, Rows: 30})
	if err != nil {
		return nil, err
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 32<<10)
		for {
			n, err := master.Read(buf)
			_, _ = c.out.Write(buf[:n])
			if err != nil { // EIO: nobody has the terminal open any more
				return
			}
		}
	}()
	return func() {
		select {
		case <-read:
			_ = master.Close()
		case <-time.After(grace): // what it has left behind has the terminal open
			_ = master.Close()
			<-read
		}
	}, nil
}
