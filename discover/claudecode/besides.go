package claudecode

import (
	"path/filepath"
	"sync"

	"agentctl/discover/native"
)

// besides are what lies beside the sessions' transcripts: folders of theirs, and the transcripts of sub-agents (up to 2.0.x).
// A place is looked through once, however many sessions it has.
type besides struct {
	roots native.Roots
	mu    sync.Mutex
	sites map[string]*site
}

// site is a place that somebody looks through.
type site struct {
	once   sync.Once
	beside beside
}

// beside is what lies in one place: the names of the folders, the sub-agents' transcripts by the session that their first
// record names, and what could not be read.
type beside struct {
	folders map[string]bool
	agents  map[string][]string
	failed  string
	err     error
}

// of gives what lies in a place, for one who works in s.
func (b *besides) of(dir string, s *native.Scratch) beside {
	b.mu.Lock()
	p := b.sites[dir]
	if p == nil {
		if b.sites == nil {
			b.sites = map[string]*site{}
		}
		p = new(site)
		b.sites[dir] = p
	}
	b.mu.Unlock()
	p.once.Do(func() { p.beside = lookBeside(b.roots, dir, s) })
	return p.beside
}

// lookBeside makes no map of what is mostly not there.
func lookBeside(roots native.Roots, dir string, s *native.Scratch) (found beside) {
	d, err := roots.Dir(s.Context(), dir)
	if native.Absent(err) {
		return beside{}
	}
	if err != nil {
		return beside{failed: dir, err: err}
	}
	defer d.Close()
	var agents []string
	for n, err := range d.All(s) {
		switch {
		case err != nil:
			found.failed, found.err = dir, err
		case !n.Type().IsRegular(): // what is linked may be a folder
			if found.folders == nil {
				found.folders = map[string]bool{}
			}
			found.folders[n.Name()] = true
		}
		if err == nil && isAgentTranscript(n.Name()) {
			agents = append(agents, filepath.Join(dir, n.Name()))
		}
	}
	for _, path := range agents {
		session, err := firstSession(path, s)
		if err != nil && !native.Absent(err) {
			found.failed, found.err = path, err
			break
		}
		if found.agents == nil {
			found.agents = map[string][]string{}
		}
		found.agents[session] = append(found.agents[session], path)
	}
	return found
}

// firstSession is the session that the first record of a transcript names.
func firstSession(path string, s *native.Scratch) (id string, err error) {
	f, err := s.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	f.Expect(usualPrompt)
	_, err = f.Forward(0, 0, func(l native.Line) bool {
		record, _ := parseLine(l.Bytes)
		id = record.SessionID.Text(0)
		return false
	})
	return id, err
}
