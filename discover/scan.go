package discover

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"

	"agentctl/proc"
)

// Scan is one consistent reading: the process table, the homes, the claims and the records of one moment.
type Scan struct {
	scanner         *Scanner
	adapters        []Adapter
	table           *proc.Table
	tableUnreadable bool // the table could not be read and is empty
	inSandbox       bool // the table shows the inside of an agent's sandbox only
	homes           map[Agent][]Home
	extraHomes      map[Agent][]Home // homes of followed sessions, though nothing may name them any more
	claims          []Claim

	records      [][]Record
	readEntries  [][]Entry    // entries that were read and have no key in readKeys yet
	readKeys     map[Key]bool // keys of all other entries that were read
	warnings     []*Warning
	warningTexts map[string]bool // texts of warnings, to keep each once
}

// newScan returns a scan of the agents, all if there are none, with the homes that the environment and the configuration name.
func (scanner *Scanner) newScan(agents []Agent) *Scan {
	scan := &Scan{scanner: scanner, homes: map[Agent][]Home{}, extraHomes: map[Agent][]Home{}, warningTexts: map[string]bool{}}
	for _, a := range scanner.Adapters {
		if len(agents) == 0 || slices.Contains(agents, a.Name()) {
			scan.adapters = append(scan.adapters, a)
			scan.homes[a.Name()] = scanner.Homes(a, proc.EmptyTable())
		}
	}
	return scan
}

// errProcessesHidden: a session of another user may run although no process of it is visible.
var errProcessesHidden = errors.New("other users' processes are hidden; what they run may look stopped")

// readProcesses reads the process table. It returns the homes that were not known before, because only live processes name
// them. A table that cannot be read is a warning: stored sessions can be shown, though not whether they live.
func (scan *Scan) readProcesses(ctx context.Context) (fresh map[Agent][]Home, err error) {
	if scan.table, err = scan.scanner.ReadTable(ctx); ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if scan.inSandbox = errors.Is(err, proc.ErrNamespace) && scan.scanner.seesSandboxOnly(scan.table); scan.inSandbox {
		scan.warn("", &Warning{Path: "processes", Err: errInSandbox})
	} else if scan.tableUnreadable = err != nil; scan.tableUnreadable {
		scan.table = proc.EmptyTable()
		scan.warn("", &Warning{Path: "processes", Err: err})
	} else if scan.table.Hidden() && scan.scanner.AllUsers {
		scan.warn("", &Warning{Path: "processes", Err: errProcessesHidden})
	} else if scan.inSandbox = scan.scanner.seesSandboxOnly(scan.table); scan.inSandbox {
		scan.warn("", &Warning{Path: "processes", Err: errInSandbox})
	}
	fresh = map[Agent][]Home{}
	for _, a := range scan.adapters {
		known := scan.homes[a.Name()]
		scan.homes[a.Name()] = scan.scanner.Homes(a, scan.table)
		for _, h := range scan.homes[a.Name()] {
			if !slices.ContainsFunc(known, h.same) {
				fresh[a.Name()] = append(fresh[a.Name()], h)
			}
		}
	}
	return fresh, nil
}

// readLive reads the process table, what the live processes show, and the records of what they claim.
func (scan *Scan) readLive(ctx context.Context, want ReadOptions) error {
	if _, err := scan.readProcesses(ctx); err != nil {
		return err
	}
	scan.readClaims(ctx)
	scan.readClaimedRecords(ctx, want, anyClaim)
	return nil
}

// AddClaim adds a claim of a session that is looked up in the stores by its ID alone. The warnings that the process of the
// claim and its sandbox hide something are dropped.
func (scan *Scan) AddClaim(ctx context.Context, c Claim) {
	found := scan.listEntries(ctx, map[Agent][]Home{c.Agent: scan.homes[c.Agent]}, func(Agent) EntryFilter {
		return EntryFilter{Refs: []Ref{{ID: c.Session}}, Subagents: true}
	})
	if all := slices.Concat(found...); len(all) == 1 {
		c.Path, c.Home = all[0].Path, all[0].Home
	}
	scan.claims = append(scan.claims, c)
	scan.readRecords(ctx, found, ReadOptions{})
	scan.warnings = slices.DeleteFunc(scan.warnings, func(warning *Warning) bool {
		return warning.Path == c.Process.String() || errors.Is(warning, errInSandbox)
	})
}

