package pi

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/proc"
)

// Claims returns which live processes run which sessions. Pi holds nothing open and leaves no trace of the session that it shows, so there
// is
//
//   - "launch" (exact; strong until the session is stored): agentctl has started the process for it
//   - "tool" (exact): a live tool of the process names it
//   - "output" (exact): the process prints its events, and it began with the process
//   - "start" (strong), "written" (weak): it is the only one in the process's directory that was written since the process started and that
//     no other process began with; it was made when the process started, or not
//
// A process that none of the first four tie to a session may run any session of its directory.
func (Adapter) Claims(ctx context.Context, table *proc.Table, homes []discover.Home) ([]discover.Claim, error) {
	s := processScan{ctx: ctx, processes: presences(table)}
	for _, x := range s.processes {
		x.findStore(ctx, homes)
	}
	found := make([][]discover.Claim, len(s.processes))
	var unnamed []*process
	for i, x := range s.processes {
		if found[i] = s.namedClaims(x, homes); len(found[i]) == 0 && x.store != "" && x.dir != "" {
			unnamed = append(unnamed, x)
		}
		for _, c := range found[i] {
			s.named = append(s.named, c.Path)
		}
	}
	var claims []discover.Claim
	for i, x := range s.processes {
		if slices.Contains(unnamed, x) {
			found[i] = s.writtenClaim(x, unnamed)
		}
		claims = append(append(claims, x.presence(found[i])), found[i]...)
	}
	return claims, errors.Join(append(s.warnings, ctx.Err())...)
}

// processScan is one reading of the live processes.
type processScan struct {
	ctx       context.Context // of the call
	processes []*process
	named     []string // the paths of sessions that are tied to a process
	warnings  []error
}

// newClaim returns a claim with what is known of the process.
func (x *process) newClaim() discover.Claim {
	c := discover.Claim{Agent: agentName, Process: x.ID, Home: x.store, Dir: x.dir, Version: x.version, Unreadable: x.unreadable}
	if x.launched != "" {
		c.Source = "print"
	}
	if x.State.Stopped() {
		c.Meta = discover.Facts{"suspended": true}
	}
	return c
}

// presence returns the claim that the process is alive. sessions are the claims about its session.
func (x *process) presence(sessions []discover.Claim) discover.Claim {
	c := x.newClaim()
	c.Strength, c.Kind, c.Detail = discover.Exact, "process", "it calls itself "+programName
	isSure := slices.ContainsFunc(sessions, func(s discover.Claim) bool { return s.Strength > discover.Weak })
	c.NameOnly, c.MayRunAny = !isSure && (x.version == "" || len(sessions) > 0), !isSure // nobody is ended for a session that he may not run
	if x.hasTerminal && !x.hasSocket && len(sessions) == 0 {                             // it asks no model and has no tool
		c.Turn = &discover.Turn{State: discover.TurnNone}
	}
	return c
}

// sessionClaim returns the claim that the process runs a session, which is stored in this file, "" if in none.
func (x *process) sessionClaim(id, home, path string, strength discover.Strength, kind, detail string) discover.Claim {
	c := x.newClaim()
	c.Session, c.Path, c.Strength, c.Kind, c.Detail = id, path, strength, kind, detail
	if path != "" {
		c.Home, c.Dir = home, "" // a process may work in another directory than its session, whose file names it
	}
	return c
}

// namedClaims returns the claims of a process that name its session.
func (s *processScan) namedClaims(x *process, homes []discover.Home) (claims []discover.Claim) {
	if id, path := x.launched, ""; id != "" && x.store != "" {
		home, strength := x.store, discover.Exact
		if filepath.IsAbs(id) {
			path, id = id, idOfFile(id)
			home, path = s.locate(homes, path)
		} else if path = s.find(x.sessionFolder(x.dir), id); path == "" {
			strength = discover.Strong // it may not have got that far
		}
		if isSessionID(id) {
			claims = append(claims, x.sessionClaim(id, home, path, strength, "launch", "agentctl has started it for this session"))
		}
	}
	for _, t := range x.toolSessions() {
		home, path := "", ""
		if x.store != "" { // else its paths may be another system's
			home, path = s.locate(homes, t.path)
		}
		claims = append(claims, x.sessionClaim(t.id, home, path, discover.Exact, "tool", fmt.Sprintf("its tool pid %d names the session", t.pid)))
	}
	if id, dir := x.outputHeader(s.ctx); id != "" && !slices.ContainsFunc(s.processes, x.sharesOutput) {
		c := x.sessionClaim(id, x.store, s.find(x.sessionFolder(dir), id), discover.Exact, "output", "its stdout, a file, begins with the header of the session")
		c.Source = "print"
		claims = append(claims, c)
	}
	return claims
}

