package proc

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const burnMemory = 64 << 20

// roleBurn has used processor time and memory, says how much time by the kernel's own account, and waits.
func roleBurn() error {
	held := make([]byte, burnMemory)
	var used time.Duration
	for used < 200*time.Millisecond {
		for i := range held {
			held[i]++
		}
		var own unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &own); err != nil {
			return err
		}
		used = time.Duration(own.Utime.Nano() + own.Stime.Nano())
	}
	fmt.Println(used.Nanoseconds())
	err := roleWait()
	runtime.KeepAlive(held)
	return err
}

// TestUsageOfKnownBurn: the result is between what the child counted before and what the kernel counted at its end.
func TestUsageOfKnownBurn(t *testing.T) {
	c := start(t, "burn")
	said, err := strconv.ParseInt(c.said, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	p := inspect(t, c.Process.Pid)
	got, err := p.Usage()
	if err != nil {
		t.Fatal(err)
	}
	c.end(t)
	state := c.ProcessState
	atLeast, atMost := time.Duration(said)-2*time.Second/clockTicks, state.UserTime()+state.SystemTime() // each of two numbers is cut
	if got.CPU < atLeast || got.CPU > atMost {
		t.Errorf("%v of processor time, not in %v to %v", got.CPU, atLeast, atMost)
	}
	peak := state.SysUsage().(*syscall.Rusage).Maxrss << 10
	if got.Memory < burnMemory*7/8 || got.Memory > peak*9/8 { // the kernel's own counts differ a little
		t.Errorf("%d bytes of memory, not in %d to %d", got.Memory, burnMemory, peak)
	}
	if got, err := p.Usage(); !errors.Is(err, ErrGone) || got != (Usage{}) {
		t.Errorf("after its end: %+v, %v", got, err)
	}
}
