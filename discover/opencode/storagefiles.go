package opencode

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// maxLegacyFile is the most bytes of a JSON file that are read.
const maxLegacyFile = 16 << 20

var (
	errIncomplete = errors.New("not a complete JSON object")
	errWrongID    = errors.New("the session in it has another ID than its name says")
)

// isLegacyPath reports whether a session's path is that of a JSON file (before 1.2), not of a database.
func isLegacyPath(path string) bool { return strings.HasSuffix(path, ".json") }

// legacyEntries lists the sessions in JSON files. Before 1.2, each session, message and part was a file:
// storage/session/<project>/ses_X.json, storage/message/ses_X/msg_Y.json, storage/part/msg_Y/prt_Z.json. 1.2 to 1.15 copied them into the
// database and left them where they were. 1.17 and later do not read them.
func legacyEntries(ctx context.Context, home discover.Home, q discover.EntryFilter) (out []discover.Entry, err error) {
	if info, err := os.Stat(home.Dir); err != nil || !info.IsDir() || home.FilesOnly {
		return nil, nil // listDatabases has warned
	}
	root := filepath.Join(home.Dir, "storage", "session")
	folders, err := storage.ReadDir(ctx, root)
	errs := []error{newWarning(root, err)}
	for _, f := range folders {
		folder := filepath.Join(root, f.Name())
		// The file of a sub-agent is in its parent's folder; which one it is, only its content shows.
		ofParents := q.Parents == nil || slices.ContainsFunc(q.Parents, func(r discover.Ref) bool { return filepath.Dir(r.Path) == folder })
		if strings.HasPrefix(f.Name(), ".") || !ofParents {
			continue
		}
		ids, err := legacyIDs(ctx, folder, q)
		errs = append(errs, err)
		for _, id := range ids {
			e := discover.Entry{Agent: agentName, ID: id, Path: filepath.Join(folder, id+".json"), Home: home.Dir}
			info, err := storage.Stat(ctx, e.Path)
			if err != nil {
				errs = append(errs, newWarning(e.Path, err))
				continue
			}
			e.Updated, e.Size = info.ModTime, info.Size
			out = append(out, e)
		}
	}
	return out, errors.Join(errs...)
}

// legacyIDs returns the IDs in a folder that may match the filter. It lists the folder only if the filter names no sessions.
func legacyIDs(ctx context.Context, folder string, q discover.EntryFilter) (ids []string, err error) {
	if q.Refs == nil {
		ids, err = jsonNames(ctx, folder, q.ID)
	} else if err = newWarning(folder, storage.CheckDir(ctx, folder)); err == nil {
		for _, r := range q.Refs {
			ids = append(ids, r.ID)
		}
	}
	return slices.DeleteFunc(ids, func(id string) bool { return !isSessionID(id) }), err
}

// jsonNames returns the names of a folder's JSON files that have the prefix, without their extension, sorted: their IDs sort by time.
func jsonNames(ctx context.Context, folder, prefix string) (names []string, err error) {
	entries, err := storage.ReadDir(ctx, folder)
	err = newWarning(folder, err)
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".json"); ok && strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, err
}

// readLegacyFile returns the content of a JSON file; nil if it has vanished. The error is a warning. The agent writes it in place, so that it
// may be incomplete for a moment.
func readLegacyFile(ctx context.Context, path string) ([]byte, error) {
	isWhole := func(data []byte) bool { return storage.Object(data).Complete() }
	data, err := storage.ReadComplete(ctx, path, maxLegacyFile, isWhole)
	if err == nil && !isWhole(data) {
		err = errIncomplete
	}
	if err != nil {
		return nil, newWarning(path, err)
	}
	return data, nil
}

// readLegacySession calls use with one session of JSON files, unless it has vanished. Its errors are warnings. The session is read also if
// there are warnings about its messages: a message that cannot be read is left out, and if it is the last one, the turn is unknown.
func readLegacySession(ctx context.Context, home, path string, options discover.ReadOptions, use func(*session, rowReader)) error {
	data, err := readLegacyFile(ctx, path)
	if data == nil {
		return err
	}
	s := parseLegacySession(data)
	if s.ID+".json" != filepath.Base(path) {
		return newWarning(path, errWrongID)
	}
	s.Parent = parentOf(s.ID, func(id string) (string, bool) {
		if id == s.ID {
			return s.Parent, true
		}
		data, _ := readLegacyFile(ctx, filepath.Join(filepath.Dir(path), id+".json")) // the list of all sessions has the warning
		return parseLegacySession(data).Parent, data != nil
	})
	messages := newLegacyMessages(ctx, path, s.ID)
	s.fill(home, path, messages, options)
	s.SetMeta("legacy", true)
	use(s, messages)
	return errors.Join(messages.errs...)
}

