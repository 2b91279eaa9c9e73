package claudecode

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/proc"
)

const configKey = "CLAUDE_CONFIG_DIR"

// homeVariables decide the config folder. XDG variables do not matter.
func homeVariables() discover.HomeVariables {
	return discover.HomeVariables{Key: configKey, Default: ".claude"}
}

// Homes returns the config folders: that of this environment, the configured ones, and those that live Claude Code
// processes have in their environment. A program of another name counts if it has registered there.
func (a Adapter) Homes(setup discover.HomeSources, table *proc.Table) []discover.Home {
	h := homeVariables().Named(setup)
	for p := range table.Candidates(proc.Signs{Name: a.MatchesBinary, Env: []string{configKey}}) {
		if !p.Alive() {
			continue
		}
		if dir, _ := homeVariables().OfProcess(p); dir != "" && (a.IsAgentProcess(p) || hasRegistered(p, dir)) {
			h.Add(discover.Home{Dir: dir, NamedBy: []proc.ID{p.ID}})
		}
	}
	return h.List()
}

// hasRegistered reports whether a home, which nobody may have named but the process, has its registry entry.
func hasRegistered(p proc.Process, home string) bool {
	ctx, pid := discover.Confine(context.Background(), []discover.Home{{Dir: home}}), p.NamespacePID()
	entry, err := readRegistryEntry(ctx, home, pid)
	return err == nil && entry.validate(p, pid) == nil && entry.confirmedBy(p)
}

// transcriptSuffix is the suffix of a transcript's name.
const transcriptSuffix = ".jsonl"

func projectsDir(home string) string { return filepath.Join(home, projectsName) }

const projectsName = "projects"

// transcriptPath returns where Claude Code creates the transcript of a session in a directory.
func transcriptPath(home, dir, id string) string {
	return filepath.Join(projectsDir(home), slug(dir), id+transcriptSuffix)
}

// findTranscript returns the path of a session's transcript, "" if there is none or several. The project folder of dir
// comes first, since two projects may have a session with the same ID. A session that was resumed in another directory
// stays in its first project (2.1.329).
func findTranscript(ctx context.Context, home, dir, id string) string {
	if first := transcriptPath(home, dir, id); isFile(ctx, first) {
		return filepath.Join(realFolder(filepath.Dir(first)), filepath.Base(first))
	}
	folders, _ := projectFolders(ctx, home)
	found := ""
	for _, folder := range folders {
		switch path := filepath.Join(folder, id+transcriptSuffix); {
		case !isFile(ctx, path):
		case found == "":
			found = path
		case discover.RealPath(found) != discover.RealPath(path):
			return "" // several: it is not known which is meant
		}
	}
	return found
}

// realFolder returns the project folder that one leads to, which is a link to another one of the same store; else the folder itself.
func realFolder(folder string) string {
	root := filepath.Dir(folder)
	if real := discover.RealPath(folder); filepath.Dir(real) == discover.RealPath(root) {
		return root + "/" + filepath.Base(real)
	}
	return folder
}

func isFile(ctx context.Context, path string) bool {
	_, err := storage.Stat(ctx, path)
	return err == nil
}

// projectFolders lists a home's project folders; there are none before anything was stored. A link to one of them is not another one.
// Errors are warnings, joined.
func projectFolders(ctx context.Context, home string) (paths []string, err error) {
	root := projectsDir(home)
	entries, err := storage.ReadDir(ctx, root)
	err = warning(root, err)
	for _, n := range entries {
		path := root + "/" + n.Name()
		ok := n.IsDir()
		if n.Type() == fs.ModeSymlink || !ok && strings.HasPrefix(n.Name(), "-") { // other files are not Claude Code's
			broken := storage.CheckDir(ctx, path)
			if ok = broken == nil; ok {
				path = realFolder(path)
			} else {
				err = errors.Join(err, warning(path, broken))
			}
		}
		if ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), err
}

// slugLimit is the length to which a slug is cut; then a hash follows.
const slugLimit = 200

// slug returns the name of a directory's project folder: every UTF-16 unit of its real path but A-Z, a-z, 0-9 becomes a
// dash. Several directories have the same slug, so it is never decoded (SEEN 2.1.75–2.1.329). Of a very long one, only the beginning
// is returned: the hash that follows differs between builds.
func slug(dir string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(dir)) {
		switch {
		case b.Len() == slugLimit:
			return b.String() + "-"
		case u < 128 && isAlphanumeric(byte(u)):
			b.WriteByte(byte(u))
		default:
			b.WriteByte('-')
		}
	}
	return b.String()
}

