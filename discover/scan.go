package discover

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"

	"agentctl/proc"
)

// Scanner is what there is to look at: the agents' readers and the process table. Its methods are the only way to a
// list of sessions; every verb goes through them, so two verbs cannot disagree.
type Scanner struct {
	Adapters []Adapter
	// HomeSources says where an agent's homes may be looked for.
	HomeSources func(Agent) HomeSources
	// Take reads the process table (proc.ReadTable).
	Take func(context.Context) (*proc.Table, error)
	// PID is this process, UID the effective user that it runs as.
	PID, UID int
	// AllUsers asks for the sessions of other users, and for homes that only processes in other namespaces name.
	AllUsers bool
}

// Result is an answer together with what was left out of it.
type Result struct {
	Sessions []Session
	// Warnings name the stores, files and processes that could not be read.
	Warnings []*Warning
	// Table is the process table the answer was judged by, of which what nobody has asked for may not be read yet
	// ([proc.Table.Complete]); Blind: it could not be read, and is empty.
	Table            *proc.Table
	ProcessesUnknown bool
	// Agents are the processes in it that are agents, those that make no row too.
	Agents map[proc.ID]bool
	// Runs are the sessions that each of them runs, those too that were not asked for; of one that is not named, there is
	// the agent only.
	Runs map[proc.ID][]Key
}

// scan is one look at the world: the processes, the homes and the claims of one moment.
type scan struct {
	world  *Scanner
	agents []Adapter
	table  *proc.Table
	blind  bool // the table could not be read and is empty
	sealed bool // the table shows the inside of an agent's sandbox only
	homes  map[Agent][]Home
	past   map[Agent][]Home // those of sessions that are followed, whether or not anything names them still
	claims []Claim

	records  [][]Record
	asked    [][]Entry    // that were read
	have     map[Key]bool // their keys, but for those still in asked
	warnings []*Warning
	warned   map[string]bool // their texts
}

// newScan begins to look at what is there without processes: the homes that the environment and the configuration name.
func (w *Scanner) newScan(agents []Agent) *scan {
	l := &scan{world: w, homes: map[Agent][]Home{}, past: map[Agent][]Home{}, warned: map[string]bool{}}
	for _, a := range w.Adapters {
		if len(agents) == 0 || slices.Contains(agents, a.Name()) {
			l.agents = append(l.agents, a)
			l.homes[a.Name()] = w.Homes(a, proc.NewFakeTable())
		}
	}
	return l
}

// errHidden: what runs cannot be told from what does not, of other users' sessions.
var errHidden = errors.New("other users' processes are hidden; what they run may look stopped")

// take reads the process table and returns the homes that only live processes name and that were not known before. A
// table that cannot be read is a warning: what is stored can be shown, though not whether it lives.
func (l *scan) take(ctx context.Context) (fresh map[Agent][]Home, err error) {
	if l.table, err = l.world.Take(ctx); ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if l.sealed = errors.Is(err, proc.ErrNamespace) && l.world.sealed(l.table); l.sealed {
		l.warn("", &Warning{Path: "processes", Err: errSealed})
	} else if l.blind = err != nil; l.blind {
		l.table = proc.NewFakeTable()
		l.warn("", &Warning{Path: "processes", Err: err})
	} else if l.table.Hidden() && l.world.AllUsers {
		l.warn("", &Warning{Path: "processes", Err: errHidden})
	} else if l.sealed = l.world.sealed(l.table); l.sealed {
		l.warn("", &Warning{Path: "processes", Err: errSealed})
	}
	fresh = map[Agent][]Home{}
	for _, a := range l.agents {
		known := l.homes[a.Name()]
		l.homes[a.Name()] = l.world.Homes(a, l.table)
		for _, h := range l.homes[a.Name()] {
			if !slices.ContainsFunc(known, h.same) {
				fresh[a.Name()] = append(fresh[a.Name()], h)
			}
		}
	}
	return fresh, nil
}

// claimed takes the process table and reads what the live processes show, and the records of what they claim. Its cost
// depends on the live processes, not on the store's size.
func (l *scan) claimed(ctx context.Context, want ReadOptions) error {
	if _, err := l.take(ctx); err != nil {
		return err
	}
	l.claim(ctx)
	l.readClaimed(ctx, want, anyClaim)
	return nil
}

