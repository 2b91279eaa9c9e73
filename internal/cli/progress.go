package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"
)

// patience is how long a person waits before wondering.
const patience = time.Second

// work begins what may take long: it shows progress, and an interrupt (SIGINT) ends it by way of the context. Before and
// after it an interrupt ends the process at once, as it does of itself.
func (env Env) work(ctx context.Context, what string) (working context.Context, done func()) {
	working, stop := signal.NotifyContext(ctx, os.Interrupt)
	quiet := env.progress(what)
	return working, func() { quiet(); stop() }
}

// progress shows on a terminal's stderr what takes so long, once it does. The returned function ends it, and waits
// until the line is gone.
func (env Env) progress(what string) (stop func()) {
	if !env.Interactive {
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		begin := time.Now()
		tick := time.NewTicker(patience)
		defer tick.Stop()
		shown := false
		for {
			select {
			case now := <-tick.C:
				fmt.Fprintf(env.Stderr, "\ragentctl: %s, %ds …", what, int(now.Sub(begin).Seconds()))
				shown = true
			case <-done:
				if shown {
					fmt.Fprint(env.Stderr, "\r\x1b[K")
				}
				return
			}
		}
	})
	return sync.OnceFunc(func() { close(done); wg.Wait() })
}
