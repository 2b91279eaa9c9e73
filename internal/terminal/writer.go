package terminal

import (
	"os"
	"time"
)

// flushTimeout is how long the end of the program waits for a terminal that takes no output. A slow line takes some kilobytes
// meanwhile.
const flushTimeout = time.Second

// discardInterval is the time between two attempts to throw away what the terminal does not take.
const discardInterval = 10 * time.Millisecond

// writer writes to the terminal beside the loop of [Screen.Show], one text at a time: a terminal that is slow, or stopped by
// Ctrl-S, keeps no key and no signal waiting, and frames that it would not show in time are not made.
type writer struct {
	out   *os.File
	texts chan string
	// done has the error of a write that has ended.
	done chan error
	// busy: a write has not ended yet.
	busy bool
}

func newWriter(out *os.File) *writer {
	w := &writer{out: out, texts: make(chan string), done: make(chan error, 1)}
	go func() {
		for text := range w.texts {
			_, err := out.WriteString(text)
			w.done <- err
		}
		close(w.done)
	}()
	return w
}

// write begins to write a text. The writer must not be busy.
func (w *writer) write(text string) {
	w.busy = true
	w.texts <- text
}

// wait waits until the writer is not busy, at most for a time, and reports whether it is not.
func (w *writer) wait(limit time.Duration) bool {
	if !w.busy {
		return true
	}
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	select {
	case <-w.done: //nolint:errcheck // what cannot be written is lost: the program ends
		w.busy = false
	case <-timeout.C:
	}
	return !w.busy
}

// clear waits until the writer is not busy. What the terminal does not take in time is thrown away. It reports false if even
// that does not help.
func (w *writer) clear() bool {
	if w.wait(flushTimeout) {
		return true
	}
	for range flushTimeout / discardInterval { // each time, the rest of the text fills the kernel's buffer again
		if discardOutput(int(w.out.Fd())); w.wait(discardInterval) {
			return true
		}
	}
	return false
}

// close ends the writer, once its write has ended.
func (w *writer) close() {
	close(w.texts)
	if !w.busy {
		for range w.done { // it is closed at the end
		}
	}
}