// claim asks all agents who runs what, by the table taken last.
func (l *scan) claim(ctx context.Context) {
	results := forEach(l.agents, func(_ int, a Adapter) ([]Claim, error) {
		homes := l.homes[a.Name()]
		return a.Claims(l.confined(ctx, a.Name()), l.world.view(l.table, homes), homes)
	})
	l.claims = nil
	for i, r := range results {
		for _, c := range r.value {
			if l.ours(c) {
				l.claims = append(l.claims, c)
			}
		}
		l.warn(l.agents[i].Name(), r.err)
	}
	if err := l.table.Err(); err != nil {
		l.blind = true // what could not be read may run any of them
		l.warn("", &Warning{Path: "processes", Err: err})
	}
	for _, c := range l.claims {
		if c.Session == "" && c.Unreadable != "" {
			l.warn(c.Agent, &Warning{Agent: c.Agent, Path: c.Process.String(), Err: errors.New(c.Unreadable)})
		}
	}
}

// entries asks the stores in the given homes what they hold, and returns one list an agent.
func (l *scan) entries(ctx context.Context, homes map[Agent][]Home, query func(Agent) EntryFilter) [][]Entry {
	results := forEach(l.agents, func(_ int, a Adapter) ([]Entry, error) {
		if len(homes[a.Name()]) == 0 {
			return nil, nil
		}
		entries, err := a.Entries(l.confined(ctx, a.Name()), homes[a.Name()], query(a.Name()))
		entries, left := confine(homes[a.Name()], entries)
		return entries, errors.Join(err, left)
	})
	out := make([][]Entry, len(results))
	for i, r := range results {
		out[i] = r.value
		l.warn(l.agents[i].Name(), r.err)
	}
	return out
}

// newest sorts entries by their last change, newest first, in place.
func newest(entries []Entry) []Entry {
	slices.SortStableFunc(entries, func(a, b Entry) int { return b.Updated.Compare(a.Updated) })
	return entries
}

// byAgent parts entries into one list an agent.
func (l *scan) byAgent(entries []Entry) [][]Entry {
	out := make([][]Entry, len(l.agents))
	for _, e := range entries {
		i := slices.IndexFunc(l.agents, func(a Adapter) bool { return a.Name() == e.Agent })
		out[i] = append(out[i], e)
	}
	return out
}

// read adds the records of the entries, of which there is one list an agent. What was read before is left out.
func (l *scan) read(ctx context.Context, entries [][]Entry, want ReadOptions) {
	if len(l.have)+len(l.asked) > 0 {
		for i := range entries {
			entries[i] = slices.DeleteFunc(entries[i], func(e Entry) bool { return l.had(Key{e.Agent, e.ID, e.Path}) })
		}
	}
	l.asked = append(l.asked, entries...)
	results := forEach(l.agents, func(i int, a Adapter) (records []Record, err error) {
		if len(entries[i]) == 0 {
			return nil, nil
		}
		var errs []error
		records = make([]Record, 0, len(entries[i]))
		for r, err := range a.Read(l.confined(ctx, a.Name()), entries[i], want) {
			if err != nil {
				errs = append(errs, err)
				continue
			}
			records = append(records, r)
		}
		return records, errors.Join(errs...)
	})
	for i, r := range results {
		l.records = append(l.records, r.value)
		l.warn(l.agents[i].Name(), r.err)
	}
}

// had reports whether an entry of this name was read. Most looks never ask, and have no index made.
func (l *scan) had(key Key) bool {
	if len(l.have) == 0 { // mostly it is made once, of all: growing takes twice the memory
		n := 0
		for _, entries := range l.asked {
			n += len(entries)
		}
		l.have = make(map[Key]bool, n)
	}
	for _, entries := range l.asked {
		for _, e := range entries {
			l.have[Key{e.Agent, e.ID, e.Path}] = true
		}
	}
	l.asked = nil
	return l.have[key]
}

// readClaimed adds the records of the sessions that the wanted claims name, however old they are; it looks for them in their
// own homes. A claim without a path has none: its adapter has just looked.
func (l *scan) readClaimed(ctx context.Context, want ReadOptions, wanted func(Claim) bool) {
	refs, homes := map[Agent][]Ref{}, map[Agent][]Home{}
	for _, c := range l.claims {
		ref := Ref{c.Session, c.Path}
		if c.Path != "" && wanted(c) && !l.had(Key{c.Agent, c.Session, c.Path}) &&
			!slices.Contains(refs[c.Agent], ref) {
			refs[c.Agent] = append(refs[c.Agent], ref)
			for _, h := range l.homesOf(c) {
				if !slices.ContainsFunc(homes[c.Agent], h.same) {
					homes[c.Agent] = append(homes[c.Agent], h)
				}
			}
		}
	}
	l.read(ctx, l.entries(ctx, homes, func(a Agent) EntryFilter { return EntryFilter{Refs: refs[a], Children: true} }), want)
}

func anyClaim(Claim) bool { return true }

