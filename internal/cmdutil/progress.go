package cmdutil

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// progressDelay is how long a person waits before wondering.
const progressDelay = time.Second

// StartWork begins what may take long: it shows progress, and a signal ends it by way of the context.
func (f Factory) StartWork(ctx context.Context, what string) (working context.Context, done func()) {
	working, stop := Interruptible(ctx)
	quiet := f.Progress(what)
	return working, func() { quiet(); stop() }
}

// StartQuery is work that changes nothing.
func (f Factory) StartQuery(ctx context.Context, what string) (working context.Context, done func()) {
	working, stop := interruptibleLater(ctx)
	quiet := f.Progress(what)
	return working, func() { quiet(); stop() }
}

// interruptibleLater is interruptible from some time on. Taking signals over needs a thread of its own, and switches to
// it for each of them: a tenth of what a usual look takes. Until then they end the process as they do of themselves: a
// look has begun nothing that would have to be told of.
func interruptibleLater(ctx context.Context) (working context.Context, stop func()) {
	const later = progressDelay / 2 // not in the midst of a look
	working, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	timer := time.AfterFunc(later, func() {
		defer close(ended)
		signalled, stop := Interruptible(working)
		defer stop()
		<-signalled.Done()
		cancel(context.Cause(signalled))
	})
	return working, sync.OnceFunc(func() {
		cancel(nil)
		if !timer.Stop() {
			<-ended
		}
	})
}

// Interruptible ends the context by SIGINT, SIGTERM and SIGHUP, and its cause says by which: what was begun is left in
// a state that can be told. Before it and after stop they end the process at once, as they do of themselves. A SIGHUP
// that was to be ignored (nohup) stays so.
func Interruptible(ctx context.Context) (working context.Context, stop context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signal.NotifyContext(ctx, signals...)
}

// Progress shows on a terminal's stderr what takes so long, once it does. The returned function ends it, and waits
// until the line is gone. With --json there is none.
func (f Factory) Progress(what string) (stop func()) {
	if !f.Interactive || f.Report.JSON {
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		begin := time.Now()
		tick := time.NewTicker(progressDelay)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				f.Report.progress(fmt.Sprintf("agentctl: %s, %ds …", what, int(now.Sub(begin).Seconds())))
			case <-done:
				f.Report.Pause()()
				return
			}
		}
	})
	return sync.OnceFunc(func() { close(done); wg.Wait() })
}
