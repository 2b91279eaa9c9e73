package opencode

import (
	"context"
	"errors"
	"io/fs"
	"iter"
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

// readLegacySession reads one session of JSON files; nil if it has vanished. Its errors are warnings. The session is read also if there
// are warnings about its messages: a message that cannot be read is left out, and if it is the last one, the turn is unknown.
func readLegacySession(ctx context.Context, home, path string, options discover.ReadOptions) (*session, error) {
	id := strings.TrimSuffix(filepath.Base(path), ".json")
	data, err := readLegacyFile(ctx, path)
	if err != nil {
		return nil, warningUnlessGone(path, err)
	}
	m := parseLegacyMetadata(data)
	if m.ID != id {
		return nil, newWarning(path, errWrongID)
	}
	messages := newLegacyMessages(ctx, path, id)
	s := newSession(home, path, m, messages, options)
	s.SetMeta("legacy", true)
	return s, errors.Join(messages.errs...)
}

var errWrongID = errors.New("not the session that its name says")

// listJSONNames lists the names of a folder's JSON files that have the prefix, without their extension, sorted: their IDs sort by time.
func listJSONNames(ctx context.Context, dir, prefix string) ([]string, error) {
	entries, err := fsread.ReadDir(ctx, dir)
	if err != nil {
		return nil, warningUnlessGone(dir, err)
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".json"); ok && strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// parseLegacyMetadata parses the JSON file of a session (before 1.2).
func parseLegacyMetadata(data []byte) (m metadata) {
	for key, v := range jsonl.Object(data).Members() {
		switch string(key) {
		case "id":
			m.ID = v.Text(nameLimit)
		case "title":
			m.Title = parseTitle(v.Text(pathLimit))
		case "version":
			m.Version = v.Text(nameLimit)
		case "directory":
			m.Dir = v.Text(pathLimit)
		case "parentID":
			m.Parent = v.Text(nameLimit)
		case "permission":
			m.Headless = isHeadlessPermission(string(v.Raw()))
		case "slug":
			m.Slug = v.Text(nameLimit)
		case "projectID":
			m.ProjectID = v.Text(nameLimit)
		case "time":
			o := v.Object()
			m.Created, m.Updated = o.Get("created").Int(), o.Get("updated").Int()
			m.Archived = o.Get("archived").Int() > 0
		}
	}
	return m
}

// legacyMessages implements [rowReader] for a session in JSON files. Their names are IDs, which sort by time.
type legacyMessages struct {
	ctx        context.Context // of the call that it lives for
	dir        string          // of the messages
	partFolder string          // has a folder for each message
	failures   int             // reads that have failed; a file may be read more than once
	warned     map[string]bool // the paths that warnings are about
	errs       []error         // the warnings
}

// newLegacyMessages derives the folders of a session's messages and parts from the path of the session's file.
func newLegacyMessages(ctx context.Context, path, id string) *legacyMessages {
	root := filepath.Dir(filepath.Dir(filepath.Dir(path)))
	return &legacyMessages{
		ctx: ctx, dir: filepath.Join(root, "message", id), partFolder: filepath.Join(root, "part"), warned: map[string]bool{},
	}
}

// Oldest implements [rowReader].
func (l *legacyMessages) Oldest() iter.Seq[storedRow] {
	return l.rows(l.dir, messagePrefix, oldestFirst)
}

// Newest implements [rowReader].
func (l *legacyMessages) Newest(before cursor) iter.Seq[storedRow] {
	return l.rows(l.dir, messagePrefix, newestBefore(before.Message))
}

// Parts implements [rowReader].
func (l *legacyMessages) Parts(message string) iter.Seq[storedRow] {
	return l.rows(l.partDir(message), partPrefix, oldestFirst)
}

// PartsBefore implements [rowReader].
func (l *legacyMessages) PartsBefore(c cursor) iter.Seq[storedRow] {
	return l.rows(l.partDir(c.Message), partPrefix, newestBefore(c.Part))
}

// Failures implements [rowReader].
func (l *legacyMessages) Failures() int { return l.failures }

// partDir returns the folder of a message's parts.
func (l *legacyMessages) partDir(message string) string { return filepath.Join(l.partFolder, message) }

// oldestFirst keeps the order of sorted names.
func oldestFirst(sorted []string) []string { return sorted }

// newestBefore returns an order: from the last name before the given one down to the first. For "", it begins with the last name.
func newestBefore(name string) func(sorted []string) []string {
	return func(sorted []string) []string {
		if i, _ := slices.BinarySearch(sorted, name); name != "" {
			sorted = sorted[:i]
		}
		slices.Reverse(sorted)
		return sorted
	}
}

// rows yields the files of a folder in an order. A folder that cannot be listed is one row that cannot be read.
func (l *legacyMessages) rows(dir, prefix string, order func(sorted []string) []string) iter.Seq[storedRow] {
	return func(yield func(storedRow) bool) {
		names, err := listJSONNames(l.ctx, dir, prefix)
		if err != nil && !yield(legacyRow("", nil, l.warn(dir, err))) {
			return
		}
		for _, name := range order(names) {
			path := filepath.Join(dir, name+".json")
			data, err := readLegacyFile(l.ctx, path)
			if l.ctx.Err() != nil || !yield(legacyRow(name, data, l.warn(path, warningUnlessGone(path, err)))) {
				return
			}
		}
	}
}

func legacyRow(id string, data []byte, err error) storedRow {
	return storedRow{ID: id, head: data, Read: func() ([]byte, error) { return data, err }}
}

// warn counts a failure, and keeps one warning for each path. It returns the warning, which may be nil.
func (l *legacyMessages) warn(path string, err error) error {
	if err == nil {
		return nil
	}
	l.failures++
	if !l.warned[path] {
		l.warned[path], l.errs = true, append(l.errs, err)
	}
	return err
}

// legacySubAgents finds the sub-agents' sessions that are in JSON files. Only such a file itself names the session's parent, so all files
// of a folder are read, once for all sessions in it.
type legacySubAgents struct {
	files map[string]map[string][]string // by folder and parent
}

// of returns the files of a session's sub-agents, of their sub-agents and so on, each once. Files that cannot be read are left out: the list
// of all sessions has their warnings.
func (l *legacySubAgents) of(ctx context.Context, folder, session string) (family []string) {
	if l.files == nil {
		l.files = map[string]map[string][]string{}
	}
	if l.files[folder] == nil {
		l.files[folder] = map[string][]string{}
		names, _ := listJSONNames(ctx, folder, sessionPrefix)
		for _, name := range names {
			if data, err := readLegacyFile(ctx, filepath.Join(folder, name+".json")); err == nil {
				parent := parseLegacyMetadata(data).Parent
				l.files[folder][parent] = append(l.files[folder][parent], name)
			}
		}
	}
	seen := map[string]bool{session: true} // a damaged store may have a cycle
	for next := []string{session}; len(next) > 0; next = next[1:] {
		for _, id := range l.files[folder][next[0]] {
			if !seen[id] {
				seen[id], next, family = true, append(next, id), append(family, id)
			}
		}
	}
	return family
}

// addUsage adds the usage of a session's sub-agents. If one of them cannot be read, the sum is unknown.
func (l *legacySubAgents) addUsage(ctx context.Context, s *session) {
	folder := filepath.Dir(s.Path)
	for _, id := range l.of(ctx, folder, s.ID) {
		child, err := readLegacySession(ctx, s.Home, filepath.Join(folder, id+".json"), discover.ReadOptions{Tokens: true})
		if err != nil {
			s.used, s.contextSize = usage{}, 0
			return
		}
		if child != nil {
			s.used.Add(child.used)
		}
	}
}
