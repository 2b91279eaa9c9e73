package cli

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
