package claudecode

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"agentctl/discover/native"
)

// suffix of transcripts.
const suffix = ".jsonl"

func projectsDir(home string) string { return filepath.Join(home, "projects") }

// transcriptPath is where Claude Code starts the transcript of a session in a directory.
func transcriptPath(home, dir, id string) string {
	return filepath.Join(projectsDir(home), slug(dir), id+suffix)
}

// locate finds the transcript of a session, "" if it is not on disk. It is looked for first where dir says: one id
// may exist in two projects. A session resumed from elsewhere stays in its first project (2.1.329).
func locate(home, dir, id string) string {
	if first := transcriptPath(home, dir, id); exists(first) {
		return first
	}
	projects, _ := projectFolders(home)
	found := ""
	for _, project := range projects {
		if path := filepath.Join(project, id+suffix); exists(path) {
			if found != "" {
				return "" // which of them is not known
			}
			found = path
		}
	}
	return found
}

func exists(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// projectFolders returns the paths of a home's project folders; none if nothing was stored yet. A link counts where
// it leads out of the store: inside, it would show every session twice.
func projectFolders(home string) ([]string, error) {
	root := projectsDir(home)
	names, err := names(root)
	var out []string
	for _, n := range names {
		path := filepath.Join(root, n.Name())
		if n.IsDir() || n.Type() == fs.ModeSymlink && leadsOut(root, path) {
			out = append(out, path)
		}
	}
	return out, err
}

func leadsOut(root, link string) bool {
	target, err := filepath.EvalSymlinks(link)
	if err != nil {
		return false
	}
	info, err := os.Stat(target)
	return err == nil && info.IsDir() && filepath.Dir(target) != realPath(root)
}

// projectsOf returns the project folders that may hold the sessions of a directory: one, or for a very long path all
// that begin alike, because node builds hash the rest in another way.
func projectsOf(home, dir string) []string {
	name := slug(dir)
	if len(name) <= slugLimit {
		return []string{filepath.Join(projectsDir(home), name)}
	}
	var out []string
	projects, _ := projectFolders(home)
	for _, project := range projects {
		if strings.HasPrefix(filepath.Base(project), name[:slugLimit]+"-") {
			out = append(out, project)
		}
	}
	return out
}

// names lists a folder; one that does not exist is empty.
func names(dir string) ([]native.Name, error) {
	d, err := native.OpenDir(dir)
	if native.Absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Names()
}
