package opencode

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// maxLegacyFile is the most bytes of a JSON file that are read.
const maxLegacyFile = 16 << 20

// legacyFolders returns the folders with the files of sessions. Before 1.2, each session, message and part was a JSON file:
// storage/session/<project>/ses_X.json, storage/message/ses_X/msg_Y.json, storage/part/msg_Y/prt_Z.json. 1.2 to 1.15 copied them into the
// database and left them where they were. 1.17 and later do not read them.
func legacyFolders(ctx context.Context, home string) (folders []string, err error) {
	dir := filepath.Join(home, "storage", "session")
	names, err := fsread.ReadDir(ctx, dir)
	for _, e := range names {
		if !strings.HasPrefix(e.Name(), ".") { // opening what is no folder fails later
			folders = append(folders, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(folders)
	return folders, warningUnlessGone(dir, err)
}

// legacyEntries lists the sessions in JSON files. It looks up the sessions that the filter names by name, and lists the folders only
// otherwise.
func legacyEntries(ctx context.Context, home discover.Home, q discover.EntryFilter) ([]discover.Entry, error) {
	if home.FilesOnly || !isFolder(ctx, home.Dir) {
		return nil, nil // listDatabases has warned
	}
	folders, err := legacyFolders(ctx, home.Dir)
	errs := []error{err}
	var out []discover.Entry
	for _, folder := range folders {
		if q.Parents != nil && !slices.ContainsFunc(q.Parents, func(r discover.Ref) bool { return filepath.Dir(r.Path) == folder }) {
			continue // the file of a sub-agent is in its parent's folder; which one it is, only its content shows
		}
		d, err := fsread.OpenDir(ctx, folder)
		if err != nil {
			errs = append(errs, warningUnlessGone(folder, err))
			continue
		}
		found, err := legacyIDs(d, q)
		errs = append(errs, err)
		for _, id := range found {
			path := filepath.Join(folder, id+".json")
			info, err := d.Stat(id + ".json")
			if err != nil {
				errs = append(errs, warningUnlessGone(path, err))
				continue
			}
			out = append(out, discover.Entry{
				Agent: agentName, ID: id, Path: path, Home: home.Dir, Updated: info.ModTime, Size: info.Size,
			})
		}
		_ = d.Close()
	}
	return out, errors.Join(errs...)
}

func isFolder(ctx context.Context, dir string) bool {
	d, err := fsread.OpenDir(ctx, dir)
	if err != nil {
		return false
	}
	_ = d.Close()
	return true
}

// legacyIDs returns the IDs in a folder that may match the filter.
func legacyIDs(d *fsread.Dir, q discover.EntryFilter) ([]string, error) {
	var out []string
	if q.Refs != nil {
		for _, r := range q.Refs {
			if isSessionID(r.ID) {
				out = append(out, r.ID)
			}
		}
		return out, nil
	}
	names, err := d.Entries()
	if err != nil {
		err = newWarning(d.Path(), err)
	}
	for _, e := range names {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok && isSessionID(id) && strings.HasPrefix(id, q.ID) {
			out = append(out, id)
		}
	}
	return out, err
}

// readLegacyFile returns the content of a JSON file. The agent writes it in place, so that it may be incomplete for a moment.
func readLegacyFile(ctx context.Context, path string) ([]byte, error) {
	isWhole := func(data []byte) bool { return jsonl.Object(data).Complete() }
	data, err := fsread.ReadComplete(ctx, path, maxLegacyFile, isWhole)
	if err == nil && !isWhole(data) {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errIncomplete}
	}
	return data, err
}

var errIncomplete = errors.New("not a whole JSON object")
