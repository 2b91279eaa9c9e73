package opencode

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/sqlite"
	"agentctl/discover/storage"
	"agentctl/proc"
)

// homeVariables decide where a process stores sessions (READ 1.18.33).
func homeVariables() discover.HomeVariables {
	return discover.HomeVariables{Key: dataKey, Below: "opencode", Default: ".local/share/opencode"}
}

const (
	dataKey = "XDG_DATA_HOME"
	// dbKey names the database, if that is not opencode*.db in the data folder.
	dbKey = "OPENCODE_DB"
	// stateKey leads to the folder in which the service of OpenCode 2 registers.
	stateKey = "XDG_STATE_HOME"
	// bunKey makes the agent's binary run as Bun, its JavaScript runtime (for npm and language servers).
	bunKey = "BUN_BE_BUN"
)

// Homes implements [discover.Adapter]. It returns the data folders of the environment, of the configuration and of the live processes. A
// database outside of these folders, which $OPENCODE_DB, the configuration or a process names, is a home of its own: it is not trusted as
// the folder is.
func (Adapter) Homes(setup discover.HomeSources, table *proc.Table) []discover.Home {
	var h discover.HomeSet
	usual := homeVariables().Dir(setup.Getenv)
	h.Add(discover.Home{Dir: usual, FromUser: true})
	addDatabase(&h, discover.Home{Dir: usual, FromUser: true}, databasePath(usual, setup.Getenv(dbKey)))
	for _, path := range setup.Configured {
		if (Adapter{}).IsStoreFile(path) {
			addDatabase(&h, discover.Home{Dir: cmp.Or(usual, filepath.Dir(path)), FromUser: true, Explicit: true}, path)
			continue
		}
		h.Add(discover.Home{Dir: path, FromUser: true, Explicit: true})
	}
	run, _ := processes(context.Background(), table, h.List())
	for _, p := range run {
		by := []proc.ID{p.ID}
		h.Add(discover.Home{Dir: p.dataDir, NamedBy: by})
		for _, db := range p.databases() {
			given := slices.ContainsFunc(setup.Configured, func(c string) bool { return c == db || discover.RealPath(c) == discover.RealPath(db) })
			addDatabase(&h, discover.Home{Dir: p.dataDir, NamedBy: by, FromUser: given, Explicit: given}, db)
		}
	}
	return h.List()
}

// IsStoreFile implements [discover.Adapter].
func (Adapter) IsStoreFile(path string) bool { return isDatabase(path) }

// addDatabase adds a database to a set of homes, unless it is found in its data folder.
func addDatabase(h *discover.HomeSet, home discover.Home, db string) {
	if home.Dir == "" || db == "" {
		return
	}
	if abs, err := filepath.Abs(home.Dir); err == nil {
		home.Dir = abs
	}
	real, given := discover.RealPath(home.Dir), home.FromUser
	if i := h.Index(home.Dir); i >= 0 {
		home.Dir, real, given = h.List()[i].Dir, h.RealPath(i), h.List()[i].FromUser
	}
	if isDatabaseName(filepath.Base(db)) && discover.RealPath(filepath.Dir(db)) == real || given && hasLinkTo(real, db) {
		return // it is found in the folder
	}
	h.AddFile(home, db)
}

// hasLinkTo reports whether a database in the folder is a link to db: people keep large databases on another disk. Such links do not count
// in a folder that only a process names; see [discover.Home.CheckPath].
func hasLinkTo(dir, db string) bool {
	entries, _ := os.ReadDir(dir) // Entries reports what cannot be read
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return isDatabaseName(e.Name()) && e.Type() == os.ModeSymlink && discover.RealPath(filepath.Join(dir, e.Name())) == discover.RealPath(db)
	})
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

// listDatabases returns the paths of a home's databases. A home that does not exist has none. A database that a link outside of the home
// leads to is left out, with a warning, if the home's links may not be followed.
func listDatabases(ctx context.Context, home discover.Home) (paths []string, err error) {
	var errs []error
	if !home.FilesOnly {
		entries, err := storage.ReadDir(ctx, home.Dir)
		errs = append(errs, newWarning(home.Dir, err))
		for _, e := range entries {
			if isDatabaseName(e.Name()) {
				paths = append(paths, filepath.Join(home.Dir, e.Name()))
			}
		}
		slices.SortFunc(paths, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }) // opencode.db first
	}
	paths = slices.DeleteFunc(slices.Concat(paths, home.Files), func(path string) bool {
		escapes := home.CheckPath(path)
		if escapes != nil {
			errs = append(errs, newWarning(path, escapes))
		}
		return escapes != nil
	})
	return paths, errors.Join(errs...)
}

// ReadDisk implements [discover.Adapter]. It counts, as an estimate, the bytes of a session's messages and their parts in a database. The
// rest of a database (indexes, free pages) belongs to no session, nor do the snapshots of a project, the logs and the JSON files of versions
// before 1.2, which later ones left behind.
func (Adapter) ReadDisk(ctx context.Context, homes []discover.Home, records []discover.Record) iter.Seq2[discover.DiskUse, error] {
	return discover.CountDisk(ctx, agentName, homes, func(c *discover.DiskCounter) {
		add := func(owner int, kind, path string, u storage.DiskUse) {
			if !c.Stopped && u != (storage.DiskUse{}) {
				u.Bytes -= addRows(ctx, c, records, path, u.Bytes)
				c.Add(owner, kind, path, u)
			}
		}
		if !c.Home.FilesOnly {
			c.DiskTree.Home(c.Home.Dir, func(string, fs.DirEntry) storage.Place { return storage.Place{Owner: storage.Nobody} }, add)
		}
		for _, path := range c.Home.Files {
			u := c.Path(path)
			for _, suffix := range []string{"-wal", "-shm"} {
				u = u.Plus(c.Path(path + suffix))
			}
			add(storage.Nobody, filepath.Base(path), path, u)
		}
	})
}

// addRows adds the bytes of each session in a database of the given size, and returns their sum. In another file there are none.
func addRows(ctx context.Context, c *discover.DiskCounter, records []discover.Record, path string, bytes int64) (sum int64) {
	if !slices.ContainsFunc(records, func(r discover.Record) bool { return r.Path == path }) {
		return 0
	}
	rows, err := readDatabase(ctx, c.Home.Dir, path, (*database).rowBytes)
	if err != nil {
		c.Warn(err)
	}
	for i, r := range records {
		if n := min(rows[r.ID], bytes-sum); r.Path == path && n > 0 {
			sum += n
			c.AddEstimate(i, path, n)
		}
	}
	return sum
}

// rowBytes returns the bytes of the messages and parts of each session. Only the lengths of texts are read, which are in the rows.
func (d *database) rowBytes() map[string]int64 {
	sums := map[string]int64{}
	for name, table := range map[string]*sqlite.Table{"message": d.messageTable, "part": d.partTable, v2MessageTable: d.v2.messages} {
		if table == nil {
			continue
		}
		for r := range d.db.Query(`SELECT session_id AS id, sum(octet_length(data)) AS bytes FROM ` + name + ` GROUP BY session_id`) {
			sums[r.Text("id", nameLimit)] += r.Int("bytes")
		}
	}
	return sums
}
