package render

import (
	"io"
	"iter"
	"runtime"
	"slices"
	"sync"
)

// JSONArray writes the values as one array, each on a line of its own. Long lists are encoded on all cores.
func JSONArray[T any](w io.Writer, values iter.Seq[T]) error {
	parts := inParts(values)
	if len(parts) == 0 {
		_, err := io.WriteString(w, "[]\n")
		return err
	}
	workers := min(runtime.GOMAXPROCS(0), len(parts))
	a := array[T]{w: w, parts: parts, ready: make([]*piece, len(parts)), room: make([][]byte, workers+1)}
	a.change.L = &a.mu
	var others sync.WaitGroup
	for range workers - 1 {
		others.Go(a.work)
	}
	a.work()
	others.Wait()
	return a.err
}

const (
	partSize = 32   // how many values one worker encodes at a time
	mostly   = 1280 // bytes that a value takes no more than
)

// inParts collects the values. There is no list of all, which would be made again and again as it grows.
func inParts[T any](values iter.Seq[T]) (parts [][]T) {
	var part []T
	for v := range values {
		if len(part) == cap(part) {
			part = make([]T, 0, partSize)
			parts = append(parts, nil)
		}
		part = append(part, v)
		parts[len(parts)-1] = part
	}
	return parts
}

// array is a list on its way out.
type array[T any] struct {
	w     io.Writer
	parts [][]T

	mu     sync.Mutex
	change sync.Cond // there is room again, or an error
	taken  int       // parts that are encoded or under way
	ready  []*piece  // by part, those that are encoded
	// room is memory for the parts that are encoded but not written. There is little of it, so that a slow reader of
	// ours does not make us hold everything.
	room    [][]byte
	written int
	writing bool // by one of the workers
	err     error
}

// piece is an encoded part.
type piece struct {
	text []byte
	err  error
}

// work encodes parts until there are no more. Who takes a part has room for it, so the next one to be written is
// always under way.
func (a *array[T]) work() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.err == nil && a.taken < len(a.parts) {
		last := len(a.room) - 1
		if last < 0 {
			a.change.Wait()
			continue
		}
		i, room := a.taken, a.room[last]
		a.taken, a.room = i+1, a.room[:last]
		a.mu.Unlock()
		p := a.encode(i, slices.Grow(room[:0], len(a.parts[i])*mostly))
		a.mu.Lock()
		a.ready[i] = p
		a.write()
	}
}

func (a *array[T]) encode(i int, text []byte) *piece {
	var p piece
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
	if i == len(a.parts)-1 {
		text = append(text, "\n]\n"...)
	}
	p.text = text
	return &p
}

// fetcher is a value that can be looked at before it is encoded, in all places of the memory where it has something. What
// thousands of values hold lies all over the memory: who meets each text of it only when it is needed waits for one after the
// other, and who looks at them all beforehand for many at a time. What is seen says nothing.
type fetcher interface {
	fetch() (seen int)
}

// write writes the parts that are ready, in order. If another worker is about it, he writes these too: nobody waits for his
// turn.
func (a *array[T]) write() {
	if a.writing {
		return
	}
	a.writing = true
	for a.err == nil && a.written < len(a.parts) && a.ready[a.written] != nil {
		p := a.ready[a.written]
		a.mu.Unlock()
		if p.err == nil {
			_, p.err = a.w.Write(p.text)
		}
		a.mu.Lock()
		a.err, a.room = p.err, append(a.room, p.text)
		a.written++
		a.change.Broadcast()
	}
	a.writing = false
}
