package claudecode

import (
	"sync"

	"agentctl/discover/native"
)

// besides are what lies beside the sessions' transcripts: folders of theirs, and the transcripts of sub-agents (up to 2.0.x).
// A place is looked through once, however many sessions it has.
type besides struct {
	mu      sync.Mutex
	folders map[string]func() beside
}

// beside is what lies in one place: the names of the folders, the sub-agents' transcripts by the session that their first
// record names, and what could not be read.
type beside struct {
	folders map[string]bool
	agents  map[string][]string
	failed  string
	err     error
}

// of gives what lies in a place.
func (b *besides) of(dir string) beside {
	b.mu.Lock()
	look, ok := b.folders[dir]
	if !ok {
		if b.folders == nil {
			b.folders = map[string]func() beside{}
		}
		look = sync.OnceValue(func() beside { return lookBeside(dir) })
		b.folders[dir] = look
	}
	b.mu.Unlock()
	return look()
}

func lookBeside(dir string) beside {
	entries, err := names(dir)
	found := beside{folders: map[string]bool{}, agents: map[string][]string{}, failed: dir, err: err}
	for _, n := range entries {
		if !n.Type().IsRegular() { // what is linked may be a folder
			found.folders[n.Name()] = true
		}
	}
	for _, path := range (agentFolder{dir, entries}).transcripts() {
		session, err := firstSession(path)
		if err != nil && !native.Absent(err) {
			found.failed, found.err = path, err
			break
		}
		found.agents[session] = append(found.agents[session], path)
	}
	return found
}

// firstSession is the session that the first record of a transcript names.
func firstSession(path string) (id string, err error) {
	f, err := native.Open(path)
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
