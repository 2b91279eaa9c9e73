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
	// ReadTable reads the process table (proc.ReadTable).
	ReadTable func(context.Context) (*proc.Table, error)
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
	// AgentProcesses are the processes in it that are agents, those that make no row too.
	AgentProcesses map[proc.ID]bool
	// SessionsByProcess are the sessions that each of them runs, those too that were not asked for; of one that is not named, there is
	// the agent only.
	SessionsByProcess map[proc.ID][]Key
}

// scan is one look at the world: the processes, the homes and the claims of one moment.
type Scan struct {
	scanner         *Scanner
	adapters        []Adapter
	table           *proc.Table
	tableUnreadable bool // the table could not be read and is empty
	inSandbox       bool // the table shows the inside of an agent's sandbox only
	homes           map[Agent][]Home
	extraHomes      map[Agent][]Home // those of sessions that are followed, whether or not anything names them still
	claims          []Claim

	records      [][]Record
	readEntries  [][]Entry    // that were read
	readKeys     map[Key]bool // their keys, but for those still in asked
	warnings     []*Warning
	warningTexts map[string]bool // their texts
}

// newScan begins to look at what is there without processes: the homes that the environment and the configuration name.
func (w *Scanner) newScan(agents []Agent) *Scan {
	l := &Scan{scanner: w, homes: map[Agent][]Home{}, extraHomes: map[Agent][]Home{}, warningTexts: map[string]bool{}}
	for _, a := range w.Adapters {
		if len(agents) == 0 || slices.Contains(agents, a.Name()) {
			l.adapters = append(l.adapters, a)
			l.homes[a.Name()] = w.Homes(a, proc.NewFakeTable())
		}
	}
	return l
}

// errProcessesHidden: what runs cannot be told from what does not, of other users' sessions.
var errProcessesHidden = errors.New("other users' processes are hidden; what they run may look stopped")

// readProcesses reads the process table and returns the homes that only live processes name and that were not known before. A
// table that cannot be read is a warning: what is stored can be shown, though not whether it lives.
func (l *Scan) readProcesses(ctx context.Context) (fresh map[Agent][]Home, err error) {
	if l.table, err = l.scanner.ReadTable(ctx); ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if l.inSandbox = errors.Is(err, proc.ErrNamespace) && l.scanner.seesSandboxOnly(l.table); l.inSandbox {
		l.warn("", &Warning{Path: "processes", Err: errInSandbox})
	} else if l.tableUnreadable = err != nil; l.tableUnreadable {
		l.table = proc.NewFakeTable()
		l.warn("", &Warning{Path: "processes", Err: err})
	} else if l.table.Hidden() && l.scanner.AllUsers {
		l.warn("", &Warning{Path: "processes", Err: errProcessesHidden})
	} else if l.inSandbox = l.scanner.seesSandboxOnly(l.table); l.inSandbox {
		l.warn("", &Warning{Path: "processes", Err: errInSandbox})
	}
	fresh = map[Agent][]Home{}
	for _, a := range l.adapters {
		known := l.homes[a.Name()]
		l.homes[a.Name()] = l.scanner.Homes(a, l.table)
		for _, h := range l.homes[a.Name()] {
			if !slices.ContainsFunc(known, h.same) {
				fresh[a.Name()] = append(fresh[a.Name()], h)
			}
		}
	}
	return fresh, nil
}

// readLive takes the process table and reads what the live processes show, and the records of what they claim. Its cost
// depends on the live processes, not on the store's size.
func (l *Scan) readLive(ctx context.Context, want ReadOptions) error {
	if _, err := l.readProcesses(ctx); err != nil {
		return err
	}
	l.readClaims(ctx)
	l.readClaimedRecords(ctx, want, anyClaim)
	return nil
}

// ScanLive reads the process table, what the live processes show, and the records of what they claim. Its cost depends on
// the live processes, not on the size of the stores.
func (w *Scanner) ScanLive(ctx context.Context) (*Scan, error) {
	s := w.newScan(nil)
	return s, s.readLive(ctx, ReadOptions{})
}

// AddClaim adds a claim of a session that is looked up in the stores by its ID alone. The warnings that the process of the
// claim and its sandbox hide something are dropped.
func (l *Scan) AddClaim(ctx context.Context, c Claim) {
	found := l.listEntries(ctx, map[Agent][]Home{c.Agent: l.homes[c.Agent]}, func(Agent) EntryFilter {
		return EntryFilter{Refs: []Ref{{ID: c.Session}}, Subagents: true}
	})
	if all := slices.Concat(found...); len(all) == 1 {
		c.Path, c.Home = all[0].Path, all[0].Home
	}
	l.claims = append(l.claims, c)
	l.readRecords(ctx, found, ReadOptions{})
	l.warnings = slices.DeleteFunc(l.warnings, func(warning *Warning) bool {
		return warning.Path == c.Process.String() || errors.Is(warning, errInSandbox)
	})
}

