package opencode

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/proc"
)

// The variables that decide where a process stores sessions (READ 1.18.33): in $XDG_DATA_HOME/opencode, else in ~/.local/share/opencode.
// The database there is opencode*.db, unless $OPENCODE_DB names another one.
const (
	dataKey = "XDG_DATA_HOME"
	homeKey = "HOME"
	dbKey   = "OPENCODE_DB"
	// bunKey makes the agent's binary run as Bun, its JavaScript runtime (for npm and language servers).
	bunKey = "BUN_BE_BUN"
)

// Homes implements [discover.Adapter]. It returns the data folders of the environment, of the configuration and of the live processes. A
// database outside of these folders, which $OPENCODE_DB, the configuration or a process names, is a home of its own: it is not trusted as
// the folder is.
func (Adapter) Homes(setup discover.HomeSources, table *proc.Table) []discover.Home {
	var h homes
	usual := dataDir(setup.Getenv(dataKey), setup.Getenv(homeKey))
	h.add(discover.Home{Dir: usual, FromUser: true})
	h.addDatabase(discover.Home{Dir: usual, FromUser: true}, databasePath(usual, setup.Getenv(dbKey)))
	for _, path := range setup.Configured {
		if (Adapter{}).IsStoreFile(path) {
			h.addDatabase(discover.Home{Dir: cmp.Or(usual, filepath.Dir(path)), FromUser: true, Explicit: true}, path)
			continue
		}
		h.add(discover.Home{Dir: path, FromUser: true, Explicit: true})
	}
	run, _ := processes(context.Background(), table, h.list)
	for _, p := range run {
		by := []proc.ID{p.ID}
		h.add(discover.Home{Dir: p.dataDir, NamedBy: by})
		for _, db := range p.databases() {
			given := slices.ContainsFunc(setup.Configured, func(c string) bool { return c == db || discover.RealPath(c) == discover.RealPath(db) })
			h.addDatabase(discover.Home{Dir: p.dataDir, NamedBy: by, FromUser: given, Explicit: given}, db)
		}
	}
	return h.list
}

// IsStoreFile implements [discover.FileStore].
func (Adapter) IsStoreFile(path string) bool { return isDatabase(path) }

// homes is a set of homes. A folder with several names is one home, with the first of the names.
type homes struct {
	list []discover.Home
	real []string
}

// add adds a data folder.
func (h *homes) add(home discover.Home) {
	if home.Dir == "" {
		return
	}
	home.Dir = absolutePath(home.Dir)
	if i := h.folder(home.Dir); i >= 0 {
		h.list[i].Merge(home)
		return
	}
	h.list, h.real = append(h.list, home), append(h.real, discover.RealPath(home.Dir))
}

// addDatabase adds a database, unless it is found in its data folder.
func (h *homes) addDatabase(home discover.Home, db string) {
	if home.Dir == "" || db == "" {
		return
	}
	home.Dir = absolutePath(home.Dir)
	real, given := discover.RealPath(home.Dir), home.FromUser
	if i := h.folder(home.Dir); i >= 0 {
		home.Dir, real, given = h.list[i].Dir, h.real[i], h.list[i].FromUser
	}
	if isDatabaseName(filepath.Base(db)) && leadsTo(filepath.Dir(db), real) || given && hasLinkTo(real, db) {
		return // it is found in the folder
	}
	home.Files, home.FilesOnly = []string{db}, true
	i := slices.IndexFunc(h.list, func(o discover.Home) bool {
		return o.FilesOnly && o.Dir == home.Dir && (o.Files[0] == db || discover.RealPath(o.Files[0]) == discover.RealPath(db))
	})
	if i >= 0 {
		h.list[i].Merge(home)
		return
	}
	h.list, h.real = append(h.list, home), append(h.real, real)
}

// folder returns the index of a data folder; -1 if it is not among the homes. It compares names first: that is enough for most processes.
func (h *homes) folder(dir string) int {
	i := slices.IndexFunc(h.list, func(o discover.Home) bool { return !o.FilesOnly && o.Dir == dir })
	if i >= 0 {
		return i
	}
	real := discover.RealPath(dir)
	for i, o := range h.list {
		if !o.FilesOnly && h.real[i] == real {
			return i
		}
	}
	return -1
}

// absolutePath returns the absolute path if there is one.
func absolutePath(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// leadsTo reports whether a path leads to a path without links, such as the kernel's paths of open files.
func leadsTo(path, real string) bool { return path == real || discover.RealPath(path) == real }

// hasLinkTo reports whether a database in the folder is a link to db: people keep large databases on another disk. Such links do not count
// in a folder that only a process names; see [discover.Home.CheckPath].
func hasLinkTo(dir, db string) bool {
	entries, _ := os.ReadDir(dir) // Entries reports what cannot be read
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return isDatabaseName(e.Name()) && e.Type() == os.ModeSymlink && discover.RealPath(filepath.Join(dir, e.Name())) == discover.RealPath(db)
	})
}

// dataDir returns the data folder for these variables; "" if they name none.
func dataDir(dataHome, userHome string) string {
	switch {
	case filepath.IsAbs(dataHome):
		return filepath.Join(dataHome, "opencode")
	case filepath.IsAbs(userHome):
		return filepath.Join(userHome, ".local", "share", "opencode")
	}
	return ""
}

// databasePath returns the file that $OPENCODE_DB names; "" if it names none.
func databasePath(dir, name string) string {
	if name == "" || name == ":memory:" || dir == "" || filepath.IsAbs(name) {
		return strings.TrimPrefix(name, ":memory:")
	}
	return filepath.Join(dir, name)
}

// isDatabaseName reports whether a file in the data folder is a database: opencode.db, or one for each release
// channel, as opencode-dev.db.
func isDatabaseName(name string) bool {
	return strings.HasPrefix(name, "opencode") && strings.HasSuffix(name, ".db")
}
