package copilot

import (
	"context"
	"io/fs"
	"iter"
	"path/filepath"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/proc"
)

// homeVariables decide the home.
func homeVariables() discover.HomeVariables {
	return discover.HomeVariables{Key: "COPILOT_HOME", Default: ".copilot"}
}

// The folder of all sessions in a home, and the file with the records of one in its folder.
const (
	stateName  = "session-state"
	eventsName = "events.jsonl"
)

func sessionDir(home, id string) string { return filepath.Join(home, stateName, id) }

func eventsPath(home, id string) string { return filepath.Join(sessionDir(home, id), eventsName) }

// Homes returns the homes: that of this environment, the configured ones, and those that live processes of the agent name.
func (a Adapter) Homes(from discover.HomeSources, table *proc.Table) []discover.Home {
	h := homeVariables().Named(from)
	for p := range candidates(table) {
		if a.IsAgentProcess(p) {
			dir, _ := homeVariables().OfProcess(p)
			h.Add(discover.Home{Dir: dir, NamedBy: []proc.ID{p.ID}})
		}
	}
	return h.List()
}

// ReadDisk implements [discover.Adapter]. A session's folder is its own; all else in a home is nobody's.
func (Adapter) ReadDisk(ctx context.Context, homes []discover.Home, records []discover.Record) iter.Seq2[discover.DiskUse, error] {
	return discover.CountDisk(ctx, agentName, homes, func(c *discover.DiskCounter) {
		byID := map[string]int{}
		for i, r := range records {
			if r.Home == c.Home.Dir {
				byID[r.ID] = i
			}
		}
		c.DiskTree.Home(c.Home.Dir, func(path string, e fs.DirEntry) storage.Place {
			if i, ok := byID[e.Name()]; ok && path == filepath.Join(stateName, e.Name()) {
				return storage.Place{Owner: i}
			}
			return storage.Place{Owner: storage.Nobody, Open: path == stateName}
		}, c.Add)
	})
}

// WatchPaths implements [discover.Adapter]. Records are appended to the file; files of the processes that run the session come and go in
// its folder.
func (Adapter) WatchPaths(_ context.Context, s discover.Session) []string {
	if s.ID == "" {
		return []string{filepath.Join(s.Home, stateName)}
	}
	paths := []string{eventsPath(s.Home, s.ID), sessionDir(s.Home, s.ID)}
	if s.Path != "" && s.Path != paths[0] {
		paths = append(paths, s.Path)
	}
	return paths
}
