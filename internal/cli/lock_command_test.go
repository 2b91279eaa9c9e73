package cli

import (
	"os"
	"syscall"
	"testing"
)

// A key of the terminal tells the command itself; what is sent to us alone is passed on.
func TestByKey(t *testing.T) {
	for _, tc := range []struct {
		signal           os.Signal
		foreground, want bool
	}{
		{os.Interrupt, true, true},
		{syscall.SIGQUIT, true, true},
		{syscall.SIGTERM, true, false},
		{syscall.SIGHUP, true, false},
		{os.Interrupt, false, false},
		{syscall.SIGQUIT, false, false},
	} {
		if got := byKey(tc.signal, func() bool { return tc.foreground }); got != tc.want {
			t.Errorf("%+v", tc)
		}
	}
}
