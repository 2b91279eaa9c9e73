package render

import (
	"io"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// JSONArray writes the values as one array, each on a line of its own. Long lists are encoded on all cores.
func JSONArray[T any](w io.Writer, values iter.Seq[T]) error {
	a := array[T]{parts: slices.Collect(slices.Chunk(slices.Collect(values), partSize)), stop: make(chan struct{})}
	if len(a.parts) == 0 {
		_, err := io.WriteString(w, "[]\n")
		return err
	}
	workers := min(runtime.GOMAXPROCS(0), len(a.parts))
	a.room = make(chan []byte, workers+1)
	for range cap(a.room) {
		a.room <- nil
	}
	for range a.parts {
		a.ready = append(a.ready, make(chan piece, 1))
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(a.stop)
	for range workers {
		wg.Go(a.work)
	}
	return a.write(w)
}

// partSize is how many values one worker encodes at a time.
const partSize = 32

// array is a list on its way out.
type array[T any] struct {
	parts [][]T
	next  atomic.Int64 // the first part that nobody has taken
	ready []chan piece // by part
	// room is memory for the parts that are encoded but not written. There is little of it, so that a slow reader of
	// ours does not make us hold everything.
	room chan []byte
	stop chan struct{}
}

// piece is an encoded part.
type piece struct {
	text []byte
	err  error
}

// work encodes parts until there are no more. Who takes a part has room for it, so the next one to be written is
// always under way.
func (a *array[T]) work() {
	for {
		var room []byte
		select {
		case room = <-a.room:
		case <-a.stop:
			return
		}
		i := int(a.next.Add(1)) - 1
		if i >= len(a.parts) {
			return
		}
		a.ready[i] <- a.encode(i, room[:0])
	}
}

func (a *array[T]) encode(i int, text []byte) (p piece) {
	for j := range a.parts[i] {
		if v, ok := any(&a.parts[i][j]).(fetcher); ok {
			v.fetch()
		}
	}
	for j := range a.parts[i] {
		start := ",\n"
		if i+j == 0 {
			start = "[\n"
		}
		if text, p.err = appendLine(append(text, start...), &a.parts[i][j]); p.err != nil {
			break
		}
	}
	p.text = text
	return p
}

// fetcher is a value that can be looked at before it is encoded, in all places of the memory where it has something. What
// thousands of values hold lies all over the memory: who meets each text of it only when it is needed waits for one after the
// other, and who looks at them all beforehand for many at a time. What is seen says nothing.
type fetcher interface {
	fetch() (seen int)
}

// write writes the parts in order as they get ready.
func (a *array[T]) write(w io.Writer) error {
	for i := range a.ready {
		p := <-a.ready[i]
		if p.err != nil {
			return p.err
		}
		if i == len(a.ready)-1 {
			p.text = append(p.text, "\n]\n"...)
		}
		if _, err := w.Write(p.text); err != nil {
			return err
		}
		a.room <- p.text
	}
	return nil
}
