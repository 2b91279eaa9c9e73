package claudecode

import (
	"context"
	"path/filepath"

	"agentctl/discover"
	"agentctl/discover/native"
)

// beside is what lies beside the transcripts of one project folder.
type beside struct {
	folders map[string]bool     // their names
	agents  map[string][]string // the transcripts of sub-agents (up to 2.0.x), by the session that their first record names
	failed  string              // what could not be read, and why
	err     error
}

// besides lists the project folders of the entries, each once, however many sessions it has.
func besides(ctx context.Context, entries []discover.Entry) map[string]beside {
	all := map[string]beside{}
	scratch := native.NewBuffers(ctx)
	for _, e := range entries {
		dir := filepath.Dir(e.Path)
		if _, listed := all[dir]; !listed && !isSubagent(e.ID) {
			all[dir] = besideIn(dir, scratch)
		}
	}
	return all
}

func besideIn(dir string, s *native.Buffers) (found beside) {
	d, err := native.OpenDir(s.Context(), dir)
	if native.IsNotExist(err) {
		return beside{}
	}
	if err != nil {
		return beside{failed: dir, err: err}
	}
	defer d.Close()
	found = beside{folders: map[string]bool{}, agents: map[string][]string{}}
	for n, err := range d.AllEntries(s) {
		if err != nil {
			return beside{failed: dir, err: err}
		}
		if !n.Type().IsRegular() { // what is linked may be a folder
			found.folders[n.Name()] = true
		}
		if !isAgentTranscript(n.Name()) {
			continue
		}
		path := filepath.Join(dir, n.Name())
		session, err := firstSession(path, s)
		if err != nil && !native.IsNotExist(err) {
			return beside{failed: path, err: err}
		}
		found.agents[session] = append(found.agents[session], path)
	}
	return found
}

// firstSession is the session that the first record of a transcript names.
func firstSession(path string, s *native.Buffers) (id string, err error) {
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
