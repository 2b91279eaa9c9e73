package discover

import (
	"path/filepath"
	"slices"

	"agentctl/proc"
)

// HomeSet is a set of homes: two names of one folder are one home, under the name that came first.
type HomeSet struct {
	list []Home
	real []string // the real path of each
}

// List returns the homes in the order in which they were added.
func (s *HomeSet) List() []Home { return s.list }

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

// Index returns the index of a folder among the homes, -1 if it is none of them.
func (s *HomeSet) Index(dir string) int {
	if i := slices.IndexFunc(s.list, func(h Home) bool { return h.Dir == dir }); i >= 0 {
		return i
	}
	return slices.Index(s.real, RealPath(dir))
}

// ProcessDir is a directory that a process names in its environment, by its absolute path; "" where that leads to another
// directory here, since the process has a mount namespace of its own. Error: that of reading the process's own directory.
func ProcessDir(p proc.Process, dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	if !filepath.IsAbs(dir) {
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
