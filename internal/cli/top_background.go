package cli

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
)

// background are the goroutines beside the screen. If one panics, the screen ends, and the panic is repeated once the terminal is
// restored.
type background struct {
	running sync.WaitGroup
	redraw  *topSignal

	mu       sync.Mutex
	panicked any
}

// startBackground starts what runs beside the screen until ctx ends.
func startBackground(ctx context.Context, m *topModel, table *Table) *background {
	b := &background{redraw: m.changed}
	m.start = func(do func()) { b.start(do) }
	ctx, stop := context.WithCancel(ctx)
	b.start(func() {
		defer stop()
		for range table.Changed {
			m.changed.notify()
		}
		m.changed.end() // nothing changes any more
	})
	b.start(func() { m.sampler.run(ctx) })
	b.start(func() { m.pane.load(ctx, m.runner, m.changed.notify) })
	m.ctx = ctx
	return b
}

func (b *background) start(do func()) {
	b.running.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				b.mu.Lock()
				b.panicked = fmt.Sprintf("%v\n%s", p, debug.Stack())
				b.mu.Unlock()
				b.redraw.end()
			}
		}()
		do()
	})
}

// wait waits until all have ended. It repeats a panic.
func (b *background) wait() {
	b.running.Wait()
	if b.panicked != nil {
		panic(b.panicked)
	}
}

// topSignal says that there is something new to draw, or that nothing will be any more.
type topSignal struct {
	mu    sync.Mutex
	ended bool
	c     chan struct{}
}

func newSignal() *topSignal { return &topSignal{c: make(chan struct{}, 1)} }

// notify asks for a frame.
func (s *topSignal) notify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	select {
	case s.c <- struct{}{}:
	default: // one is asked for already
	}
}

func (s *topSignal) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended = true
		close(s.c)
	}
}
