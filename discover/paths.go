package discover

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

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
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
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
	own.Meta = slices.Clone(own.Meta)
	s.Record = &own
	s.SetMeta(insideDirMeta, s.Dir)
	s.Dir = ""
}
