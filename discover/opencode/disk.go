package opencode

import (
	"context"
	"iter"
	"path/filepath"
	"slices"

	"agentctl/discover"
	"agentctl/discover/native/diskusage"
	"agentctl/discover/opencode/transcript"
)

// ReadDisk implements [discover.DiskReader]. It counts, as an estimate, the bytes of a session's messages and their parts in a database. The
// rest of a database (indexes, free pages) belongs to no session, nor do the snapshots of a project, the logs and the JSON files of versions
// before 1.2, which later ones left behind.
func (Adapter) ReadDisk(ctx context.Context, homes []discover.Home, records []discover.Record) iter.Seq2[discover.DiskUse, error] {
	return func(yield func(discover.DiskUse, error) bool) {
		x := diskReader{ctx: ctx, yield: yield, records: records}
		x.tree = diskusage.NewTree(ctx, func(path string, err error) { x.emit(discover.DiskUse{}, newWarning(path, err)) })
		for _, h := range homes {
			if x.home = h.Dir; !h.FilesOnly {
				x.tree.Home(h.Dir, func(string) bool { return false }, func(string, string) (int, bool) { return 0, false }, x.add)
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

// diskReader is one call of ReadDisk.
type diskReader struct {
	ctx     context.Context // of the call
	yield   func(discover.DiskUse, error) bool
	stopped bool
	tree    *diskusage.Tree
	records []discover.Record
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
		`SELECT session_id AS id, sum(octet_length(data)) AS bytes FROM part GROUP BY session_id`,
	} {
		for r := range d.db.Query(query) {
			sums[r.Text("id", transcript.NameLimit)] += r.Int("bytes")
		}
	}
	return sums
}
