package opencode

import (
	"context"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/diskusage"
	"agentctl/discover/native/fsread"
	"agentctl/discover/opencode/transcript"
)

// ReadDisk implements [discover.DiskReader]. It counts a session's JSON files and, as an estimate, the bytes of its messages and their parts
// in a database. The rest of a database (indexes, free pages) belongs to no session, nor do the snapshots of a project and the logs.
func (Adapter) ReadDisk(ctx context.Context, homes []discover.Home, records []discover.Record) iter.Seq2[discover.DiskUse, error] {
	return func(yield func(discover.DiskUse, error) bool) {
		x := diskReader{ctx: ctx, yield: yield, records: records, byID: map[string]int{}}
		x.tree = diskusage.NewTree(ctx, func(path string, err error) { x.emit(discover.DiskUse{}, newWarning(path, err)) })
		for i, r := range records {
			x.byID[r.ID] = i
		}
		for _, h := range homes {
			if x.home = h.Dir; !h.FilesOnly {
				x.tree.Home(h.Dir, func(name string) bool { return name == storageName }, func(string, string) (int, bool) { return 0, false }, x.add)
				x.readFiles(filepath.Join(h.Dir, storageName))
			}
			for _, path := range h.Files {
				u := x.tree.Path(path)
				for _, suffix := range []string{"-wal", "-shm"} {
					u = u.Plus(x.tree.Path(path + suffix))
				}
				x.add(diskusage.Nobody, filepath.Base(path), path, u)
			}
		}
	}
}

// storageName is the folder of the JSON files.
const storageName = "storage"

// diskReader is one call of ReadDisk.
type diskReader struct {
	ctx     context.Context // of the call
	yield   func(discover.DiskUse, error) bool
	stopped bool
	tree    *diskusage.Tree
	records []discover.Record
	byID    map[string]int // indexes of records
	home    string
}

func (x *diskReader) emit(u discover.DiskUse, err error) {
	x.stopped = x.stopped || !x.yield(u, err)
}

// add yields the disk use of a path. A database is divided among the sessions in it.
func (x *diskReader) add(owner int, kind, path string, u diskusage.Use) {
	if x.stopped || u == (diskusage.Use{}) {
		return
	}
	if owner == diskusage.Nobody && slices.ContainsFunc(x.records, func(r discover.Record) bool { return r.Path == path }) {
		u.Bytes = x.addRows(path, u.Bytes)
	}
	x.emit(discover.DiskUse{Owner: owner, Home: x.home, Path: path, Kind: kind, Bytes: u.Bytes, Files: u.Files}, nil)
}

// addRows yields the bytes of each session in a database of the given size, and returns the rest.
func (x *diskReader) addRows(path string, bytes int64) (rest int64) {
	var rows map[string]int64
	err := readDatabase(x.ctx, x.home, path, func(d *database) { rows = d.rowBytes() })
	if err = warningUnlessGone(path, err); err != nil {
		x.emit(discover.DiskUse{}, err)
	}
	rest = bytes
	for i, r := range x.records {
		n := min(rows[r.ID], rest)
		if r.Path != path || n <= 0 || x.stopped {
			continue
		}
		rest -= n
		x.emit(discover.DiskUse{Owner: i, Home: x.home, Path: path, Kind: "database rows", Bytes: n, Estimated: true}, nil)
	}
	return rest
}

// rowBytes returns the bytes of the messages and parts of each session. Only the lengths of texts are read, which are in the rows.
func (d *database) rowBytes() map[string]int64 {
	sums := map[string]int64{}
	for _, query := range []string{
		`SELECT session_id AS id, sum(octet_length(data)) AS bytes FROM message GROUP BY session_id`,
		`SELECT session_id AS id, sum(octet_length(part.data)) AS bytes FROM part JOIN message ON message.id = part.message_id GROUP BY session_id`,
	} {
		if strings.Contains(query, "JOIN") && slices.Contains(slices.Collect(d.columnsOf("part")), "session_id") {
			query = `SELECT session_id AS id, sum(octet_length(data)) AS bytes FROM part GROUP BY session_id`
		}
		for r := range d.db.Query(query) {
			sums[r.Text("id", transcript.NameLimit)] += r.Int("bytes")
		}
	}
	return sums
}

// columnsOf yields the columns of a table.
func (d *database) columnsOf(table string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for r := range d.db.Query(`SELECT name FROM pragma_table_info(?)`, table) {
			if !yield(r.Text("name", transcript.NameLimit)) {
				return
			}
		}
	}
}

// readFiles counts the JSON files below storage: session/<project>/<id>.json, message/<id>/, part/<message>/, session_diff/<id>.json.
func (x *diskReader) readFiles(storage string) {
	var rest diskusage.Use
	sessionOfMessage := map[string]int{}
	keep := func(owner int, known bool, kind, path string, use func() diskusage.Use) {
		if known {
			x.add(owner, kind, path, use())
		} else {
			rest = rest.Plus(use())
		}
	}
	for _, kind := range []string{"session", "message", "part", "session_diff"} {
		dir := filepath.Join(storage, kind)
		rest = rest.Plus(x.tree.Visit(dir, func(e fs.DirEntry, path string, use func() diskusage.Use) {
			i, known := x.byID[strings.TrimSuffix(e.Name(), ".json")]
			switch kind {
			case "session":
				rest = rest.Plus(x.tree.Visit(path, func(e fs.DirEntry, path string, use func() diskusage.Use) {
					i, known := x.byID[strings.TrimSuffix(e.Name(), ".json")]
					keep(i, known, "session", path, use)
				}))
				return
			case "message":
				names, _ := fsread.ReadDir(x.ctx, path)
				for _, n := range names {
					if known {
						sessionOfMessage[strings.TrimSuffix(n.Name(), ".json")] = i
					}
				}
			case "part":
				i, known = sessionOfMessage[e.Name()]
			}
			keep(i, known, strings.ReplaceAll(kind, "_", " ")+"s", path, use)
		}))
	}
	others := x.tree.Visit(storage, func(e fs.DirEntry, _ string, use func() diskusage.Use) {
		if !slices.Contains([]string{"session", "message", "part", "session_diff"}, e.Name()) {
			rest = rest.Plus(use())
		}
	})
	x.add(diskusage.Nobody, storageName, storage, rest.Plus(others))
}
