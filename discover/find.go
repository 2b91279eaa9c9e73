package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"agentctl/proc"
)

// ErrNotFound: no session has that ID.
var ErrNotFound = errors.New("no such session")

// NotFoundError is an [ErrNotFound] with the argument that names no session.
type NotFoundError struct{ Arg string }

func (e *NotFoundError) Error() string { return fmt.Sprintf("%v: %s", ErrNotFound, e.Arg) }

func (e *NotFoundError) Unwrap() error { return ErrNotFound }

// ErrUnreadable: what is stored of the session cannot be read, or something in which it may be stored.
var ErrUnreadable = errors.New("cannot be read")

// AmbiguousError: an argument means several sessions.
type AmbiguousError struct {
	Arg string
	// Candidates are some of the sessions it may mean; Total is how many there are.
	Candidates []Session
	Total      int
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q matches %d sessions", e.Arg, e.Total)
}

// maxCandidates is how many of the sessions that an ambiguous argument means are read.
const maxCandidates = 10

// argument is a session as the user names it.
type argument struct {
	id  string // full ID or prefix
	dir string // with ID@PATH: the real path of the session's directory, of its agent's home, or of its file or database
	pid int    // with pid:N
}

func parseArgument(arg string) (argument, error) {
	if n, ok := strings.CutPrefix(arg, "pid:"); ok {
		pid, err := strconv.Atoi(n)
		if err != nil || pid <= 0 {
			return argument{}, fmt.Errorf("%w: %q is not a process id", ErrNotFound, n)
		}
		return argument{pid: pid}, nil
	}
	id, dir, at := strings.Cut(arg, "@")
	if id == "" {
		return argument{}, fmt.Errorf("%w: the ID is empty", ErrNotFound)
	}
	if !at {
		return argument{id: id}, nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return argument{}, err
	}
	return argument{id: id, dir: RealPath(abs)}, nil
}

// Find returns the session that an argument means: a full ID, a unique prefix of one, either with @DIR, or pid:N. For
// a pid that runs several sessions it returns all of them; otherwise exactly one. Errors: [ErrNotFound], [ErrUnreadable],
// [*AmbiguousError], with which the result's warnings are valid, and the context's.
func (scanner *Scanner) Find(ctx context.Context, arg string, agents []Agent, options ReadOptions) (Result, error) {
	a, err := parseArgument(arg)
	if err != nil {
		return Result{}, err
	}
	if a.pid > 0 {
		return scanner.findPID(ctx, a.pid, agents, options)
	}
	scan := scanner.newScan(agents)
	scan.thorough = true
	entries, total, err := scan.readMatching(ctx, a, options)
	if err != nil {
		return Result{}, err
	}
	makers := scan.agentsByIDShape(a.id)
	for _, e := range entries {
		if len(makers) > 0 { // another agent has stored a session under an ID of their shape
			makers = append(makers, e.Agent)
		}
	}
	// Only what may be the session is read, so that the session may be in a store that could not be read, or that is not known.
	mayStore := func(a Agent) bool { return len(makers) == 0 || slices.Contains(makers, a) }
	unread := slices.ContainsFunc(scan.warnings, func(w *Warning) bool {
		return w.Agent != "" && !errors.Is(w, fs.ErrNotExist) && mayStore(w.Agent)
	}) || slices.ContainsFunc(scan.adapters, func(a Adapter) bool { return len(scan.homes[a.Name()]) == 0 && mayStore(a.Name()) })
	scan.readClaims(ctx)
	if options.Full { // this reads all processes, so only the explanation of one session is worth it
		scan.absence.searched, scan.absence.unreadable = scan.table.Examined(func(p proc.Process) bool { return p.UID == scanner.UID })
	}
	// Only records with this ID are read, but all claims count: claims of other sessions can decide about this one.
	wanted := func(c Claim) bool { return strings.HasPrefix(c.Session, a.id) }
	scan.readClaimedRecords(ctx, options, wanted)
	scan.readClaimsOfStopped(ctx, options, wanted)
	if err := ctx.Err(); err != nil {
		return Result{}, err // half a scan says nothing
	}
	r := scan.Result()
	r.Sessions = a.filter(r.Sessions)
	switch n := len(r.Sessions); {
	case n == 1:
		return r, nil
	case n > 1:
		return r, &AmbiguousError{Arg: arg, Candidates: r.Sessions, Total: max(total, n)}
	case !unread:
		return r, &NotFoundError{arg}
	case total > 0:
		return r, fmt.Errorf("session %s is stored, and %w", arg, ErrUnreadable)
	}
	return r, fmt.Errorf("no session %s in what can be read; where it may be stored %w", arg, ErrUnreadable)
}

// agentsByIDShape returns the agents whose IDs have the shape of this full ID.
func (scan *Scan) agentsByIDShape(id string) (agents []Agent) {
	for _, a := range scan.adapters {
		if a.MatchesID(id) {
			agents = append(agents, a.Name())
		}
	}
	return agents
}

// readMatching reads the stored sessions that the argument may mean, and then the process table. It returns how many there
// are. Of very many it reads some.
func (scan *Scan) readMatching(ctx context.Context, a argument, options ReadOptions) (entries []Entry, total int, err error) {
	for fresh := scan.homes; len(fresh) > 0; {
		found := scan.listMatching(ctx, fresh, a)
		entries = preferExactID(a.id, sortByUpdated(append(entries, found...)))
		if total = len(entries); a.dir == "" && total > maxCandidates {
			entries = entries[:maxCandidates]
		}
		scan.readRecords(ctx, scan.splitByAgent(entries), options)
		if fresh, err = scan.readProcesses(ctx); err != nil {
			return nil, 0, err
		}
	}
	return entries, total, nil
}