// locate returns the home that contains a session's file, and its path in that; both are "" if there is no such file in a known home.
func (s *processScan) locate(homes []discover.Home, file string) (home, path string) {
	if _, ok := parseFileName(filepath.Base(file)); !ok || !filepath.IsAbs(file) {
		return "", ""
	}
	real := discover.RealPath(filepath.Dir(file))
	for _, h := range homes {
		rel, err := filepath.Rel(discover.RealPath(h.Dir), real)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		path := filepath.Join(h.Dir, rel, filepath.Base(file))
		if _, err := storage.Stat(s.ctx, path); err == nil {
			return h.Dir, path
		}
	}
	return "", ""
}

// storedFile is a session's file.
type storedFile struct {
	fileName
	path string
}

// list returns the files of a folder; none if it does not exist.
func (s *processScan) list(folder string) (files []storedFile) {
	if folder == "" {
		return nil
	}
	entries, err := storage.ReadDir(s.ctx, folder)
	s.warnings = append(s.warnings, warning(folder, err))
	for _, e := range entries {
		if name, ok := parseFileName(e.Name()); ok {
			files = append(files, storedFile{name, filepath.Join(folder, e.Name())})
		}
	}
	return files
}

// find returns the path of the newest session with this ID in a folder; "" if there is none.
func (s *processScan) find(folder, id string) string {
	newest := storedFile{}
	for _, f := range s.list(folder) {
		if f.id == id && !f.made.Before(newest.made) {
			newest = f
		}
	}
	return newest.path
}

// writtenClaim returns the claim by times, if they leave one choice. unnamed are all processes of whose session nothing else is known.
func (s *processScan) writtenClaim(x *process, unnamed []*process) []discover.Claim {
	own := slices.DeleteFunc(s.candidates(x), func(c storedFile) bool {
		var began []*process
		for _, y := range unnamed {
			if y.madeAtStart(c.made) && y.sessionFolder(y.dir) == x.sessionFolder(x.dir) {
				began = append(began, y)
			}
		}
		return len(began) == 1 && began[0] != x
	})
	if len(own) != 1 {
		return nil
	}
	c := own[0]
	if !x.madeAtStart(c.made) {
		return []discover.Claim{x.sessionClaim(c.id, x.store, c.path, discover.Weak, "written", "no other session of its directory was written since it started")}
	}
	return []discover.Claim{x.sessionClaim(c.id, x.store, c.path, discover.Strong, "start", "the session was made when the process started, and no other was written since")}
}

// candidates returns the sessions of the process's directory that were written since it started and that no process is known to run.
func (s *processScan) candidates(x *process) []storedFile {
	return slices.DeleteFunc(s.list(x.sessionFolder(x.dir)), func(f storedFile) bool {
		info, err := storage.Stat(s.ctx, f.path)
		chosen := x.StartedBefore(f.made) && !x.madeAtStart(f.made) && !(Adapter{}).MatchesID(f.id) // for another process: /new makes an ID itself
		return err != nil || chosen || !x.StartedBefore(info.ModTime) || slices.Contains(s.named, f.path) || s.dirOf(f.path) != x.dir
	})
}

// dirOf returns the directory that a session's file names; "" if it cannot be read. Several directories may share a folder.
func (s *processScan) dirOf(path string) string {
	f, err := storage.Open(s.ctx, path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h, _ := readHead(f)
	return h.Dir
}
