package opencode

import (
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/proc"
)

// What decides where a process keeps its sessions (READ 1.18.33): $XDG_DATA_HOME/opencode, else
// ~/.local/share/opencode, and in it opencode*.db unless $OPENCODE_DB names another database.
const (
	dataKey = "XDG_DATA_HOME"
	homeKey = "HOME"
	dbKey   = "OPENCODE_DB"
	// bunKey makes the agent's binary act as the JavaScript runtime it is built on (for npm and language servers).
	bunKey = "BUN_BE_BUN"
)

// Homes returns the data folders of this environment, of the configuration, and of the live processes, with the
// databases outside of them that $OPENCODE_DB names or live processes hold open.
func (Adapter) Homes(setup discover.Setup, table *proc.Table) []discover.Home {
	var h homes
	dir := dataDir(setup.Getenv(dataKey), setup.Getenv(homeKey))
	h.add(dir, false, database(dir, setup.Getenv(dbKey)))
	for _, dir := range setup.Configured {
		h.add(dir, true)
	}
	for _, p := range processes(table) {
		h.add(p.data, false, p.databases()...)
	}
	return h.list
}

// homes is a set of homes: two names of one folder are one home, under the name that came first.
type homes struct {
	list []discover.Home
	real []string
}

func (h *homes) add(dir string, named bool, databases ...string) {
	if dir == "" {
		return
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	i := slices.IndexFunc(h.list, func(o discover.Home) bool { return o.Dir == dir }) // as for most processes
	if i < 0 {
		real := realPath(dir)
		if i = slices.Index(h.real, real); i < 0 {
			i = len(h.list)
			h.list, h.real = append(h.list, discover.Home{Dir: dir}), append(h.real, real)
		}
	}
	home, real := &h.list[i], h.real[i]
	home.Named = home.Named || named
	for _, db := range databases {
		if db == "" || isDatabaseName(filepath.Base(db)) && isSame(filepath.Dir(db), real) {
			continue // found in the folder anyway
		}
		if !slices.ContainsFunc(home.Files, func(f string) bool { return f == db || realPath(f) == realPath(db) }) {
			home.Files = append(home.Files, db)
		}
	}
}

// isSame reports whether a path leads to one that is real: the kernel names open files by such.
func isSame(path, real string) bool { return path == real || realPath(path) == real }

// dataDir is the data folder that an environment names, "" where it names none.
func dataDir(dataHome, userHome string) string {
	switch {
	case filepath.IsAbs(dataHome):
		return filepath.Join(dataHome, "opencode")
	case filepath.IsAbs(userHome):
		return filepath.Join(userHome, ".local", "share", "opencode")
	}
	return ""
}

// database is the file that $OPENCODE_DB names, "" if none.
func database(dir, name string) string {
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

// realPath resolves symbolic links where the path exists.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