// parseLegacySession parses the JSON file of a session.
func parseLegacySession(data []byte) *session {
	o := storage.Object(data)
	text := func(name string) string { return o.Get(name).Text(nameLimit) }
	at := o.Get("time").Object()
	return &session{
		Record: discover.Record{
			ID: text("id"), Version: text("version"), Parent: text("parentID"), Dir: o.Get("directory").Text(pathLimit),
			Title: parseTitle(o.Get("title").Text(pathLimit)), Archived: at.Get("archived").Int() > 0,
			Created: fromMillis(at.Get("created").Int()), Updated: fromMillis(at.Get("updated").Int()),
			Meta: discover.Facts{"projectID": text("projectID"), "slug": text("slug")}.WithoutEmpty(),
		},
		headless: isHeadlessPermission(string(o.Get("permission").Raw())),
	}
}

// legacyMessages implements [rowReader] for a session in JSON files. Their names are IDs, which sort by time.
type legacyMessages struct {
	ctx                  context.Context // of the call that it lives for
	messages, partFolder string          // the folder of the messages, and that with a folder for the parts of each
	failures             int             // reads that have failed; a file may be read more than once
	warned               map[string]bool // the paths that warnings are about
	errs                 []error         // the warnings
}

// newLegacyMessages derives the folders of a session's messages and parts from the path of the session's file.
func newLegacyMessages(ctx context.Context, path, id string) *legacyMessages {
	root := filepath.Dir(filepath.Dir(filepath.Dir(path)))
	return &legacyMessages{ctx: ctx, messages: filepath.Join(root, "message", id), partFolder: filepath.Join(root, "part"), warned: map[string]bool{}}
}

func (l *legacyMessages) Oldest() iter.Seq[storedRow] {
	return l.rows(l.messages, messagePrefix, false, "")
}

func (l *legacyMessages) Newest(before cursor) iter.Seq[storedRow] {
	return l.rows(l.messages, messagePrefix, true, before.Message)
}

func (l *legacyMessages) Parts(message string) iter.Seq[storedRow] {
	return l.rows(filepath.Join(l.partFolder, message), partPrefix, false, "")
}

func (l *legacyMessages) PartsBefore(c cursor) iter.Seq[storedRow] {
	return l.rows(filepath.Join(l.partFolder, c.Message), partPrefix, true, c.Part)
}

func (l *legacyMessages) Failures() int { return l.failures }

// rows yields the files of a folder, from the oldest on or from the newest before the named one on; for "", that is the newest of all. A folder
// that cannot be listed is one row that cannot be read.
func (l *legacyMessages) rows(dir, prefix string, newestFirst bool, before string) iter.Seq[storedRow] {
	return func(yield func(storedRow) bool) {
		row := func(id, path string, data []byte, err error) bool {
			if err != nil {
				l.warn(path, err)
			}
			return yield(storedRow{ID: id, Head: data, Read: func() ([]byte, error) { return data, err }})
		}
		names, err := jsonNames(l.ctx, dir, prefix)
		if err != nil && !row("", dir, nil, err) {
			return
		}
		if newestFirst {
			if i, _ := slices.BinarySearch(names, before); before != "" {
				names = names[:i]
			}
			slices.Reverse(names)
		}
		for _, name := range names {
			path := filepath.Join(dir, name+".json")
			if data, err := readLegacyFile(l.ctx, path); l.ctx.Err() != nil || !row(name, path, data, err) {
				return
			}
		}
	}
}

// warn counts a failure, and keeps one warning for each path.
func (l *legacyMessages) warn(path string, err error) {
	if l.failures++; !l.warned[path] {
		l.warned[path], l.errs = true, append(l.errs, err)
	}
}

// legacySubAgents finds the sub-agents' sessions that are in JSON files. Only such a file itself names the session's parent, so all files
// of a folder are read, once for all sessions in it.
type legacySubAgents struct {
	mu  sync.Mutex
	ids map[string]map[string][]string // by folder and parent
}

// of returns the IDs of a session's sub-agents, of their sub-agents and so on, each once. Files that cannot be read are left out: the list
// of all sessions has their warnings.
func (l *legacySubAgents) of(ctx context.Context, s *session) (family []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	folder := filepath.Dir(s.Path)
	if l.ids[folder] == nil {
		l.ids[folder] = map[string][]string{}
		parents := map[string]string{}
		names, _ := jsonNames(ctx, folder, sessionPrefix)
		for _, name := range names {
			data, _ := readLegacyFile(ctx, filepath.Join(folder, name+".json"))
			parents[name] = parseLegacySession(data).Parent
		}
		for id := range parents {
			parent := parentOf(id, func(id string) (string, bool) {
				parent, ok := parents[id]
				return parent, ok
			})
			l.ids[folder][parent] = append(l.ids[folder][parent], id)
		}
	}
	family = slices.Clone(l.ids[folder][s.ID])
	for i := 0; i < len(family); i++ { // also those that the loop appends
		family = append(family, l.ids[folder][family[i]]...)
	}
	return family
}

// addUsage adds the usage of a session's sub-agents. If one of them cannot be read, the sum is unknown.
func (l *legacySubAgents) addUsage(ctx context.Context, s *session) {
	for _, id := range l.of(ctx, s) {
		path := filepath.Join(filepath.Dir(s.Path), id+".json")
		add := func(child *session, _ rowReader) { s.used.Add(child.used) }
		if err := readLegacySession(ctx, s.Home, path, discover.ReadOptions{Tokens: true}, add); err != nil {
			s.used, s.contextSize = usage{}, 0
			return
		}
	}
}