// isSlugOf reports whether a project folder of this name is a directory's.
func isSlugOf(project, dir string) bool {
	name := slug(dir)
	return name == project || len(name) > slugLimit && strings.HasPrefix(project, name)
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// MatchesID reports whether an ID is a random UUID (version 4), as Claude Code makes them (SEEN 2.0–2.1.329). With
// --session-id a session may get any UUID.
func (Adapter) MatchesID(id string) bool { return isUUID(id) && storage.UUIDVersion(id) == '4' }

// ShortID implements [discover.Adapter]. A sub-agent's ID is "agent-", mostly an "a", the name and "-" if it has one, and random hexadecimal digits.
func (Adapter) ShortID(id string) int {
	if isSubagent(id) {
		return strings.LastIndexByte(id, '-') + len("-a") + discover.MinShortID
	}
	return storage.ShortUUIDLen(id)
}

// isUUID reports whether s has the form of a session ID: 8-4-4-4-12 lower- or upper-case hexadecimal digits.
func isUUID(s string) bool { return storage.IsUUID(s, true) }

func isSubagent(id string) bool { return strings.HasPrefix(id, agentPrefix) }

// idOfFile returns the ID of the session whose transcript has this file name.
func idOfFile(name string) (id string, ok bool) {
	id, ok = strings.CutSuffix(name, transcriptSuffix)
	if !ok || !isUUID(id) && (!isSubagent(id) || len(id) == len(agentPrefix)) {
		return "", false
	}
	return id, true
}

// ReadDisk counts a session's transcript, its folder beside that, and whatever the folders of the home have under its ID: file
// history, debug logs, todos, tasks.
func (Adapter) ReadDisk(ctx context.Context, homes []discover.Home, records []discover.Record) iter.Seq2[discover.DiskUse, error] {
	return discover.CountDisk(ctx, agentName, homes, func(c *discover.DiskCounter) {
		c.DiskTree.Home(c.Home.Dir, newOwners(c.Home.Dir, records).placeOf, c.Add)
	})
}

// owners are the indexes of a home's records: by transcript, by ID, and by the name of a background job. Of several sessions with one ID, the first
// has what the folders of the home have under it.
type owners struct {
	home                   string
	byPath, byID, byJobDir map[string]int
}

func newOwners(home string, records []discover.Record) owners {
	o := owners{home, map[string]int{}, map[string]int{}, map[string]int{}}
	for i, r := range records {
		o.byPath[r.Path] = i
		if r.Home != home || r.IsSubagent() || len(r.ID) < jobIDLen {
			continue
		}
		if _, known := o.byID[r.ID]; !known {
			o.byID[r.ID] = i
		}
		if _, known := o.byJobDir[jobIDOf(r.ID)]; known {
			i = storage.Nobody
		}
		o.byJobDir[jobIDOf(r.ID)] = i
	}
	return o
}

// placeOf says whose an entry of the home is.
func (o owners) placeOf(path string, e fs.DirEntry) storage.Place {
	find := func(by map[string]int, key, kind string) storage.Place {
		i, ok := by[key]
		if !ok {
			i = storage.Nobody
		}
		return storage.Place{Owner: i, Kind: kind}
	}
	folder, name, below := strings.Cut(path, "/")
	within := strings.Count(name, "/") // of a project folder
	switch full := filepath.Join(o.home, path); {
	case !below:
		return storage.Place{Owner: storage.Nobody, Open: e.IsDir() || folder == projectsName}
	case folder == "jobs":
		return find(o.byJobDir, name, "")
	case folder != projectsName:
		return find(o.byID, name[:min(len(name), storage.UUIDLen)], "")
	case within == 0:
		return storage.Place{Owner: storage.Nobody, Open: e.IsDir()}
	case within == 1 && !e.IsDir():
		return find(o.byPath, full, "transcript")
	case within == 1:
		place := find(o.byPath, full+transcriptSuffix, "")
		place.Open = place.Owner >= 0
		return place
	default: // the folder of a session beside its transcript
		return find(o.byPath, filepath.Dir(full)+transcriptSuffix, kindOf(e.Name()))
	}
}

// kindOf returns what an entry of a session's folder is.
func kindOf(name string) string {
	if name == subagentsName {
		return "sub-agents"
	}
	return strings.ReplaceAll(name, "-", " ")
}
