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
	for _, agent := range s.processes {
		agent.findStore(ctx, homes)
	}
	found := make([][]discover.Claim, len(s.processes))
	var unnamed []*process
	for i, agent := range s.processes {
		if found[i] = s.namedClaims(agent, homes); len(found[i]) == 0 && agent.store != "" && agent.dir != "" {
			unnamed = append(unnamed, agent)
		}
		for _, c := range found[i] {
			s.named = append(s.named, c.Path)
		}
	}
	var claims []discover.Claim
	for i, agent := range s.processes {
		if slices.Contains(unnamed, agent) {
			found[i] = s.writtenClaim(agent, unnamed)
		}
		claims = append(append(claims, agent.presence(found[i])), found[i]...)
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
func (p *process) newClaim() discover.Claim {
	c := discover.Claim{Agent: agentName, Process: p.ID, Home: p.store, Dir: p.dir, Version: p.version, Unreadable: p.unreadable}
	if p.launched != "" {
		c.Source = "print"
	}
	return c
}

// presence returns the claim that the process is alive. sessions are the claims about its session.
func (p *process) presence(sessions []discover.Claim) discover.Claim {
	c := p.newClaim()
	c.Strength, c.Kind, c.Detail = discover.Exact, "process", "it calls itself "+programName
	isSure := slices.ContainsFunc(sessions, func(s discover.Claim) bool { return s.Strength > discover.Weak })
	c.NameOnly, c.MayRunAny = !isSure && (p.version == "" || len(sessions) > 0), !isSure // nobody is ended for a session that he may not run
	if len(sessions) == 0 {
		c.Turn = p.liveTurn()
	}
	return c
}

// sessionClaim returns the claim that the process runs a session, which is stored in this file, "" if in none.
func (p *process) sessionClaim(id, home, path string, strength discover.Strength, kind, detail string) discover.Claim {
	c := p.newClaim()
	c.Session, c.Path, c.Strength, c.Kind, c.Detail = id, path, strength, kind, detail
	if path != "" {
		c.Home, c.Dir = home, "" // a process may work in another directory than its session, whose file names it
	}
	return c
}

// namedClaims returns the claims of a process that name its session.
func (p *processScan) namedClaims(agent *process, homes []discover.Home) (claims []discover.Claim) {
	if id := agent.launched; id != "" && agent.store != "" {
		home, path := p.locate(homes, id)
		strength := discover.Exact
		if filepath.IsAbs(id) {
			id = idOfFile(id)
		} else if home, path = agent.store, p.find(agent.sessionFolder(agent.dir), id); path == "" {
			strength = discover.Strong // it may not have got that far
		}
		if isSessionID(id) {
			claims = append(claims, agent.sessionClaim(id, home, path, strength, "launch", "agentctl has started it for this session"))
		}
	}
	for _, t := range agent.toolSessions() {
		home, path := "", ""
		if agent.store != "" { // else its paths may be another system's
			home, path = p.locate(homes, t.path)
		}
		claims = append(claims, agent.sessionClaim(t.id, home, path, discover.Exact, "tool", fmt.Sprintf("its tool pid %d names the session", t.pid)))
	}
	if id, dir := agent.outputHeader(p.ctx); id != "" && !slices.ContainsFunc(p.processes, agent.sharesOutput) {
		c := agent.sessionClaim(id, agent.store, p.find(agent.sessionFolder(dir), id), discover.Exact, "output", "its stdout, a file, begins with the header of the session")
		c.Source = "print"
		claims = append(claims, c)
	}
	return claims
}

// locate returns the home that contains a session's file, and its path in that; both are "" if there is no such file in a known home.
func (p *processScan) locate(homes []discover.Home, file string) (home, path string) {
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
		if _, err := storage.Stat(p.ctx, path); err == nil {
			return h.Dir, path
		}
	}
	return "", ""
}

type storedFile struct {
	fileName
	path string
}

// list returns the files of a folder; none if it does not exist.
func (p *processScan) list(folder string) (files []storedFile) {
	if folder == "" {
		return nil
	}
	entries, err := storage.ReadDir(p.ctx, folder)
	p.warnings = append(p.warnings, warning(folder, err))
	for _, e := range entries {
		if name, ok := parseFileName(e.Name()); ok {
			files = append(files, storedFile{name, filepath.Join(folder, e.Name())})
		}
	}
	return files
}

// find returns the path of the newest session with this ID in a folder; "" if there is none.
func (p *processScan) find(folder, id string) string {
	newest := storedFile{}
	for _, f := range p.list(folder) {
		if f.id == id && !f.made.Before(newest.made) {
			newest = f
		}
	}
	return newest.path
}

// writtenClaim returns the claim by times, if they leave one choice. unnamed are all processes of whose session nothing else is known.
func (p *processScan) writtenClaim(agent *process, unnamed []*process) []discover.Claim {
	own := slices.DeleteFunc(p.candidates(agent), func(c storedFile) bool {
		var began []*process
		for _, y := range unnamed {
			if y.madeAtStart(c.made) && y.sessionFolder(y.dir) == agent.sessionFolder(agent.dir) {
				began = append(began, y)
			}
		}
		return len(began) == 1 && began[0] != agent
	})
	if len(own) != 1 {
		return nil
	}
	strength, kind, detail := discover.Weak, "written", "no other session of its directory was written since it started"
	if agent.madeAtStart(own[0].made) {
		strength, kind, detail = discover.Strong, "start", "the session was made when the process started, and no other was written since"
	}
	return []discover.Claim{agent.sessionClaim(own[0].id, agent.store, own[0].path, strength, kind, detail)}
}

// candidates returns the sessions of the process's directory that were written since it started and that no process is known to run.
func (p *processScan) candidates(agent *process) []storedFile {
	return slices.DeleteFunc(p.list(agent.sessionFolder(agent.dir)), func(f storedFile) bool {
		info, err := storage.Stat(p.ctx, f.path)
		chosen := agent.StartedBefore(f.made) && !agent.madeAtStart(f.made) && !(Adapter{}).MatchesID(f.id) // for another process: /new makes an ID itself
		return err != nil || chosen || !agent.StartedBefore(info.ModTime) || slices.Contains(p.named, f.path) || p.dirOf(f.path) != agent.dir
	})
}

// dirOf returns the directory that a session's file names; "" if it cannot be read. Several directories may share a folder.
func (p *processScan) dirOf(path string) string {
	f, err := storage.Open(p.ctx, path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h, _ := readHead(f)
	return h.Dir
}
