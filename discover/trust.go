package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover/storage"
	"agentctl/proc"
)

// Trust is how far a home is trusted, by who names it. The zero value is the least.
type Trust uint8

const (
	// TrustForeign: another user, or a process in other namespaces than ours, names the home. It is not even opened, unless
	// [Scanner.AllUsers] asks for it, and never acted on.
	TrustForeign Trust = iota
	// TrustSeen: only live processes of our own user, in our own namespaces, name the home. It is read and shown, and never acted
	// on: no command is started with its paths, and nothing is sent to what listens for it. A sandboxed agent can name any home.
	TrustSeen
	// TrustOurs: our own environment, the agent's default or the user (configuration, --home) names the home, whoever owns it.
	// An agent that we start would use it as well.
	TrustOurs
)

// String is the word used in messages and in JSON.
func (t Trust) String() string {
	return [...]string{TrustForeign: "foreign", TrustSeen: "seen", TrustOurs: "ours"}[t]
}

// seenInKey is the fact with the pid of a process that names the session's home, if that is [TrustSeen].
const seenInKey = "homeSeenIn"

// Homes returns the agent's homes that may be read, each with its trust. Nothing else asks an adapter for homes.
func (scanner *Scanner) Homes(a Adapter, table *proc.Table) []Home {
	list := a.Homes(scanner.HomeSources(a.Name()), scanner.visibleTable(table, nil))
	for i := range list {
		list[i].Trust, list[i].SeenInPID = scanner.trust(list[i], table)
	}
	return slices.DeleteFunc(list, func(h Home) bool { return h.Trust == TrustForeign && !scanner.AllUsers })
}

// trust decides how far a home is trusted, and names the process that a seen one was seen in.
func (scanner *Scanner) trust(h Home, table *proc.Table) (Trust, int) {
	if h.FromUser || h.Explicit {
		return TrustOurs, 0
	}
	for _, id := range h.NamedBy {
		if p, ok := table.Find(id); ok {
			if user := userOf(p); user.uid == scanner.UID && user.sharesNamespaces {
				return TrustSeen, id.PID
			}
		}
	}
	return TrustForeign, 0
}

// processUser is who runs a process.
type processUser struct {
	uid int // effective
	// sharesNamespaces: the paths, users and pids that the process names mean the same to us, since it is in our namespaces. False where that
	// cannot be told.
	sharesNamespaces bool
}

func userOf(p proc.Process) processUser {
	s, err := p.Credentials()
	if err != nil {
		return processUser{uid: p.UID}
	}
	return processUser{s.UID, s.Unshared&(proc.UserNamespace|proc.PIDNamespace|proc.MountNamespace) == 0}
}

// Reachable reports whether a process may be sent something: it is our own user's, and its paths and ports are ours. It is
// asked anew, since this is for those who are about to act.
func (scanner *Scanner) Reachable(p proc.Process) bool {
	s, err := p.Credentials()
	return err == nil && s.UID == scanner.UID && s.Unshared == 0
}

// visibleTable returns the table that adapters get: without the processes of other users, unless AllUsers. It includes root
// and the owners of our homes, since they may run sessions that are stored there; [Scan.isOurs] leaves out what their
// processes show of other homes.
func (scanner *Scanner) visibleTable(table *proc.Table, homes []Home) *proc.Table {
	if scanner.AllUsers {
		return table
	}
	users := []int{scanner.UID, 0}
	for _, h := range homes {
		if owner, ok := dirOwner(h.Dir); ok && h.Trust == TrustOurs {
			users = append(users, owner)
		}
	}
	return table.Filter(func(p proc.Process) bool { return p.UID < 0 || slices.Contains(users, p.UID) })
}

// isOurs reports whether a claim is about our own sessions: of a process of our user, or of a process of root's or of the
// home's owner about a home of ours. A process in other namespaces
// names no session without its home: that could be taken for one of ours.
func (scan *Scan) isOurs(c Claim) bool {
	p, ok := scan.table.Find(c.Process)
	if !ok || scan.scanner.AllUsers {
		return true // one of the dead never counts
	}
	h, ok := homeOf(scan.homes[c.Agent], c.Home, c.Path)
	user, known := scan.users[p.ID]
	if !known {
		user = userOf(p)
		scan.users[p.ID] = user
	}
	switch {
	case user.uid < 0 || user.uid == scan.scanner.UID:
		return c.Home != "" || c.Session == "" || user.sharesNamespaces
	case !ok || h.Trust != TrustOurs:
		return false
	}
	owner, ok := dirOwner(h.Dir)
	return user.uid == 0 || ok && user.uid == owner
}

// homeOf finds the home of a session by the home's directory and the session's file or database.
func homeOf(homes []Home, dir, path string) (Home, bool) {
	var found Home
	ok := false
	for _, h := range homes {
		switch {
		case h.Dir != dir || h.FilesOnly && !slices.Contains(h.Files, path):
		case h.FilesOnly || !ok:
			found, ok = h, true
		}
	}
	return found, ok
}

