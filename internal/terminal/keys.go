package terminal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// readKeys reads keys from the terminal until stop is called. It closes the channel if the terminal is gone. It
// polls before each read: a pending read could not be cancelled, and would take a key meant for the next program.
func readKeys(in *os.File) (keys <-chan byte, stop func(), err error) {
	stopRead, stopWrite, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	out, quit, done := make(chan byte), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		defer close(out)
		defer stopRead.Close()
		buf := make([]byte, 1)
		for waitForKey(in, stopRead) {
			n, err := unix.Read(int(in.Fd()), buf)
			switch {
			case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
				continue
			case err != nil || n == 0:
				return
			}
			select {
			case out <- buf[0]:
			case <-quit:
				return
			}
		}
	}()
	return out, func() { close(quit); stopWrite.Close(); <-done }, nil
}

// waitForKey waits for input. It reports false once the write end of stopRead is closed.
func waitForKey(in, stopRead *os.File) bool {
	set := []unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}, {Fd: int32(stopRead.Fd()), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(set, -1)
		if !errors.Is(err, unix.EINTR) {
			return err == nil && set[1].Revents == 0
		}
	}
}