// homesOf are where the session of a claim may be stored: in the home that it names, if that is a known one.
func (l *scan) homesOf(c Claim) []Home {
	all := l.homes[c.Agent]
	named := slices.DeleteFunc(slices.Clone(all), func(h Home) bool { return h.Dir != c.Home })
	if len(named) > 0 {
		return named
	}
	return all
}

// warn keeps every warning once.
func (l *scan) warn(agent Agent, err error) {
	for _, w := range warnings(agent, err) {
		if text := w.Error(); !l.warned[text] {
			l.warned[text] = true
			l.warnings = append(l.warnings, w)
		}
	}
}

// warnings takes joined errors apart.
func warnings(agent Agent, err error) []*Warning {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []*Warning
		for _, e := range joined.Unwrap() {
			out = append(out, warnings(agent, e)...)
		}
		return out
	}
	if w, ok := errors.AsType[*Warning](err); ok {
		return []*Warning{w}
	}
	return []*Warning{{Agent: agent, Path: "store", Err: err}}
}

// result joins what was gathered.
func (l *scan) result() Result {
	r := l.joined()
	l.sort(r.Sessions)
	return r
}

// chosen is the result with what the selection asks for. What it does not need not be sorted.
func (l *scan) chosen(sel *SessionFilter) Result {
	r := l.joined()
	r.Sessions = sel.first(l.sort(sel.taken(r.Sessions)))
	return r
}

// sort sorts sessions in the order of [Compare], in place. Where processes are out of sight, what seems to live comes before
// what cannot be told.
func (l *scan) sort(list []Session) []Session {
	if !l.obscured() {
		return sorted(list)
	}
	slices.SortFunc(list, func(a, b Session) int {
		return cmp.Or(compareBool(len(a.Processes) == 0, len(b.Processes) == 0), Compare(a, b))
	})
	return list
}

// obscured: what has stopped cannot be told from what lives.
func (l *scan) obscured() bool { return l.blind || l.sealed }

// isThere reports whether the file of a record still stands where it was read. Claude Code renames its transcript when a session
// goes to a worktree (2.1.330), Codex its rollout when one is archived.
func isThere(r *Record) bool {
	_, err := os.Lstat(r.Path)
	return !errors.Is(err, fs.ErrNotExist)
}

// joined is the result with its sessions in no order.
func (l *scan) joined() Result {
	j := newJoin(l.table, l.claims)
	j.exists, j.obscured = isThere, l.obscured()
	j.judge()
	sessions := j.sessions(l.records)
	for i := range sessions {
		l.judgeTrust(&sessions[i])
		sessions[i].Group = groupOf(&sessions[i])
	}
	agents := map[proc.ID]bool{}
	for _, c := range l.claims {
		if _, live := l.table.Find(c.Process); live {
			agents[c.Process] = true
		}
	}
	return Result{
		Sessions: sessions, Warnings: l.warnings, Table: l.table, ProcessesUnknown: l.blind, Agents: agents, Runs: runsOf(sessions),
	}
}

// runsOf are the sessions of each process, in order.
func runsOf(sessions []Session) map[proc.ID][]Key {
	var live []Session
	for i := range sessions {
		if len(sessions[i].Processes) > 0 {
			live = append(live, sessions[i])
		}
	}
	runs := map[proc.ID][]Key{}
	for _, s := range sorted(live) {
		for _, p := range s.Processes {
			runs[p.ID] = append(runs[p.ID], s.Key())
		}
	}
	return runs
}

type outcome[T any] struct {
	value T
	err   error
}

// MayRun reports whether a binary can be an agent's.
func (w *Scanner) MayRun(exe string) bool {
	for _, a := range AdaptersWith[PathWatcher](w.Adapters) {
		if a.MayRun(exe) {
			return true
		}
	}
	return false
}

// WatchPaths returns the files and folders that change with a session. Of a process whose home is not ours there are none: its
// adapter would look into the home to find them.
func (w *Scanner) WatchPaths(ctx context.Context, s Session) []string {
	if s.Path == "" && s.Trust == Foreign {
		return nil
	}
	if a, ok := AdapterWith[PathWatcher](w.Adapters, s.Agent); ok {
		return a.WatchPaths(confinedTo(ctx, s), s)
	}
	if s.Path == "" {
		return nil
	}
	return []string{s.Path}
}

// forEach asks all agents, each with its index, at the same time; the answers keep their order.
func forEach[T any](agents []Adapter, ask func(int, Adapter) (T, error)) []outcome[T] {
	out := make([]outcome[T], len(agents))
	var wg sync.WaitGroup
	for i, a := range agents {
		wg.Go(func() { out[i].value, out[i].err = ask(i, a) })
	}
	wg.Wait()
	return out
}
