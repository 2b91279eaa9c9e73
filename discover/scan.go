package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"

	"agentctl/discover/storage"
	"agentctl/proc"
)

// Scan is one consistent reading: the process table, the homes, the claims and the records of one moment.
type Scan struct {
	scanner         *Scanner
	adapters        []Adapter
	table           *proc.Table
	tableUnreadable bool // the table could not be read and is empty
	inSandbox       bool // the table shows the inside of an agent's sandbox only
	// thorough: every process of our user is asked for what it holds, not only those that are named like an agent. Without that no
	// session may be called stopped: an agent can run under any name.
	thorough   bool
	absence    absence // what the thorough search has searched, where it was counted
	homes      map[Agent][]Home
	extraHomes map[Agent][]Home // homes of followed sessions, though nothing may name them any more
	claims     []Claim
	users      map[proc.ID]processUser // of the processes with claims

	records      [][]Record
	readKeys     map[Key]bool             // of the entries that were read
	files        map[recordID][]namedFile // with an ID
	warnings     []*Warning
	warningTexts map[string]bool // texts of warnings, to keep each once
}

// newScan returns a scan of the agents, all if there are none, with the homes that the environment and the configuration name.
func (scanner *Scanner) newScan(agents []Agent) *Scan {
	scan := (&Scan{scanner: scanner, homes: map[Agent][]Home{}, extraHomes: map[Agent][]Home{}}).emptyCopy()
	for _, a := range scanner.Adapters {
		if len(agents) == 0 || slices.Contains(agents, a.Name()) {
			scan.adapters = append(scan.adapters, a)
			scan.homes[a.Name()] = scanner.Homes(a, proc.EmptyTable())
		}
	}
	return scan
}

// emptyCopy returns a scan of the same agents and homes that has read nothing.
func (scan *Scan) emptyCopy() *Scan {
	return &Scan{
		scanner: scan.scanner, adapters: scan.adapters, homes: scan.homes, extraHomes: scan.extraHomes,
		readKeys: map[Key]bool{}, files: map[recordID][]namedFile{}, warningTexts: map[string]bool{},
	}
}

// errProcessesHidden: a session of another user may run although no process of it is visible.
var errProcessesHidden = errors.New("other users' processes are hidden; what they run may look stopped")

// errNoHome: without HOME no agent has a default home.
var errNoHome = errors.New("not an absolute directory, so the agents' homes are not known; set it, or pass --home DIR")

// readProcesses reads the process table. It returns the homes that were not known before, because only live processes name
// them. A table that cannot be read is a warning: stored sessions can be shown, though not whether they live.
func (scan *Scan) readProcesses(ctx context.Context) (fresh map[Agent][]Home, err error) {
	if scan.table, err = scan.scanner.ReadTable(ctx, !scan.thorough); ctx.Err() != nil {
		return nil, ctx.Err()
	}
	scan.inSandbox = (err == nil || errors.Is(err, proc.ErrNamespace)) && scan.scanner.seesSandboxOnly(scan.table)
	scan.tableUnreadable = err != nil && !scan.inSandbox
	switch {
	case scan.inSandbox:
		err = errInSandbox
	case scan.tableUnreadable:
		scan.table = proc.EmptyTable()
	case scan.table.Hidden() && scan.scanner.AllUsers:
		err = errProcessesHidden
	}
	if err != nil {
		scan.warn("", &Warning{Path: "processes", Err: err})
	}
	if scan.thorough {
		scan.table = scan.table.Thorough()
	}
	fresh = map[Agent][]Home{}
	for _, a := range scan.adapters {
		known := scan.homes[a.Name()]
		scan.homes[a.Name()] = scan.scanner.Homes(a, scan.table)
		if len(scan.homes[a.Name()]) == 0 && !filepath.IsAbs(scan.scanner.HomeSources(a.Name()).Getenv("HOME")) {
			scan.warn(a.Name(), &Warning{Path: "HOME", Err: errNoHome})
		}
		for _, h := range scan.homes[a.Name()] {
			if !slices.ContainsFunc(known, h.same) {
				fresh[a.Name()] = append(fresh[a.Name()], h)
			}
		}
	}
	return fresh, nil
}

// readLive reads the process table, what the live processes show, and the records of what they claim.
func (scan *Scan) readLive(ctx context.Context, options ReadOptions) error {
	if _, err := scan.readProcesses(ctx); err != nil {
		return err
	}
	scan.readClaims(ctx)
	scan.readClaimedRecords(ctx, options, anyClaim)
	return nil
}

