package claudecode

import (
	"path/filepath"
	"strings"
	"sync"

	"agentctl/discover/native"
)

// besides are the sub-agents' transcripts that lie beside those of the sessions (up to 2.0.x). A folder is looked through
// once, however many sessions it has.
type besides struct {
	mu      sync.Mutex
	folders map[string]func() beside
}

// beside is what lies in one folder: the paths by the session that their first record names, and what could not be read.
type beside struct {
	paths  map[string][]string
	failed string
	err    error
}

// of gives those of a folder.
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
	agents, err := agentsIn(dir)
	found := beside{paths: map[string][]string{}, failed: dir, err: err}
	for _, path := range agents {
		session, err := firstSession(path)
		if err != nil && !native.Absent(err) {
			found.failed, found.err = path, err
			break
		}
		found.paths[session] = append(found.paths[session], path)
	}
	return found
}

// agentsIn are the sub-agents' transcripts in a folder.
func agentsIn(dir string) (paths []string, err error) {
	entries, err := names(dir)
	for _, n := range entries {
		if isSubagent(n.Name()) && strings.HasSuffix(n.Name(), suffix) {
			paths = append(paths, filepath.Join(dir, n.Name()))
		}
	}
	return paths, err
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