// listMatching lists the entries whose ID is the argument's or begins with it. A full ID is searched for in the stores of the
// agents whose IDs have its shape, and in others only if it is not found: IDs are random, so that another agent has the same
// ID only if the user gave it. ID@DIR searches the stores of all agents.
func (scan *Scan) listMatching(ctx context.Context, homes map[Agent][]Home, a argument) []Entry {
	makers, others := map[Agent][]Home{}, maps.Clone(homes)
	if a.dir == "" {
		for _, agent := range scan.agentsByIDShape(a.id) {
			makers[agent] = homes[agent]
			delete(others, agent)
		}
	}
	filter := EntryFilter{ID: a.id, Subagents: true}
	found := slices.Concat(scan.listEntries(ctx, makers, filter)...)
	if slices.ContainsFunc(found, func(e Entry) bool { return e.ID == a.id }) {
		return found
	}
	return append(found, slices.Concat(scan.listEntries(ctx, others, filter)...)...)
}

// preferExactID returns the entries with exactly that ID, or all if there are none.
func preferExactID(id string, entries []Entry) []Entry {
	same := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.ID != id })
	if len(same) > 0 {
		return same
	}
	return entries
}

// filter returns the sessions that the argument means. An exact ID beats a prefix, and a session beats its sub-agents.
func (a argument) filter(sessions []Session) []Session {
	sessions = slices.DeleteFunc(sessions, func(s Session) bool {
		return s.ID == "" || !strings.HasPrefix(s.ID, a.id) || !a.isAt(s)
	})
	for _, better := range []func(Session) bool{
		func(s Session) bool { return s.ID == a.id },
		func(s Session) bool { return !s.IsSubagent() },
	} {
		if slices.ContainsFunc(sessions, better) {
			sessions = slices.DeleteFunc(sessions, func(s Session) bool { return !better(s) })
		}
	}
	if a.dir == "" || slices.ContainsFunc(sessions, func(s Session) bool { return s.recordID() != sessions[0].recordID() }) {
		return sessions
	}
	mains := mainSessions(sessions) // a home may have a copy beside the session
	var kept []Session
	for i, s := range sessions {
		if mains[i] == i {
			kept = append(kept, s)
		}
	}
	return kept
}

// isAt reports whether the session is where the argument says: in that directory, home or file. Without a place a copy is not meant.
func (a argument) isAt(s Session) bool {
	if a.dir == "" || RealPath(s.Dir) == a.dir {
		return !s.Copy
	}
	if RealPath(s.Home) == a.dir || RealPath(s.Path) == a.dir {
		return true
	}
	others, _ := s.Meta[otherPathsKey].([]string)
	inHome := func(path string) bool { return Within(path, a.dir) && len(a.dir) > 1 }
	return slices.ContainsFunc(others, inHome) || s.ProcessHome() != s.Home && RealPath(s.ProcessHome()) == a.dir
}

func (scanner *Scanner) findPID(ctx context.Context, pid int, agents []Agent, options ReadOptions) (Result, error) {
	scan := scanner.newScan(agents)
	scan.thorough = true // the process may have any name
	if err := cmp.Or(scan.readLive(ctx, options), ctx.Err()); err != nil {
		return Result{}, err
	}
	r := scan.Result()
	r.Sessions = slices.DeleteFunc(r.Sessions, func(s Session) bool { return !s.RunByOrShownIn(pid) })
	if len(r.Sessions) == 0 {
		r = scan.addForeignProcess(ctx, r, pid)
	}
	if len(r.Sessions) == 0 {
		return r, fmt.Errorf("%w: process %d runs no session", ErrNotFound, pid)
	}
	return r, nil
}

// HasPID reports whether a process with this pid runs the session.
func (s Session) HasPID(pid int) bool { return containsPID(s.Processes, pid) }

// RunByOrShownIn reports whether a process with this pid runs the session, or is a client that shows it.
func (s Session) RunByOrShownIn(pid int) bool { return containsPID(s.AllProcesses(), pid) }

func containsPID(list []proc.Process, pid int) bool {
	return slices.ContainsFunc(list, func(p proc.Process) bool { return p.ID.PID == pid })
}

// addForeignProcess adds another user's agent that was asked for by its pid, as the process table shows it. Its home is not
// opened, so its session and status are unknown.
func (scan *Scan) addForeignProcess(ctx context.Context, r Result, pid int) Result {
	p, ok := scan.table.ByPID(pid)
	if !ok || scan.scanner.AllUsers || userOf(p).uid == scan.scanner.UID {
		return r
	}
	alone := scan.table.Filter(func(o proc.Process) bool { return o.ID == p.ID })
	var claims []Claim
	for _, a := range scan.adapters {
		found, _ := a.Claims(ctx, alone, nil) // the warning below covers it
		for _, c := range found {
			if c.Session != "" || c.Process != p.ID {
				continue
			}
			c.Unreadable = fmt.Sprintf("it belongs to user %d; --all-users looks into its home", userOf(p).uid)
			c.Home, c.HideIfUnlinked, c.Turn = "", false, nil
			claims = append(claims, c)
			scan.warn(a.Name(), &Warning{Agent: a.Name(), Path: p.ID.String(), Err: errors.New(c.Unreadable)})
		}
	}
	r.Sessions, r.Warnings = Correlate(scan.table, claims), scan.warnings
	return r
}
