package discover

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// RealPath returns path without symbolic links, if there is something of that name; else path, cleaned.
func RealPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// dirOwner is the user that a directory belongs to, if it is there.
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

// insideDirMeta is the meta key of a directory as processes name it that have a mount namespace or root directory of their
// own, where that name leads to another directory here, or to none.
const insideDirMeta = "cwdInside"

// dropForeignDir takes the directory from a session if none of the processes that run it means the directory that we call so:
// it is in the way of nobody here, and nothing is read or started there. The name is kept among the session's own facts.
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