// readClaims asks all adapters what the processes of the table show.
func (scan *Scan) readClaims(ctx context.Context) {
	claims := askAdapters(scan, func(_ int, a Adapter) ([]Claim, error) {
		homes := scan.homes[a.Name()]
		return a.Claims(scan.confine(ctx, a.Name()), scan.scanner.visibleTable(scan.table, homes), homes)
	})
	scan.claims, scan.users = nil, map[proc.ID]processUser{}
	for _, c := range slices.Concat(claims...) {
		scan.addClaim(c)
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

// addClaim adds a claim, if it is about a session of ours.
func (scan *Scan) addClaim(c Claim) {
	if !scan.isOurs(c) {
		return
	}
	c.Path = scan.canonicalPath(c)
	if p, ok := scan.table.Find(c.Process); ok && p.State.Stopped() {
		c.Meta = c.Meta.With("suspended", true) // a signal has stopped it
	}
	scan.claims = append(scan.claims, c)
}

// readClaimsOfStopped adds the claims about sessions that were read and that no claim names. They cost more than other claims, and of the
// processes that have made claims they say nothing new. It must run after the claims and all records are read, and reads those of other
// sessions that the processes run.
func (scan *Scan) readClaimsOfStopped(ctx context.Context, options ReadOptions, wanted func(Claim) bool) {
	if !scan.thorough { // a process that was not examined may live
		return
	}
	claimed, known := map[Key]bool{}, map[proc.ID]bool{}
	for _, c := range scan.claims {
		claimed[Key{c.Agent, c.Session, c.Path}], known[c.Process] = true, true
	}
	ids := map[Agent]map[string]bool{}
	for _, list := range scan.records {
		for i := range list {
			r := &list[i]
			if claimed[r.Key()] || claimed[Key{r.Agent, r.ID, ""}] {
				continue
			}
			if ids[r.Agent] == nil {
				ids[r.Agent] = map[string]bool{}
			}
			ids[r.Agent][r.ID] = true
		}
	}
	for _, a := range scan.adapters {
		if len(ids[a.Name()]) == 0 {
			continue
		}
		for _, c := range a.ClaimsOf(scan.confine(ctx, a.Name()), scan.table, scan.homes[a.Name()], ids[a.Name()]) {
			if !known[c.Process] {
				scan.addClaim(c)
			}
		}
	}
	scan.readClaimedRecords(ctx, options, wanted)
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

// askAdapters calls a function with each adapter and its index, concurrently, and returns the results in order. Errors are warnings. A panic
// of the function is repeated in the caller's goroutine: what has changed the terminal, restores it then.
func askAdapters[T any](scan *Scan, ask func(int, Adapter) (T, error)) []T {
	n := len(scan.adapters)
	values, errs, panics := make([]T, n), make([]error, n), make([]string, n)
	var wg sync.WaitGroup
	for i, a := range scan.adapters {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					panics[i] = fmt.Sprintf("%v\n%s", p, debug.Stack())
				}
			}()
			values[i], errs[i] = ask(i, a)
		})
	}
	wg.Wait()
	for i, a := range scan.adapters {
		if panics[i] != "" {
			panic(panics[i])
		}
		scan.warn(a.Name(), errs[i])
	}
	return values
}

// ProcessesHidden reports whether processes are out of sight, so that stopped sessions cannot be told from live ones.
func (scan *Scan) ProcessesHidden() bool { return scan.hidden() != "" }

// hidden says why processes are out of sight; "" if they are not.
func (scan *Scan) hidden() string {
	switch {
	case scan.tableUnreadable:
		return tableUnreadable
	case scan.inSandbox:
		return errInSandbox.Error()
	}
	return ""
}

// tableUnreadable is why any process may run a session.
const tableUnreadable = "the processes cannot be read"

// fileExists reports whether the file of a record still exists. Claude Code renames its transcript when a session goes to a
// worktree (2.1.330), Codex its rollout when one is archived.
func fileExists(r *Record) bool {
	_, err := os.Lstat(r.Path)
	return !errors.Is(err, fs.ErrNotExist)
}

// Result correlates what was read. The sessions are in order.
func (scan *Scan) Result() Result {
	scan.joinNames()
	cor := newCorrelation(scan.table, scan.claims)
	cor.exists, cor.hidden, cor.absence = fileExists, scan.hidden(), scan.absence
	cor.link()
	sessions := cor.sessions(scan.records)
	markCopies(sessions)
	for i := range sessions {
		scan.setTrust(&sessions[i])
		sessions[i].Group = cmp.Or(groupOf(&sessions[i]), sessions[i].Team)
	}
	agents := map[proc.ID]bool{}
	for _, c := range scan.claims {
		if _, live := scan.table.Find(c.Process); live {
			agents[c.Process] = true
		}
	}
	return Result{
		Sessions: scan.sortSessions(sessions), Warnings: scan.warnings, Table: scan.table, ProcessesUnknown: scan.tableUnreadable,
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

// Warning is a store, file or process that could not be read. It never stops the rest from being shown.
type Warning struct {
	// Agent is "" where it is about all of them.
	Agent Agent
	// Path is the file, directory or process it is about.
	Path string
	Err  error
}

func (w *Warning) Error() string {
	about := w.Path
	if w.Agent != "" {
		about = string(w.Agent) + ": " + about
	}
	return fmt.Sprintf("%s: %v", about, w.Err)
}

func (w *Warning) Unwrap() error { return w.Err }

// NewWarning returns the warning about a path that could not be read; err itself if it is nil or a warning already, and nil if it only says
// that the path does not exist: agents make files when they need them, and remove them while others read.
func NewWarning(agent Agent, path string, err error) error {
	if _, ok := errors.AsType[*Warning](err); ok || err == nil {
		return err
	}
	cause := storage.WithoutPath(path, err)
	if storage.IsNotExist(cause) && errors.Unwrap(cause) == nil {
		return nil
	}
	return &Warning{Agent: agent, Path: path, Err: cause}
}

// warnings returns the single errors of a joined error, each as a [Warning].
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
