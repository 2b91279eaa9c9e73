package pi

import (
	"context"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/proc"
)

// homeVariables name a home, which has the settings and, below sessions/, the sessions. sessionDirVariables name a directory that has all
// sessions instead, without folders; it is a home of its own.
func homeVariables() discover.HomeVariables {
	return discover.HomeVariables{Key: "PI_CODING_AGENT_DIR", Default: ".pi/agent"}
}

func sessionDirVariables() discover.HomeVariables {
	return discover.HomeVariables{Key: "PI_CODING_AGENT_SESSION_DIR"}
}

// Homes returns the homes and session directories of this environment, of the configuration and of live processes.
func (Adapter) Homes(from discover.HomeSources, table *proc.Table) []discover.Home {
	homes := homeVariables().Named(from)
	if from.Getenv(sessionDirVariables().Key) != "" {
		homes.Add(discover.Home{Dir: sessionDirVariables().Dir(from.Getenv), FromUser: true})
	}
	for _, h := range homes.List() {
		if dir := storedSessionDir(context.Background(), h.Dir, from.Getenv("HOME")); dir != "" {
			homes.Add(discover.Home{Dir: dir, FromUser: true})
		}
	}
	for _, agent := range presences(table) {
		by := []proc.ID{agent.ID}
		homes.Add(discover.Home{Dir: agent.home, NamedBy: by})
		homes.Add(discover.Home{Dir: agent.sessionDir, NamedBy: by})
		for _, t := range agent.toolSessions() {
			homes.Add(discover.Home{Dir: homeOfFile(t.path), NamedBy: by})
		}
	}
	return homes.List()
}

// homeOfFile returns the home, or the session directory, that contains a session's file; "" if the path is not that of one.
func homeOfFile(file string) string {
	if !filepath.IsAbs(file) || idOfFile(file) == "" {
		return ""
	}
	dir := filepath.Dir(file)
	if folder := filepath.Dir(dir); filepath.Base(folder) == sessionsName {
		return filepath.Dir(folder)
	}
	return dir
}

// settingsLimit bounds a home's settings.json, in bytes.
const settingsLimit = 1 << 20

// storedSessionDir returns the session directory of a home's settings; "" if they name none, or not by an absolute path. user is the user's
// home directory.
func storedSessionDir(ctx context.Context, home, user string) string {
	f, err := storage.Open(ctx, filepath.Join(home, "settings.json"))
	if err != nil {
		return ""
	}
	defer f.Close()
	settings, err := storage.ReadAll(io.NewSectionReader(f, 0, f.Size()), settingsLimit)
	dir := storage.Object(settings).Get("sessionDir").Text(discover.PathLimit)
	if below, ok := strings.CutPrefix(dir, "~"); ok {
		dir = filepath.Join(user, below)
	}
	if err != nil || !filepath.IsAbs(dir) {
		return ""
	}
	return dir
}

// ReadDisk counts the sessions' files. All else in a home is no session's. Of a session directory, only the sessions are Pi's.
func (Adapter) ReadDisk(ctx context.Context, homes []discover.Home, records []discover.Record) iter.Seq2[discover.DiskUse, error] {
	byPath := map[string]int{}
	for i, r := range records {
		byPath[r.Path] = i
	}
	return discover.CountDisk(ctx, agentName, homes, func(c *discover.DiskCounter) {
		sessions, _ := storage.ReadDir(ctx, filepath.Join(c.Home.Dir, sessionsName))
		isHome := len(sessions) > 0
		c.DiskTree.Home(c.Home.Dir, func(path string, e fs.DirEntry) storage.Place {
			if i, ok := byPath[filepath.Join(c.Home.Dir, path)]; ok {
				return storage.Place{Owner: i, Kind: "transcript"}
			}
			isFolder := e.IsDir() && filepath.Dir(path) == sessionsName
			return storage.Place{Owner: storage.Nobody, Open: isHome && (path == sessionsName || isFolder)}
		}, func(owner int, kind, path string, u storage.DiskUse) {
			if isHome || owner >= 0 {
				c.Add(owner, kind, path, u)
			}
		})
	})
}
