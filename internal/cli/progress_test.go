package cli

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/object"
)

// locked is a buffer that another goroutine writes.
type locked struct {
	mu  sync.Mutex
	got []byte
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.got = append(l.got, p...)
	return len(p), nil
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.got)
}

// What takes long is shown once it does, and leaves no trace.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stderr locked
		stop := Factory{Interactive: true, Report: NewReporter(&stderr)}.Progress("reading")
		<-time.After(900 * time.Millisecond) // of the bubble's own clock
		synctest.Wait()
		if stderr.String() != "" {
			t.Errorf("early: %q", stderr.String())
		}
		<-time.After(1200 * time.Millisecond)
		synctest.Wait()
		stop()
		if got, want := stderr.String(), "\ragentctl: reading, 1s …\ragentctl: reading, 2s …\r\x1b[K"; got != want {
			t.Errorf("%q", got)
		}
	})
	var stderr locked
	if (Factory{Report: NewReporter(&stderr)}).Progress("reading")(); stderr.String() != "" {
		t.Errorf("not a terminal: %q", stderr.String())
	}
}

// Nothing is written behind a progress line: it is erased first, and comes back later.
func TestProgressGivesWay(t *testing.T) {
	var stderr locked
	r := NewReporter(&stderr)
	r.progress("waiting, 1s …")
	r.warning(object.Warning{Message: "careful"})
	r.progress("waiting, 2s …")
	resume := r.Pause()
	r.progress("waiting, 3s …")
	resume()
	r.progress("waiting, 4s …")
	const erase = "\r\x1b[K"
	if got, want := stderr.String(), "\rwaiting, 1s …"+erase+"agentctl: warning: careful\n\rwaiting, 2s …"+erase+"\rwaiting, 4s …"; got != want {
		t.Errorf("%q", got)
	}
}
