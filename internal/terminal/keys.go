package terminal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// readKeys reads the keys that are typed, until stop is called; the channel is closed if the terminal is gone. It never waits in
// a read: that could not be ended, and would take a key that is meant for the next program.
func readKeys(in *os.File) (keys <-chan byte, stop func(), err error) {
	woken, wake, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	out, quit, done := make(chan byte), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		defer close(out)
		defer woken.Close()
		buf := make([]byte, 1)
		for waitForKey(in, woken) {
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
	return out, func() { close(quit); wake.Close(); <-done }, nil
}

// waitForKey waits until there is something to read, or until the other end of woken is closed.
func waitForKey(in, woken *os.File) bool {
	set := []unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}, {Fd: int32(woken.Fd()), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(set, -1)
		if !errors.Is(err, unix.EINTR) {
			return err == nil && set[1].Revents == 0
		}
	}
}
