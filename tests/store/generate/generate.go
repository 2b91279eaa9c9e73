// Package generate makes stores of agent sessions: whole homes of Claude Code, Codex and OpenCode with as many
// sessions as asked for, the same bytes for the same seed.
//
// The shape of every record is that of the agents themselves (Claude Code 2.1.197 and 2.1.329, Codex 0.130.0 and
// 0.169.0, OpenCode 1.18.33); the words in them are made up. Readers are timed and counted on such stores.
package generate

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Options say what to make.
type Options struct {
	// Sessions is the number of sessions, sub-agents' own not counted: half of them Claude Code's, three tenths
	// Codex's, the rest OpenCode's.
	Sessions int
	Seed     uint64
	// Min, Median and Max bound the log-normal size of a session in bytes. A session is never smaller than the
	// records it needs, some tens of kilobytes.
	Min, Median, Max int
	// Burst is how many of an agent's sessions begin within one second, at equal distances; 0: each begins at a time of its own.
	Burst int
	// End is the time after the newest record; the sessions lie in the year before.
	End time.Time
}

// Defaults are 1,000 sessions of 50 to 500 KB, most of them about 125 KB.
func Defaults() Options {
	return Options{
		Sessions: 1000, Seed: 1, Min: 50_000, Median: 125_000, Max: 500_000,
		End: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
	}
}

// Session is one that was made.
type Session struct {
	// Agent as the command line spells it: claude-code, codex, opencode.
	Agent string
	// ID is the native one.
	ID string
	// Path of the transcript, rollout or database.
	Path string
	// Dir is the working directory it names; it does not exist.
	Dir string
	// Updated is the time of the newest record.
	Updated time.Time
	// Bytes of its own records.
	Bytes int
}

// Homes are the data roots below the directory of a store, which is itself fit to be a HOME.
func Homes(dir string) (claude, codex, opencode string) {
	return filepath.Join(dir, ".claude"), filepath.Join(dir, ".codex"), filepath.Join(dir, ".local/share/opencode")
}

// Store makes the homes below dir, which must not have any yet, and returns its sessions, oldest first.
func Store(dir string, o Options) ([]Session, error) {
	nClaude, nCodex := o.Sessions*5/10, o.Sessions*3/10
	nOpenCode := o.Sessions - nClaude - nCodex
	claude, codex, opencode := Homes(dir)
	for _, home := range []string{claude, codex, opencode} {
		if err := os.MkdirAll(filepath.Dir(home), 0o755); err != nil {
			return nil, err
		}
		if err := os.Mkdir(home, 0o700); err != nil {
			return nil, err
		}
	}
	words := newProse(o.Seed)
	list := make([]Session, o.Sessions)
	errs := make([]error, 3)
	var wg sync.WaitGroup
	wg.Go(func() { errs[0] = writeClaude(claude, o, words, list[:nClaude]) })
	wg.Go(func() { errs[1] = writeCodex(codex, o, words, list[nClaude:nClaude+nCodex]) })
	wg.Go(func() { errs[2] = writeOpenCode(opencode, o, words, list[o.Sessions-nOpenCode:]) })
	wg.Wait()
	slices.SortStableFunc(list, func(a, b Session) int { return a.Updated.Compare(b.Updated) })
	return list, errors.Join(errs...)
}

// each calls f for every index below n, on all processors, and returns the first errors.
func each(n int, f func(i int) error) error {
	workers := runtime.GOMAXPROCS(0)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n && errs[w] == nil; i += workers {
				errs[w] = f(i)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// save writes a session's file as its agent would have left it, last changed with its newest record.
func save(path string, raw []byte, updated time.Time) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		return err
	}
	return os.Chtimes(path, updated, updated)
}
