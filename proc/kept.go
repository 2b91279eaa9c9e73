package proc

import (
	"slices"
	"sync"
)

// kept answers for one process of a table. It asks the system for each fact once and keeps the answer, an error too: a
// table is one moment, so that all who go by it are told the same, and many of them cost no more than one. What a process
// uses is another thing each time, and is asked for each time. Without it a list of ten live sessions takes a fifth longer.
type kept struct {
	from    source
	ours    listeners
	asking  sync.Mutex // one asks, the others wait for its answer
	answers *answers   // nil until something is asked, as of most processes
}

// answers are what is known of a process so far.
type answers struct {
	args      answer[[]string]
	dir       answer[string]
	ports     answer[[]int]
	namespace answer[string]
	root      answer[bool]
	standing  answer[Credentials]
	environ   variables
	files     opened
}

// keep makes a source of one process that asks another source no more often than it has to.
func keep(from source, ours listeners) source { return &kept{from: from, ours: ours} }

// known are the answers, until done is called nobody else's.
func (k *kept) known() (a *answers, done func()) {
	k.asking.Lock()
	if k.answers == nil {
		k.answers = &answers{}
	}
	return k.answers, k.asking.Unlock
}

// Lists are copied: they are the caller's, to do with as he likes.

func (k *kept) args(p Process) ([]string, error) {
	a, done := k.known()
	defer done()
	args, err := a.args.get(p, k.from.args)
	return slices.Clone(args), err
}

func (k *kept) dir(p Process) (string, error) {
	a, done := k.known()
	defer done()
	return a.dir.get(p, k.from.dir)
}

func (k *kept) env(p Process, keys []string) (map[string]string, error) {
	a, done := k.known()
	defer done()
	return a.environ.get(keys, func(more []string) (map[string]string, error) { return k.from.env(p, more) })
}

func (k *kept) openFiles(p Process, match func(string) bool) ([]OpenFile, error) {
	a, done := k.known()
	defer done()
	return a.files.get(match, func(match func(string) bool) ([]OpenFile, error) { return k.from.openFiles(p, match) })
}

func (k *kept) listenPorts(p Process, _ []string, _ listeners) ([]int, error) {
	a, done := k.known()
	defer done()
	ports, err := a.ports.get(p, func(p Process) ([]int, error) { return k.from.listenPorts(p, a.files.names, k.ours) })
	return slices.Clone(ports), err
}

func (k *kept) pidNamespace(p Process) (string, error) {
	a, done := k.known()
	defer done()
	return a.namespace.get(p, k.from.pidNamespace)
}

func (k *kept) sharesRoot(p Process) (bool, error) {
	a, done := k.known()
	defer done()
	return a.root.get(p, k.from.sharesRoot)
}

// samePath asks about each path anew, but only where the process has a root of its own.
func (k *kept) samePath(p Process, path string) (bool, error) {
	if shared, err := k.sharesRoot(p); shared || err != nil {
		return shared, err
	}
	return k.from.samePath(p, path)
}

func (k *kept) standing(p Process) (Credentials, error) {
	a, done := k.known()
	defer done()
	s, err := a.standing.get(p, k.from.standing)
	s.PIDs = slices.Clone(s.PIDs)
	return s, err
}

func (k *kept) usage(p Process) (Usage, error)   { return k.from.usage(p) }
func (k *kept) written(p Process) (int64, error) { return k.from.written(p) }

func (k *kept) holder(p Process, c connection) (holder, error) { return k.from.holder(p, c) }

// answer is what a question was answered with, if it was asked.
type answer[T any] struct {
	had   bool
	value T
	err   error
}

func (a *answer[T]) get(p Process, ask func(Process) (T, error)) (T, error) {
	if !a.had {
		a.value, a.err = ask(p)
		a.had = true
	}
	return a.value, a.err
}