// ReadByID adds the records of the sessions with these IDs, from all known homes.
func (scan *Scan) ReadByID(ctx context.Context, ids map[Agent][]string) {
	refs, homes := map[Agent][]Ref{}, map[Agent][]Home{}
	for agent, list := range ids {
		for _, id := range list {
			refs[agent] = append(refs[agent], Ref{ID: id})
		}
		homes[agent] = scan.homes[agent]
	}
	scan.readRefs(ctx, homes, refs, ReadOptions{})
}

// readClaims asks all adapters what the processes of the table show.
func (scan *Scan) readClaims(ctx context.Context) {
	results := forEachAdapter(scan.adapters, func(_ int, a Adapter) ([]Claim, error) {
		homes := scan.homes[a.Name()]
		return a.Claims(scan.confine(ctx, a.Name()), scan.scanner.visibleTable(scan.table, homes), homes)
	})
	scan.claims = nil
	for i, r := range results {
		for _, c := range r.value {
			if scan.isOurs(c) {
				scan.claims = append(scan.claims, c)
			}
		}
		scan.warn(scan.adapters[i].Name(), r.err)
	}
	if err := scan.table.Err(); err != nil {
		scan.tableUnreadable = true // what could not be read may run any of them
		scan.warn("", &Warning{Path: "processes", Err: err})
	}
	for _, c := range scan.claims {
		if c.Session == "" && c.Unreadable != "" {
			scan.warn(c.Agent, &Warning{Agent: c.Agent, Path: c.Process.String(), Err: errors.New(c.Unreadable)})
		}
	}
}

// listEntries lists what the stores in the given homes hold. It returns one list for each adapter.
func (scan *Scan) listEntries(ctx context.Context, homes map[Agent][]Home, query func(Agent) EntryFilter) [][]Entry {
	results := forEachAdapter(scan.adapters, func(_ int, a Adapter) ([]Entry, error) {
		if len(homes[a.Name()]) == 0 {
			return nil, nil
		}
		entries, err := a.Entries(scan.confine(ctx, a.Name()), homes[a.Name()], query(a.Name()))
		entries, left := dropOutside(homes[a.Name()], entries)
		return entries, errors.Join(err, left)
	})
	out := make([][]Entry, len(results))
	for i, r := range results {
		out[i] = r.value
		scan.warn(scan.adapters[i].Name(), r.err)
	}
	return out
}

// sortByUpdated sorts entries by their last change, newest first, in place.
func sortByUpdated(entries []Entry) []Entry {
	slices.SortStableFunc(entries, func(a, b Entry) int { return b.Updated.Compare(a.Updated) })
	return entries
}

// splitByAgent returns one list of entries for each adapter.
func (scan *Scan) splitByAgent(entries []Entry) [][]Entry {
	out := make([][]Entry, len(scan.adapters))
	for _, e := range entries {
		i := slices.IndexFunc(scan.adapters, func(a Adapter) bool { return a.Name() == e.Agent })
		out[i] = append(out[i], e)
	}
	return out
}

// readRecords adds the records of the entries, one list for each adapter. Entries that were read before are left out.
func (scan *Scan) readRecords(ctx context.Context, entries [][]Entry, want ReadOptions) {
	if len(scan.readKeys)+len(scan.readEntries) > 0 {
		for i := range entries {
			entries[i] = slices.DeleteFunc(entries[i], func(e Entry) bool { return scan.hasRecord(Key{e.Agent, e.ID, e.Path}) })
		}
	}
	scan.readEntries = append(scan.readEntries, entries...)
	results := forEachAdapter(scan.adapters, func(i int, a Adapter) (records []Record, err error) {
		if len(entries[i]) == 0 {
			return nil, nil
		}
		var errs []error
		records = make([]Record, 0, len(entries[i]))
		for r, err := range a.Read(scan.confine(ctx, a.Name()), entries[i], want) {
			if err != nil {
				errs = append(errs, err)
				continue
			}
			records = append(records, r)
		}
		return records, errors.Join(errs...)
	})
	for i, r := range results {
		scan.records = append(scan.records, r.value)
		scan.warn(scan.adapters[i].Name(), r.err)
	}
}

// hasRecord reports whether an entry with this key was read. It builds the index when it is first called: most scans never
// need one.
func (scan *Scan) hasRecord(key Key) bool {
	if len(scan.readKeys) == 0 { // mostly the index is built once, of all entries: growing would take twice the memory
		n := 0
		for _, entries := range scan.readEntries {
			n += len(entries)
		}
		scan.readKeys = make(map[Key]bool, n)
	}
	for _, entries := range scan.readEntries {
		for _, e := range entries {
			scan.readKeys[Key{e.Agent, e.ID, e.Path}] = true
		}
	}
	scan.readEntries = nil
	return scan.readKeys[key]
}

