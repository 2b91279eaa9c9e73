package codex

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
)

// inFamilies adds to what threads have used what their sub-agents have, and theirs. Those that are not among the threads
// are searched for, unless these are complete: all that is stored.
func inFamilies(ctx context.Context, threads iter.Seq2[*reading, error], complete bool) iter.Seq2[*reading, error] {
	return func(yield func(*reading, error) bool) {
		families := map[string]*family{} // by home
		var rows []*reading
		for next, err := range threads {
			t := *next
			f := families[t.Home]
			if f == nil {
				f = &family{home: t.Home, met: map[string]bool{}, known: map[string]bool{}}
				families[t.Home] = f
			}
			f.add(ctx, &t, err)
			if err == nil {
				rows = append(rows, &t)
			} else if !yield(new(reading), err) {
				return
			}
		}
		for _, f := range families {
			if !complete {
				f.search(ctx)
			}
			f.link()
		}
		if ctx.Err() != nil {
			return // half a family says nothing
		}
		for _, t := range rows {
			row := *t
			row.Tokens = families[t.Home].tokens(t)
			if !yield(&row, nil) {
				return
			}
		}
		for _, f := range families {
			for _, err := range f.errs {
				if !yield(new(reading), err) {
					return
				}
			}
		}
	}
}

// family are threads of one home, and who works for whom.
type family struct {
	home    string
	threads []*reading
	strays  []time.Time     // when those were begun whose beginning cannot be read: they may be anybody's sub-agents
	met     map[string]bool // the ids of both, and of all others that were looked at, as their files are named
	known   map[string]bool // the ids of threads
	errs    []error
	lost    bool // a folder could not be looked through

	workers map[string][]*reading // by the id of whom they work for
}

// add takes a thread that was read. Where that has failed, its beginning may tell all the same whose it is.
func (f *family) add(ctx context.Context, t *reading, err error) {
	f.met[nameID(t)] = true
	if err != nil {
		var first reading
		ok, _ := origin(discover.Entry{ID: t.ID, Path: t.Path, Home: f.home}, native.NewScratch(ctx), &first)
		if at, dated := born(t.ID); !ok && dated {
			f.strays = append(f.strays, at)
		}
		if !ok {
			return
		}
		first.vague = true
		t = &first
	}
	f.threads, f.known[t.ID] = append(f.threads, t), true
}

// link finds out who works for whom. Where that one is not stored any more, it is the root of the tree.
func (f *family) link() {
	f.workers = map[string][]*reading{}
	for _, t := range f.threads {
		if boss := f.boss(t); boss != "" {
			f.workers[boss] = append(f.workers[boss], t)
		}
	}
}

// boss is whom a thread works for, "" if nobody that is known.
func (f *family) boss(t *reading) string {
	for _, id := range [...]string{t.starter, t.Parent} {
		if f.known[id] {
			return id
		}
	}
	return ""
}

// errVague: the tokens of whom a sub-agent works for are left out then: a part would pass for the sum.
var errVague = errors.New("what this sub-agent has used cannot be told, nor what the session has that it works for")

// tokens is what a thread has used together with its sub-agents; the context is its own. It is nil where nothing was used,
// and where a part of it cannot be told.
func (f *family) tokens(t *reading) *discover.Tokens {
	if len(f.workers[t.ID])+len(f.strays) == 0 && !f.lost {
		return t.Tokens
	}
	var sum discover.Tokens
	used, counted := false, map[string]bool{} // damaged records might lead round in a circle
	for rest := []*reading{t}; len(rest) > 0; rest = rest[1:] {
		member := rest[0]
		if counted[member.ID] {
			continue
		}
		counted[member.ID] = true
		if member.vague && member != t {
			f.errs = append(f.errs, warn(member.Path, errVague))
		}
		if member.vague || f.lost || f.strayIn(member) {
			return nil
		}
		if member.Tokens != nil {
			used, sum = true, plus(sum, *member.Tokens)
		}
		rest = append(rest, f.workers[member.ID]...)
	}
	if !used {
		return nil
	}
	if own := t.Tokens; own != nil {
		sum.Context, sum.Window = own.Context, own.Window
	}
	return &sum
}

// strayIn reports whether a thread that cannot be read may work for this one.
func (f *family) strayIn(t *reading) bool {
	return slices.ContainsFunc(f.strays, livesOf([]*reading{t}).has)
}
