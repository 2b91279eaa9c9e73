package proc

import (
	"maps"
	"slices"
	"sync"
)

// cachedBackend answers for one process of a table. It asks the system for each fact once and keeps the answer, an error too: a
// table is one moment, so that all who go by it are told the same, and many of them cost no more than one. What a process
// uses is another thing each time, and is asked for each time. Without it a list of ten live sessions takes a fifth longer.
type cachedBackend struct {
	from      backend
	listeners listenersFunc
	mu        sync.Mutex   // one asks, the others wait for its answer
	facts     *cachedFacts // nil until something is asked, as of most processes
}

// cachedFacts are what is known of a process so far.
type cachedFacts struct {
	args        cached[[]string]
	cwd         cached[string]
	ports       cached[[]int]
	namespace   cached[string]
	root        cached[bool]
	credentials cached[Credentials]
	environ     envCache
	files       openFileCache
}

// newCachedBackend makes a source of one process that asks another source no more often than it has to.
func newCachedBackend(from backend, ours listenersFunc) backend {
	return &cachedBackend{from: from, listeners: ours}
}

// lock are the answers, until done is called nobody else's.
func (k *cachedBackend) lock() (a *cachedFacts, done func()) {
	k.mu.Lock()
	if k.facts == nil {
		k.facts = &cachedFacts{}
	}
	return k.facts, k.mu.Unlock
}

// Lists are copied: they are the caller's, to do with as he likes.

func (k *cachedBackend) args(p Process) ([]string, error) {
	a, done := k.lock()
	defer done()
	args, err := a.args.get(p, k.from.args)
	return slices.Clone(args), err
}

func (k *cachedBackend) cwd(p Process) (string, error) {
	a, done := k.lock()
	defer done()
	return a.cwd.get(p, k.from.cwd)
}

func (k *cachedBackend) env(p Process, keys []string) (map[string]string, error) {
	a, done := k.lock()
	defer done()
	return a.environ.get(keys, func(more []string) (map[string]string, error) { return k.from.env(p, more) })
}

func (k *cachedBackend) openFiles(p Process, match func(string) bool) ([]OpenFile, error) {
	a, done := k.lock()
	defer done()
	return a.files.get(match, func(match func(string) bool) ([]OpenFile, error) { return k.from.openFiles(p, match) })
}

func (k *cachedBackend) listenPorts(p Process, _ []string, _ listenersFunc) ([]int, error) {
	a, done := k.lock()
	defer done()
	ports, err := a.ports.get(p, func(p Process) ([]int, error) { return k.from.listenPorts(p, a.files.names, k.listeners) })
	return slices.Clone(ports), err
}

func (k *cachedBackend) pidNamespace(p Process) (string, error) {
	a, done := k.lock()
	defer done()
	return a.namespace.get(p, k.from.pidNamespace)
}

func (k *cachedBackend) sharesRoot(p Process) (bool, error) {
	a, done := k.lock()
	defer done()
	return a.root.get(p, k.from.sharesRoot)
}

// samePath asks about each path anew, but only where the process has a root of its own.
func (k *cachedBackend) samePath(p Process, path string) (bool, error) {
	if shared, err := k.sharesRoot(p); shared || err != nil {
		return shared, err
	}
	return k.from.samePath(p, path)
}

func (k *cachedBackend) credentials(p Process) (Credentials, error) {
	a, done := k.lock()
	defer done()
	s, err := a.credentials.get(p, k.from.credentials)
	s.PIDs = slices.Clone(s.PIDs)
	return s, err
}

func (k *cachedBackend) usage(p Process) (Usage, error)        { return k.from.usage(p) }
func (k *cachedBackend) bytesWritten(p Process) (int64, error) { return k.from.bytesWritten(p) }

func (k *cachedBackend) peer(p Process, c connection) (peer, error) { return k.from.peer(p, c) }

// cached is what a question was answered with, if it was asked.
type cached[T any] struct {
	known bool
	value T
	err   error
}

func (a *cached[T]) get(p Process, ask func(Process) (T, error)) (T, error) {
	if !a.known {
		a.value, a.err = ask(p)
		a.known = true
	}
	return a.value, a.err
}

// envCache are those of a process's environment that were asked for so far. No others are kept: they may be secrets.
type envCache struct {
	requested []string
	found     map[string]string
	err       error
}

// get returns those of the named variables that there are, and asks for those alone that nobody has asked for before.
func (v *envCache) get(keys []string, ask func(more []string) (map[string]string, error)) (map[string]string, error) {
	more := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return slices.Contains(v.requested, key) })
	if v.err == nil && len(more) > 0 {
		v.add(more, ask)
	}
	if v.err != nil {
		return nil, v.err
	}
	out := map[string]string{}
	for _, key := range keys {
		if value, ok := v.found[key]; ok {
			out[key] = value
		}
	}
	return out, nil
}

func (v *envCache) add(more []string, ask func([]string) (map[string]string, error)) {
	found, err := ask(more)
	if v.err = err; err != nil {
		return
	}
	v.requested = append(v.requested, more...)
	if v.found == nil {
		v.found = map[string]string{}
	}
	maps.Copy(v.found, found)
}

// openFileCache is what a process had open when it was last asked: the names of all descriptors, and the files that were asked
// for so far.
type openFileCache struct {
	read     bool
	names    []string // as match is shown them
	files    []OpenFile
	included map[string]bool // the names of the files
	err      error
}

// get returns the files that match accepts. It asks again if one is accepted that nobody was told of before.
func (o *openFileCache) get(match func(string) bool, ask func(match func(string) bool) ([]OpenFile, error)) ([]OpenFile, error) {
	wanted, known := map[string]bool{}, true
	for _, name := range o.names {
		wanted[name] = match(name)
		known = known && (o.included[name] || !wanted[name])
	}
	if o.err == nil && !(o.read && known) {
		wanted = o.fetch(match, ask)
	}
	if o.err != nil {
		return nil, o.err
	}
	var files []OpenFile
	for _, f := range o.files {
		if wanted[f.Path] {
			files = append(files, f)
		}
	}
	return files, nil
}

// fetch asks for what is wanted, and again for what others have wanted: what is kept is of one reading.
func (o *openFileCache) fetch(match func(string) bool, ask func(match func(string) bool) ([]OpenFile, error)) (wanted map[string]bool) {
	wanted = map[string]bool{}
	now := openFileCache{read: true, included: map[string]bool{}}
	now.files, now.err = ask(func(name string) bool {
		now.names = append(now.names, name)
		wanted[name] = match(name)
		now.included[name] = wanted[name] || o.included[name]
		return now.included[name]
	})
	*o = now
	return wanted
}
