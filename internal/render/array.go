package render

import (
	"io"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"agentctl/discover"
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

// Row is a session in an array. It is put into the contract's words when it is encoded.
type Row struct{ session *discover.Session }

// Rows are the sessions for [JSONArray].
func Rows(list []discover.Session) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for i := range list {
			if !yield(Row{&list[i]}) {
				return
			}
		}
	}
}

func (r *Row) appendJSON(b []byte) ([]byte, error) {
	s := of(r.session)
	return s.appendJSON(b)
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
		p := piece{text: room[:0]}
		for j := range a.parts[i] {
			start := ",\n"
			if i+j == 0 {
				start = "[\n"
			}
			p.text = append(p.text, start...)
			if p.text, p.err = appendLine(p.text, &a.parts[i][j]); p.err != nil {
				break
			}
		}
		a.ready[i] <- p
	}
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
