package opencode

import (
	"context"
	"iter"
	"path/filepath"
	"slices"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// ReadDisk implements [discover.Adapter]. It counts, as an estimate, the bytes of a session's messages and their parts in a database. The
// rest of a database (indexes, free pages) belongs to no session, nor do the snapshots of a project, the logs and the JSON files of versions
// before 1.2, which later ones left behind.
func (Adapter) ReadDisk(ctx context.Context, homes []discover.Home, records []discover.Record) iter.Seq2[discover.DiskUse, error] {
	return discover.CountDisk(ctx, agentName, homes, func(c *discover.DiskCounter) {
		x := diskReader{c, ctx, records}
		if !c.Home.FilesOnly {
			c.DiskTree.Home(c.Home.Dir, func(string) bool { return false }, func(string, string) (int, bool) { return 0, false }, x.add)
		}
		for _, path := range c.Home.Files {
			u := c.Path(path)
			for _, suffix := range []string{"-wal", "-shm"} {
				u = u.Plus(c.Path(path + suffix))
			}
			x.add(storage.Nobody, filepath.Base(path), path, u)
		}
	})
}

// diskReader counts one home.
type diskReader struct {
	*discover.DiskCounter
	ctx     context.Context // of the call
	records []discover.Record
}

// add adds the disk use of a path. A database is divided among the sessions in it.
func (x *diskReader) add(owner int, kind, path string, u storage.DiskUse) {
	if x.Stopped || u == (storage.DiskUse{}) {
		return
	}
	if owner == storage.Nobody && slices.ContainsFunc(x.records, func(r discover.Record) bool { return r.Path == path }) {
		u.Bytes = x.addRows(path, u.Bytes)
	}
	x.Add(owner, kind, path, u)
}

// addRows adds the bytes of each session in a database of the given size, and returns the rest.
func (x *diskReader) addRows(path string, bytes int64) (rest int64) {
	rows, err := readDatabase(x.ctx, x.Home.Dir, path, (*database).rowBytes)
	if err != nil {
		x.Warn(err)
	}
	rest = bytes
	for i, r := range x.records {
		n := min(rows[r.ID], rest)
		if r.Path != path || n <= 0 || x.Stopped {
			continue
		}
		rest -= n
		x.AddEstimate(i, path, n)
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
			sums[r.Text("id", nameLimit)] += r.Int("bytes")
		}
	}
	return sums
}
