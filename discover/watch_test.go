package discover

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/proc"
)

// made is a made-up machine: files that change and processes that end when a test says so, and a processor of which each
// look takes a share.
type made struct {
	mu    sync.Mutex
	files map[string]stamp
	dead  map[proc.ID]chan struct{}
	// mute: the processes' ends do not tell themselves.
	mute  bool
	price time.Duration // of a look
	paid  time.Duration
	looks []time.Duration // when, since the start
	start time.Time
}

func newMade(price time.Duration) *made {
	return &made{files: map[string]stamp{}, dead: map[proc.ID]chan struct{}{}, price: price, start: time.Now()}
}

func (m *made) write(path string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.files[path]
	s.size++
	m.files[path] = s
}

func (m *made) death(id proc.ID) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead[id] == nil {
		m.dead[id] = make(chan struct{})
	}
	return m.dead[id]
}

func (m *made) senses() senses {
	return senses{
		ends: func(ctx context.Context, id proc.ID) error {
			if m.mute {
				return proc.ErrUnsupported
			}
			select {
			case <-m.death(id):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		alive: func(id proc.ID) bool {
			select {
			case <-m.death(id):
				return false
			default:
				return true
			}
		},
		stamp: func(path string) stamp { m.mu.Lock(); defer m.mu.Unlock(); return m.files[path] },
		now:   time.Now,
		came:  func() ([]string, error) { return nil, nil },
		spent: func() time.Duration { m.mu.Lock(); defer m.mu.Unlock(); return m.paid },
	}
}

// watch looks at a session of one file and one process until the time is up.
func (m *made) watch(t *testing.T, d time.Duration) {
	t.Helper()
	s := Session{Record: &Record{Agent: Codex, Path: "/f"}, Processes: []proc.Process{{ID: proc.ID{PID: 7, Birth: "b"}}}}
	look := func(context.Context) (Result, []Session, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.paid += m.price
		m.looks = append(m.looks, time.Since(m.start))
		return Result{}, []Session{s}, nil
	}
	ctx, stop := context.WithTimeout(t.Context(), d)
	defer stop()
	more := func(Result) (bool, error) { return true, nil }
	if err := newWatch(nil, m.senses()).run(ctx, []Session{s}, look, more); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it ended with %v", err)
	}
}

// between counts the looks in a window of time.
func (m *made) between(from, to time.Duration) (n int) {
	for _, at := range m.looks {
		if from <= at && at <= to {
			n++
		}
	}
	return n
}

func TestAQuietMachineIsRarelyLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMade(time.Millisecond)
		m.watch(t, time.Minute)
		// The first one, its echoes, and one each round.
		if n := len(m.looks); n < 7 || n > 9 {
			t.Errorf("%d looks: %v", n, m.looks)
		}
	})
}

// However much is written, looking takes its share of the processor and no more.
func TestLookingIsThrifty(t *testing.T) {
	for _, price := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond, 40 * time.Millisecond, 200 * time.Millisecond} {
		t.Run(fmt.Sprint(price), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMade(price)
				const span = 5 * time.Minute
				go func() {
					for time.Since(m.start) < span {
						m.write("/f")
						<-time.After(50 * time.Millisecond)
					}
				}()
				m.watch(t, span)
				synctest.Wait()
				<-time.After(50 * time.Millisecond) // the writer has ended, too
				if most := span/thrift + price; m.paid > most {
					t.Errorf("%d looks took %s of %s, more than %s", len(m.looks), m.paid, span, most)
				}
				if least := span / max(glance, thrift*price) / 2; time.Duration(len(m.looks)) < least {
					t.Errorf("only %d looks, want %d", len(m.looks), least)
				}
			})
		})
	}
}

func TestADeathIsLookedAtAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMade(100 * time.Millisecond) // a dear look, but an end does not wait
		const end = 7*time.Second + 100*time.Millisecond
		time.AfterFunc(end, func() { close(m.death(proc.ID{PID: 7, Birth: "b"})) })
		m.watch(t, 9*time.Second)
		if m.between(end, end) != 1 {
			t.Errorf("no look at %s: %v", end, m.looks)
		}
	})
}

// Where the system does not tell of an end, it is asked for.
func TestADeathThatDoesNotTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMade(time.Millisecond)
		m.mute = true
		const end = 7*time.Second + 100*time.Millisecond
		time.AfterFunc(end, func() { close(m.death(proc.ID{PID: 7, Birth: "b"})) })
		m.watch(t, 9*time.Second)
		if m.between(end, end+glance) != 1 {
			t.Errorf("no look after %s: %v", end, m.looks)
		}
	})
}

func TestAChangeIsLookedAtAndEchoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMade(time.Millisecond)
		const change = 25*time.Second + 60*time.Millisecond
		time.AfterFunc(change, func() { m.write("/f") })
		m.watch(t, 33*time.Second)
		for _, after := range echoes() {
			if m.between(change+after, change+after+2*glance) != 1 {
				t.Errorf("no look %s after the change at %s: %v", after, change, m.looks)
			}
		}
	})
}

func TestWatchEndsWhenToldTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		look := func(context.Context) (Result, []Session, error) { return Result{}, nil, nil }
		for _, want := range []error{nil, broken} {
			tell := func(Result) (bool, error) { return want != nil, want }
			if err := newWatch(nil, newMade(0).senses()).run(t.Context(), nil, look, tell); !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
		blind := func(context.Context) (Result, []Session, error) { return Result{}, nil, broken }
		if err := newWatch(nil, newMade(0).senses()).run(t.Context(), nil, blind, nil); !errors.Is(err, broken) {
			t.Errorf("%v", err)
		}
	})
}

// The real senses: a file that is made, grows, is replaced by another of its size and time, and goes.
func TestStampsTellFilesApart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	seen := map[stamp]string{stampOf(path): "none"}
	when := time.Unix(1e9, 0)
	put := func(name, text string) {
		if err := os.WriteFile(path+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path+name, when, when); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what string) {
		if old, ok := seen[stampOf(path)]; ok {
			t.Errorf("%s looks as %s", what, old)
		}
		seen[stampOf(path)] = what
	}
	put("", "a")
	check("made")
	put("", "ab")
	check("grown")
	put(".new", "cd")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	check("replaced")
	when = when.Add(time.Nanosecond)
	put("", "ef")
	check("rewritten")
}

// watchful is an adapter that names a file for every session.
type watchful struct{ Adapter }

func (watchful) Name() Agent                             { return OpenCode }
func (watchful) Watch(context.Context, Session) []string { return []string{"file"} }
func (watchful) MayRun(string) bool                      { return false }

// No adapter is asked for the files of a process whose home is not ours: it would open them.
func TestAForeignHomeIsNotWatched(t *testing.T) {
	w := newWatch([]Adapter{watchful{}}, newMade(0).senses())
	for _, trust := range []Trust{Foreign, Seen, Ours} {
		for _, path := range []string{"", "a"} {
			record := Record{Agent: OpenCode, Home: "home", Path: path}
			files := w.filesOf(t.Context(), Session{Record: &record, Trust: trust})
			if want := path != "" || trust != Foreign; (len(files) > 0) != want {
				t.Errorf("%s, path %q: %q", trust, path, files)
			}
		}
	}
}
