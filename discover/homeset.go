package discover

import (
	"path/filepath"
	"slices"

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
	env, err := Environ(p, v.Key, "HOME")
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
