package claudecode

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// transcriptSuffix of transcripts.
const transcriptSuffix = ".jsonl"

func projectsDir(home string) string { return filepath.Join(home, projectsName) }

const projectsName = "projects"

// transcriptPath is where Claude Code starts the transcript of a session in a directory.
func transcriptPath(home, dir, id string) string {
	return filepath.Join(projectsDir(home), slug(dir), id+transcriptSuffix)
}

// findTranscript finds the transcript of a session, "" if it is not on disk. It is looked for first where dir says: one id
// may exist in two projects. A session resumed from elsewhere stays in its first project (2.1.329).
func findTranscript(ctx context.Context, home, dir, id string) string {
	if first := transcriptPath(home, dir, id); isFile(first) {
		return first
	}
	projects, _ := openProjects(ctx, home)
	defer projects.close()
	found := ""
	for _, hit := range projects.find(ctx, id) {
		if hit.err == nil {
			if found != "" {
				return "" // which of them is not known
			}
			found = projects.path(hit.folder, id)
		}
	}
	return found
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// projects are the folders of a home's store, ready to be looked into.
type projects struct {
	dir     *fsread.Dir // nil where there are none
	folders []string
}

// openProjects lists a home's project folders; none if nothing was stored yet. A link counts where it leads out of the
// store: inside, it would show every session twice. Errors are warnings, joined; close the projects even if there is
// one.
func openProjects(ctx context.Context, home string) (p projects, err error) {
	root := projectsDir(home)
	p.dir, err = fsread.OpenDir(ctx, root)
	if fsread.IsNotExist(err) {
		return p, nil
	}
	if err != nil {
		return p, warning(root, cause(err))
	}
	var errs []error
	for n, err := range p.dir.AllEntries(nil) {
		if err != nil {
			errs = append(errs, warning(root, cause(err)))
			break
		}
		ok := n.IsDir()
		// Every absolute path makes a name that begins with a dash; other files are none of Claude Code's.
		if !ok && (n.Type() == fs.ModeSymlink || strings.HasPrefix(n.Name(), "-")) {
			path := root + "/" + n.Name()
			if ok, err = isExternalLink(ctx, root, path); err != nil {
				errs = append(errs, warning(path, cause(err)))
			}
		}
		if ok {
			p.folders = append(p.folders, n.Name())
		}
	}
	return p, errors.Join(errs...)
}

func (p projects) close() {
	if p.dir != nil {
		_ = p.dir.Close()
	}
}

// path is where a session's transcript is if it lies in this folder.
func (p projects) path(folder, id string) string {
	return p.dir.Path() + "/" + folder + "/" + id + transcriptSuffix
}

// match is a project folder that has a transcript of the session in question, or may have: err says why it cannot be told.
type match struct {
	folder string
	info   fsread.FileInfo
	err    error
}

// find looks for a session's transcript in all folders at once, without opening them. The hits are in order of name.
func (p projects) find(ctx context.Context, id string) (hits []match) {
	file := id + transcriptSuffix
	stat := func(folder string, _ *fsread.Buffers, h *match) (bool, error) {
		h.folder = folder
		h.info, h.err = p.dir.Stat(folder + "/" + file)
		return !fsread.IsNotExist(h.err), nil
	}
	for h, err := range fsread.ReadParallel(ctx, p.folders, stat) {
		if err != nil {
			h.err = err
		}
		hits = append(hits, *h)
	}
	slices.SortFunc(hits, func(a, b match) int { return cmp.Compare(a.folder, b.folder) })
	return hits
}

// isExternalLink reports whether what stands in place of a project folder is a link to a folder outside of the store. It is
// an error if it is no folder at all.
func isExternalLink(ctx context.Context, root, link string) (bool, error) {
	d, err := fsread.OpenDir(ctx, link)
	if err != nil {
		return false, err
	}
	_ = d.Close()
	return filepath.Dir(discover.RealPath(link)) != discover.RealPath(root), nil
}

// projectDirs returns the project folders that may hold the sessions of a directory: one, or for a very long path all
// that begin alike, because node builds hash the rest in another way.
func projectDirs(ctx context.Context, home, dir string) []string {
	name := slug(dir)
	if len(name) <= slugLimit {
		return []string{filepath.Join(projectsDir(home), name)}
	}
	var out []string
	projects, _ := openProjects(ctx, home)
	defer projects.close()
	for _, folder := range projects.folders {
		if strings.HasPrefix(folder, name[:slugLimit]+"-") {
			out = append(out, filepath.Join(projectsDir(home), folder))
		}
	}
	return out
}

// readDir lists a folder; one that does not exist is empty.
func readDir(ctx context.Context, dir string) ([]fsread.DirEntry, error) {
	d, err := fsread.OpenDir(ctx, dir)
	if fsread.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Entries()
}

// slugLimit is the length from which a slug is cut and given a hash.
const slugLimit = 200

// slug names the project folder of a directory (its real path): every UTF-16 unit but A-Z, a-z, 0-9 becomes a dash.
// Several directories share a slug, so it is only ever computed, never decoded (seen in 2.1.75 to 2.1.329).
func slug(dir string) string {
	units := utf16.Encode([]rune(dir))
	var b strings.Builder
	hash := int32(0)
	for _, u := range units {
		hash = hash<<5 - hash + int32(u)
		if u < 128 && isAlphanumeric(byte(u)) {
			b.WriteByte(byte(u))
		} else {
			b.WriteByte('-')
		}
	}
	if b.Len() <= slugLimit {
		return b.String()
	}
	return b.String()[:slugLimit] + "-" + strconv.FormatUint(uint64(abs(int64(hash))), 36)
}

// isSlugOf reports whether a project folder of that name is a directory's. What follows the cut in the name of a very
// long one differs between builds.
func isSlugOf(project, dir string) bool {
	name := slug(dir)
	return name == project || len(name) > slugLimit && strings.HasPrefix(project, name[:slugLimit+1])
}

func abs(n int64) int64 { return max(n, -n) }

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