// ReadByID adds the records of the sessions with these IDs, from all known homes.
func (l *Scan) ReadByID(ctx context.Context, ids map[Agent][]string) {
	refs, homes := map[Agent][]Ref{}, map[Agent][]Home{}
	for agent, list := range ids {
		for _, id := range list {
			refs[agent] = append(refs[agent], Ref{ID: id})
		}
		homes[agent] = l.homes[agent]
	}
	l.readRefs(ctx, homes, refs, ReadOptions{})
}

// readClaims asks all agents who runs what, by the table taken last.
func (l *Scan) readClaims(ctx context.Context) {
	results := forEachAdapter(l.adapters, func(_ int, a Adapter) ([]Claim, error) {
		homes := l.homes[a.Name()]
		return a.Claims(l.confine(ctx, a.Name()), l.scanner.visibleTable(l.table, homes), homes)
	})
	l.claims = nil
	for i, r := range results {
		for _, c := range r.value {
			if l.isOurs(c) {
				l.claims = append(l.claims, c)
			}
		}
		l.warn(l.adapters[i].Name(), r.err)
	}
	if err := l.table.Err(); err != nil {
		l.tableUnreadable = true // what could not be read may run any of them
		l.warn("", &Warning{Path: "processes", Err: err})
	}
	for _, c := range l.claims {
		if c.Session == "" && c.Unreadable != "" {
			l.warn(c.Agent, &Warning{Agent: c.Agent, Path: c.Process.String(), Err: errors.New(c.Unreadable)})
		}
	}
}

// listEntries asks the stores in the given homes what they hold, and returns one list an agent.
func (l *Scan) listEntries(ctx context.Context, homes map[Agent][]Home, query func(Agent) EntryFilter) [][]Entry {
	results := forEachAdapter(l.adapters, func(_ int, a Adapter) ([]Entry, error) {
		if len(homes[a.Name()]) == 0 {
			return nil, nil
		}
		entries, err := a.Entries(l.confine(ctx, a.Name()), homes[a.Name()], query(a.Name()))
		entries, left := dropOutside(homes[a.Name()], entries)
		return entries, errors.Join(err, left)
	})
	out := make([][]Entry, len(results))
	for i, r := range results {
		out[i] = r.value
		l.warn(l.adapters[i].Name(), r.err)
	}
	return out
}

// sortByUpdated sorts entries by their last change, newest first, in place.
func sortByUpdated(entries []Entry) []Entry {
	slices.SortStableFunc(entries, func(a, b Entry) int { return b.Updated.Compare(a.Updated) })
	return entries
}

// splitByAgent parts entries into one list an agent.
func (l *Scan) splitByAgent(entries []Entry) [][]Entry {
	out := make([][]Entry, len(l.adapters))
	for _, e := range entries {
		i := slices.IndexFunc(l.adapters, func(a Adapter) bool { return a.Name() == e.Agent })
		out[i] = append(out[i], e)
	}
	return out
}

