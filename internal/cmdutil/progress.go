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

// progressDelay is the time before the first progress line, and between two: shorter waits need no explanation.
const progressDelay = time.Second

// StartWork begins work that may take long: it shows progress, and a signal cancels the context. done ends both.
func (f Factory) StartWork(ctx context.Context, what string) (working context.Context, done func()) {
	working, stop := Interruptible(ctx)
	endProgress := f.Progress(what)
	return working, func() { endProgress(); stop() }
}

// StartQuery is StartWork for work that changes nothing: see [interruptibleLater].
func (f Factory) StartQuery(ctx context.Context, what string) (working context.Context, done func()) {
	working, stop := interruptibleLater(ctx)
	endProgress := f.Progress(what)
	return working, func() { endProgress(); stop() }
}

// interruptibleLater is [Interruptible] after a delay. Handling signals takes a thread of its own and a switch to it for
// each signal: a tenth of the time of a usual query. Until then signals end the process by default; a query leaves nothing
// behind that would have to be reported.
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

// Interruptible cancels the context on SIGINT, SIGTERM and SIGHUP; the cause names the signal. So a command can report
// the state that it leaves. After stop the signals end the process by default again. A SIGHUP that was ignored at the
// start (nohup) stays ignored.
func Interruptible(ctx context.Context) (working context.Context, stop context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signal.NotifyContext(ctx, signals...)
}

// Progress shows on a terminal's stderr what the command is doing, once that takes longer than [progressDelay]. stop
// returns when the line is erased. With --json there is no progress.
func (f Factory) Progress(what string) (stop func()) {
	return f.ProgressOf(func() string { return what })
}

// ProgressOf is [Factory.Progress] of work whose description changes. It calls what from another goroutine.
func (f Factory) ProgressOf(what func() string) (stop func()) {
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
				f.Report.progress(fmt.Sprintf("agentctl: %s, %ds …", what(), int(now.Sub(begin).Seconds())))
			case <-done:
				f.Report.Pause()()
				return
			}
		}
	})
	return sync.OnceFunc(func() { close(done); wg.Wait() })
}
