package discover

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"agentctl/proc"
)

// HomeVariables say by which variables an agent finds its home: in $Key, or the folder Below in that; else in the folder Default of $HOME.
type HomeVariables struct{ Key, Below, Default string }

// Dir returns the home that an environment names; "" if it names none. A relative path in $Key counts, unless the home is below it.
func (v HomeVariables) Dir(getenv func(string) string) string {
	dir, user := getenv(v.Key), getenv("HOME")
	switch {
	case dir != "" && (v.Below == "" || filepath.IsAbs(dir)):
		return filepath.Join(dir, v.Below)
	case filepath.IsAbs(user):
		return filepath.Join(user, v.Default)
	}
	return ""
}

// OfProcess returns the home that a process was started with, by its absolute path; "" if its environment names none, or if that path
// leads to another directory here, since the process has a mount namespace of its own. Error: that of reading the process.
func (v HomeVariables) OfProcess(p proc.Process) (string, error) {
	env, err := p.Env(v.Key, "HOME")
	if err != nil {
		return "", err
	}
	dir := v.Dir(func(key string) string { return env[key] })
	if dir != "" && !filepath.IsAbs(dir) {
		cwd, err := p.Cwd()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(cwd, dir)
	}
	if same, err := p.SamePath(dir); err == nil && !same {
		return "", nil
	}
	return dir, nil
}

// Env returns the variable that leads the agent to a home, where an environment leads it to another one; else nothing.
func (v HomeVariables) Env(home string, getenv func(string) string) []string {
	if home == "" || RealPath(home) == RealPath(v.Dir(getenv)) {
		return nil
	}
	return []string{v.Key + "=" + home}
}

// ListedHome returns the name under which a home is among the given ones, so that claims and records have the same paths; "" if it is none
// of them. Then nothing in it is opened.
func ListedHome(dir string, homes []Home) string {
	if dir == "" || slices.ContainsFunc(homes, func(h Home) bool { return h.Dir == dir }) {
		return dir
	}
	real := RealPath(dir)
	for _, h := range homes {
		if RealPath(h.Dir) == real {
			return h.Dir
		}
	}
	return ""
}

// Named returns the homes that the environment and the user name.
func (v HomeVariables) Named(from HomeSources) (s HomeSet) {
	s.Add(Home{Dir: v.Dir(from.Getenv), FromUser: true})
	for _, dir := range from.Configured {
		s.Add(Home{Dir: dir, FromUser: true, Explicit: true})
	}
	return s
}

// HomeSet is a set of homes: two names of one folder, or of one file outside of it, are one home, under the name that came first.
type HomeSet struct {
	list []Home
	real []string // the real path of each
}

// List returns the homes in the order in which they were added.
func (s *HomeSet) List() []Home { return s.list }

// RealPath returns the real path of the home with this index.
func (s *HomeSet) RealPath(i int) string { return s.real[i] }

// Add adds a home; one without a folder is none.
func (s *HomeSet) Add(h Home) {
	if h.Dir == "" {
		return
	}
	if abs, err := filepath.Abs(h.Dir); err == nil {
		h.Dir = abs
	}
	if i := s.Index(h.Dir); i >= 0 {
		s.list[i].Merge(h)
		return
	}
	s.list, s.real = append(s.list, h), append(s.real, RealPath(h.Dir))
}

// AddFile adds a file as a home of its own.
func (s *HomeSet) AddFile(h Home, file string) {
	h.Files, h.FilesOnly = []string{file}, true
	i := slices.IndexFunc(s.list, func(o Home) bool {
		return o.FilesOnly && o.Dir == h.Dir && (o.Files[0] == file || RealPath(o.Files[0]) == RealPath(file))
	})
	if i >= 0 {
		s.list[i].Merge(h)
		return
	}
	s.list, s.real = append(s.list, h), append(s.real, RealPath(h.Dir))
}

// Index returns the index of a folder among the homes, -1 if it is none of them. It compares names first: that is enough for most.
func (s *HomeSet) Index(dir string) int {
	if i := slices.IndexFunc(s.list, func(h Home) bool { return h.Dir == dir && !h.FilesOnly }); i >= 0 {
		return i
	}
	real := RealPath(dir)
	for i, h := range s.list {
		if !h.FilesOnly && s.real[i] == real {
			return i
		}
	}
	return -1
}

// RealPath returns path with symbolic links resolved; if it does not exist, path, cleaned.
func RealPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// dirOwner returns the user that owns a directory, if it exists.
func dirOwner(dir string) (uid int, ok bool) {
	info, err := os.Stat(dir)
	if err != nil {
		return 0, false
	}
	st, _ := info.Sys().(*syscall.Stat_t)
	return int(st.Uid), true
}

// insideDirMeta is the meta key of a directory by its path in the mount namespace or root directory of the processes, where
// that path is another directory here, or none.
const insideDirMeta = "cwdInside"

// dropForeignDir removes the directory from a session if its path is another directory for all processes that run it: it
// conflicts with no session here, and nothing is read or started there. The path is kept in the session's Meta.
func (s *Session) dropForeignDir() {
	if s.Dir == "" || len(s.Processes) == 0 {
		return
	}
	for _, p := range s.Processes {
		if same, err := p.SamePath(s.Dir); same || err != nil { // what cannot be told changes nothing
			return
		}
	}
	own := *s.Record
	s.Record = &own
	s.SetMeta(insideDirMeta, s.Dir)
	s.Dir = ""
}
