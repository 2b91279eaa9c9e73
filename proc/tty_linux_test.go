package proc

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// A process has the terminal that its session took, and none without one.
func TestTTY(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	path := slave.Name()
	for want, attr := range map[string]*syscall.SysProcAttr{
		path: {Setsid: true, Setctty: true}, "": {Setsid: true},
	} {
		cmd := exec.Command("cat")
		cmd.SysProcAttr = attr
		cmd.Stdin, cmd.Stdout = slave, slave
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		p, err := Inspect(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.TTY(); err != nil || got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
		if want != "" {
			p.TTYDevice = ttyDevice(143<<8 | 255) // a device that its path does not name: no machine has so many terminals
			if got, err := p.TTY(); !errors.Is(err, ErrPathDiffers) || got != "" {
				t.Errorf("of another device: %q, %v", got, err)
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

func TestTTYName(t *testing.T) {
	for device, want := range map[uint64]string{
		ttyDevice(136<<8 | 21): "/dev/pts/21", ttyDevice(137<<8 | 1): "/dev/pts/257", ttyDevice(136<<8 | 1<<20): "/dev/pts/256",
		ttyDevice(4<<8 | 1): "/dev/tty1", ttyDevice(4<<8 | 65): "/dev/ttyS1", ttyDevice(204<<8 | 64): "", ttyDevice(0): "",
	} {
		if got := ttyName(device); got != want {
			t.Errorf("%x: got %q, want %q", device, got, want)
		}
	}
}