// readClaimedRecords adds the records of the sessions that the wanted claims name, however old they are. A claim without a
// path has no record: its adapter has just searched for one.
func (scan *Scan) readClaimedRecords(ctx context.Context, want ReadOptions, wanted func(Claim) bool) {
	refs, homes := map[Agent][]Ref{}, map[Agent][]Home{}
	for _, c := range scan.claims {
		ref := Ref{c.Session, c.Path}
		if c.Path != "" && wanted(c) && !scan.hasRecord(Key{c.Agent, c.Session, c.Path}) &&
			!slices.Contains(refs[c.Agent], ref) {
			refs[c.Agent] = append(refs[c.Agent], ref)
			for _, h := range scan.homesOfClaim(c) {
				if !slices.ContainsFunc(homes[c.Agent], h.same) {
					homes[c.Agent] = append(homes[c.Agent], h)
				}
			}
		}
	}
	filter := func(a Agent) EntryFilter { return EntryFilter{Refs: refs[a], Subagents: true} }
	scan.readRecords(ctx, scan.listEntries(ctx, homes, filter), want)
}

func anyClaim(Claim) bool { return true }

// homesOfClaim returns the homes in which the session of a claim may be stored: the home that it names, if that is known, or
// else all.
func (scan *Scan) homesOfClaim(c Claim) []Home {
	all := scan.homes[c.Agent]
	named := slices.DeleteFunc(slices.Clone(all), func(h Home) bool { return h.Dir != c.Home })
	if len(named) > 0 {
		return named
	}
	return all
}

// warn adds the warnings of an error, each once.
func (scan *Scan) warn(agent Agent, err error) {
	for _, w := range warnings(agent, err) {
		if text := w.Error(); !scan.warningTexts[text] {
			scan.warningTexts[text] = true
			scan.warnings = append(scan.warnings, w)
		}
	}
}

// Result correlates what was read. The sessions are in order.
func (scan *Scan) Result() Result {
	r := scan.correlate()
	scan.sortSessions(r.Sessions)
	return r
}

// filteredResult returns the result with the sessions that match the filter. It sorts no others.
func (scan *Scan) filteredResult(sel *SessionFilter) Result {
	r := scan.correlate()
	r.Sessions = sel.limit(scan.sortSessions(sel.matching(r.Sessions)))
	return r
}

// ProcessesHidden reports whether processes are out of sight, so that stopped sessions cannot be told from live ones.
func (scan *Scan) ProcessesHidden() bool { return scan.tableUnreadable || scan.inSandbox }

// fileExists reports whether the file of a record still exists. Claude Code renames its transcript when a session goes to a
// worktree (2.1.330), Codex its rollout when one is archived.
func fileExists(r *Record) bool {
	_, err := os.Lstat(r.Path)
	return !errors.Is(err, fs.ErrNotExist)
}

// correlate returns the result with its sessions in no order.
func (scan *Scan) correlate() Result {
	j := newCorrelation(scan.table, scan.claims)
	j.exists, j.processesHidden = fileExists, scan.ProcessesHidden()
	j.link()
	sessions := j.sessions(scan.records)
	for i := range sessions {
		scan.setTrust(&sessions[i])
		sessions[i].Group = groupOf(&sessions[i])
	}
	agents := map[proc.ID]bool{}
	for _, c := range scan.claims {
		if _, live := scan.table.Find(c.Process); live {
			agents[c.Process] = true
		}
	}
	return Result{
		Sessions: sessions, Warnings: scan.warnings, Table: scan.table, ProcessesUnknown: scan.tableUnreadable,
		AgentProcesses: agents, SessionsByProcess: sessionsByProcess(sessions),
	}
}

// sessionsByProcess returns the sessions that each process runs, in order.
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

// forEachAdapter calls a function with each adapter and its index, concurrently. The results keep the order.
func forEachAdapter[T any](agents []Adapter, ask func(int, Adapter) (T, error)) []adapterResult[T] {
	out := make([]adapterResult[T], len(agents))
	var wg sync.WaitGroup
	for i, a := range agents {
		wg.Go(func() { out[i].value, out[i].err = ask(i, a) })
	}
	wg.Wait()
	return out
}