func (scan *Scan) setTrust(s *Session) {
	h, ok := homeOf(scan.homes[s.Agent], s.Home, s.Path)
	if !ok {
		h, _ = homeOf(scan.extraHomes[s.Agent], s.Home, s.Path)
	}
	if s.Trust = h.Trust; h.Trust == TrustSeen {
		record := *s.Record // sessions share records
		record.SetMeta(seenInKey, h.SeenInPID)
		s.Record = &record
	}
}

// UntrustedError: no action was taken on a session, because the user has not named its home.
type UntrustedError struct {
	// Action is what was not done, as in "resume".
	Action  string
	Session Session
}

func (e *UntrustedError) Error() string {
	s := e.Session
	if s.Trust == TrustSeen {
		return fmt.Sprintf("%s: %s was found only through process %v; name it with --home to act on it",
			e.Action, e.Home(), s.Meta[seenInKey])
	}
	if s.Home == "" {
		return e.Action + ": which home the session is stored in is not known"
	}
	return fmt.Sprintf("%s: %s belongs to another user, or to a process in another namespace, and is not acted on", e.Action, e.Home())
}

// Home returns what the user has to name to allow the action: the session's home, or a database outside of it.
func (e *UntrustedError) Home() string {
	if e.Session.isOutsideHome() {
		return e.Session.Path
	}
	return e.Session.Home
}

// CheckTrust returns an [*UntrustedError] if the session's agent must not be used to act on it: by commands with the paths of
// its home, or by messages to its server. what is the action, as in "resume".
func (s Session) CheckTrust(what string) error {
	if s.Trust == TrustOurs {
		return nil
	}
	return &UntrustedError{what, s}
}

// CheckPath returns nil if the path is inside the home. In a home of [TrustOurs] everything does: its owner may keep a part of it
// on another disk. In any other, no symbolic link may lead out of it, nor be in place of a database that was named: a
// sandboxed agent could have us read what it may not. A link into one of the ours is followed: people share one store among
// several homes. Error: [storage.ErrEscapes]; others where that cannot be told. A path that leads nowhere is kept: its reader
// says so.
func (h Home) CheckPath(path string, ours ...Home) error {
	if h.Trust == TrustOurs {
		return nil
	}
	root := h.Dir
	if slices.Contains(h.Files, path) {
		root = filepath.Dir(path)
	}
	realRoot, err := filepath.EvalSymlinks(root)
	real, failed := filepath.EvalSymlinks(path)
	switch err = cmp.Or(err, failed); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case slices.ContainsFunc(ours, func(o Home) bool { return o.Trust == TrustOurs && !o.FilesOnly && Within(real, RealPath(o.Dir)) }):
		return nil
	case root != h.Dir && real != filepath.Join(realRoot, filepath.Base(path)), !Within(real, realRoot):
		return storage.ErrEscapes
	}
	return nil
}

// Within reports whether a path is a directory, or below it, by their names. Nothing is within "".
func Within(path, dir string) bool {
	return dir != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
}

// dropOutside removes the entries that lead out of their homes. The error is warnings, one for each file.
func dropOutside(homes []Home, entries []Entry) ([]Entry, error) {
	if !slices.ContainsFunc(homes, func(h Home) bool { return h.Trust != TrustOurs }) {
		return entries, nil
	}
	var errs []error
	kept := map[string]bool{} // by path: a database has many entries
	entries = slices.DeleteFunc(entries, func(e Entry) bool {
		keeps, known := kept[e.Path]
		if h, ok := homeOf(homes, e.Home, e.Path); !known {
			keeps = true
			if err := h.CheckPath(e.Path, homes...); ok && err != nil {
				keeps, errs = false, append(errs, &Warning{Agent: e.Agent, Path: e.Path, Err: err})
			}
			kept[e.Path] = keeps
		}
		return !keeps
	})
	return entries, errors.Join(errs...)
}

// Confine returns a context in which an adapter opens nothing of the homes that a link leads out of them to, unless they are
// [TrustOurs].
func Confine(ctx context.Context, homes []Home) context.Context {
	roots := make([]storage.Root, len(homes))
	for i, h := range homes {
		roots[i] = storage.Root{Dir: h.Dir, Files: h.Files, AllowEscape: h.Trust == TrustOurs}
		if h.FilesOnly {
			roots[i].Dir = ""
		}
	}
	return storage.Confine(ctx, roots...)
}

func (scan *Scan) confine(ctx context.Context, agent Agent) context.Context {
	return Confine(ctx, slices.Concat(scan.homes[agent], scan.extraHomes[agent]))
}

func confineToSession(ctx context.Context, s Session) context.Context {
	h := Home{Dir: s.Home, Trust: s.Trust}
	if s.isOutsideHome() {
		h.Files = []string{s.Path}
	}
	return Confine(ctx, []Home{h})
}
