package proc

import (
	"maps"
	"slices"
	"sync"
)

// cachedBackend reads each fact of one process once and caches the answer, errors included. A table is one moment: all
// its users get the same answers, and many of them cost no more than one. [Process.Usage] and other counters change all
// the time and are not cached. Without the cache, a list of ten live sessions takes a fifth longer.
type cachedBackend struct {
	from      backend
	listeners listenersFunc
	mu        sync.Mutex   // held while a fact is read: other callers wait for the answer
	facts     *cachedFacts // nil until the first call, as for most processes
}

// cachedFacts are the facts of a process that were read so far.
type cachedFacts struct {
	args        cached[[]string]
	cwd         cached[string]
	ports       cached[[]int]
	namespace   cached[string]
	root        cached[bool]
	tty         cached[string]
	credentials cached[Credentials]
	environ     envCache
	files       openFileCache
}

// newCachedBackend returns a cache for one process in front of another backend.
func newCachedBackend(from backend, ours listenersFunc) backend {
	return &cachedBackend{from: from, listeners: ours}
}

// lock returns the cached facts, locked until done is called.
func (k *cachedBackend) lock() (a *cachedFacts, done func()) {
	k.mu.Lock()
	if k.facts == nil {
		k.facts = &cachedFacts{}
	}
	return k.facts, k.mu.Unlock
}

// Slices are cloned, since callers may modify them.

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

func (k *cachedBackend) tty(p Process) (string, error) {
	a, done := k.lock()
	defer done()
	return a.tty.get(p, k.from.tty)
}

func (k *cachedBackend) sharesRoot(p Process) (bool, error) {
	a, done := k.lock()
	defer done()
	return a.root.get(p, k.from.sharesRoot)
}

// samePath is not cached by path, but is answered from the cache where the process shares our root.
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

// cached is the answer to a call that may have been made.
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

// envCache holds the environment variables that were requested so far. No others are kept, since they may be secrets.
type envCache struct {
	requested []string
	found     map[string]string
	err       error
}

// get returns the named variables that exist. It reads only those that were not requested before.
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

// openFileCache holds the names of all descriptors as of the last reading, and the open files that were requested so far.
type openFileCache struct {
	read     bool
	names    []string // as match gets them
	files    []OpenFile
	included map[string]bool // the names of the files
	err      error
}

// get returns the files that match accepts. It reads again if match accepts one that was not requested before.
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

// fetch reads the files that match accepts, and those that were requested before again, so that all are of one reading.
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