// readRecords adds the records of the entries, of which there is one list an agent. What was read before is left out.
func (l *Scan) readRecords(ctx context.Context, entries [][]Entry, want ReadOptions) {
	if len(l.readKeys)+len(l.readEntries) > 0 {
		for i := range entries {
			entries[i] = slices.DeleteFunc(entries[i], func(e Entry) bool { return l.hasRecord(Key{e.Agent, e.ID, e.Path}) })
		}
	}
	l.readEntries = append(l.readEntries, entries...)
	results := forEachAdapter(l.adapters, func(i int, a Adapter) (records []Record, err error) {
		if len(entries[i]) == 0 {
			return nil, nil
		}
		var errs []error
		records = make([]Record, 0, len(entries[i]))
		for r, err := range a.Read(l.confine(ctx, a.Name()), entries[i], want) {
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
		l.warn(l.adapters[i].Name(), r.err)
	}
}

// hasRecord reports whether an entry of this name was read. Most looks never ask, and have no index made.
func (l *Scan) hasRecord(key Key) bool {
	if len(l.readKeys) == 0 { // mostly it is made once, of all: growing takes twice the memory
		n := 0
		for _, entries := range l.readEntries {
			n += len(entries)
		}
		l.readKeys = make(map[Key]bool, n)
	}
	for _, entries := range l.readEntries {
		for _, e := range entries {
			l.readKeys[Key{e.Agent, e.ID, e.Path}] = true
		}
	}
	l.readEntries = nil
	return l.readKeys[key]
}

// readClaimedRecords adds the records of the sessions that the wanted claims name, however old they are; it looks for them in their
// own homes. A claim without a path has none: its adapter has just looked.
func (l *Scan) readClaimedRecords(ctx context.Context, want ReadOptions, wanted func(Claim) bool) {
	refs, homes := map[Agent][]Ref{}, map[Agent][]Home{}
	for _, c := range l.claims {
		ref := Ref{c.Session, c.Path}
		if c.Path != "" && wanted(c) && !l.hasRecord(Key{c.Agent, c.Session, c.Path}) &&
			!slices.Contains(refs[c.Agent], ref) {
			refs[c.Agent] = append(refs[c.Agent], ref)
			for _, h := range l.homesOfClaim(c) {
				if !slices.ContainsFunc(homes[c.Agent], h.same) {
					homes[c.Agent] = append(homes[c.Agent], h)
				}
			}
		}
	}
	l.readRecords(ctx, l.listEntries(ctx, homes, func(a Agent) EntryFilter { return EntryFilter{Refs: refs[a], Subagents: true} }), want)
}

func anyClaim(Claim) bool { return true }

// homesOfClaim are where the session of a claim may be stored: in the home that it names, if that is a known one.
func (l *Scan) homesOfClaim(c Claim) []Home {
	all := l.homes[c.Agent]
	named := slices.DeleteFunc(slices.Clone(all), func(h Home) bool { return h.Dir != c.Home })
	if len(named) > 0 {
		return named
	}
	return all
}

// warn keeps every warning once.
func (l *Scan) warn(agent Agent, err error) {
	for _, w := range warnings(agent, err) {
		if text := w.Error(); !l.warningTexts[text] {
			l.warningTexts[text] = true
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
func (l *Scan) Result() Result {
	r := l.correlate()
	l.sortSessions(r.Sessions)
	return r
}

// filteredResult is the result with what the selection asks for. What it does not need not be sorted.
func (l *Scan) filteredResult(sel *SessionFilter) Result {
	r := l.correlate()
	r.Sessions = sel.limit(l.sortSessions(sel.matching(r.Sessions)))
	return r
}

// sortSessions sorts sessions in the order of [Compare], in place. Where processes are out of sight, what seems to live comes before
// what cannot be told.
func (l *Scan) sortSessions(list []Session) []Session {
	if !l.ProcessesHidden() {
		return sorted(list)
	}
	slices.SortFunc(list, func(a, b Session) int {
		return cmp.Or(compareBool(len(a.Processes) == 0, len(b.Processes) == 0), Compare(a, b))
	})
	return list
}

// processesHidden: what has stopped cannot be told from what lives.
func (l *Scan) ProcessesHidden() bool { return l.tableUnreadable || l.inSandbox }

// fileExists reports whether the file of a record still stands where it was read. Claude Code renames its transcript when a session
// goes to a worktree (2.1.330), Codex its rollout when one is archived.
func fileExists(r *Record) bool {
	_, err := os.Lstat(r.Path)
	return !errors.Is(err, fs.ErrNotExist)
}

// correlate is the result with its sessions in no order.
func (l *Scan) correlate() Result {
	j := newCorrelation(l.table, l.claims)
	j.exists, j.processesHidden = fileExists, l.ProcessesHidden()
	j.link()
	sessions := j.sessions(l.records)
	for i := range sessions {
		l.setTrust(&sessions[i])
		sessions[i].Group = groupOf(&sessions[i])
	}
	agents := map[proc.ID]bool{}
	for _, c := range l.claims {
		if _, live := l.table.Find(c.Process); live {
			agents[c.Process] = true
		}
	}
	return Result{
		Sessions: sessions, Warnings: l.warnings, Table: l.table, ProcessesUnknown: l.tableUnreadable, AgentProcesses: agents, SessionsByProcess: sessionsByProcess(sessions),
	}
}

// sessionsByProcess are the sessions of each process, in order.
func sessionsByProcess(sessions []Session) map[proc.ID][]Key {
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

type adapterResult[T any] struct {
	value T
	err   error
}

// MatchesBinary reports whether a binary can be an agent's.
func (w *Scanner) MatchesBinary(exe string) bool {
	for _, a := range AdaptersWith[PathWatcher](w.Adapters) {
		if a.MatchesBinary(exe) {
			return true
		}
	}
	return false
}

// WatchPaths returns the files and folders that change with a session. Of a process whose home is not ours there are none: its
// adapter would look into the home to find them.
func (w *Scanner) WatchPaths(ctx context.Context, s Session) []string {
	if s.Path == "" && s.Trust == TrustForeign {
		return nil
	}
	if a, ok := AdapterWith[PathWatcher](w.Adapters, s.Agent); ok {
		return a.WatchPaths(confineToSession(ctx, s), s)
	}
	if s.Path == "" {
		return nil
	}
	return []string{s.Path}
}

// forEachAdapter asks all agents, each with its index, at the same time; the answers keep their order.
func forEachAdapter[T any](agents []Adapter, ask func(int, Adapter) (T, error)) []adapterResult[T] {
	out := make([]adapterResult[T], len(agents))
	var wg sync.WaitGroup
	for i, a := range agents {
		wg.Go(func() { out[i].value, out[i].err = ask(i, a) })
	}
	wg.Wait()
	return out
}
