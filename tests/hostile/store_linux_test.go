package hostile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// store damages the stores of a home, and reads them by some commands.
func (t *trial) store() error {
	b := &t.bases[t.IntN(len(t.bases))]
	if err := t.survey(b); err != nil {
		return err
	}
	t.note("%s", filepath.Base(b.dir))
	if err := copyTree(b.dir, t.home); err != nil {
		return err
	}
	if err := t.damages(); err != nil {
		return err
	}
	before, err := readTree(t.home)
	if err != nil {
		return err
	}
	var ids []string
	for _, s := range b.sessions {
		if s.ID != nil {
			ids = append(ids, *s.ID)
		}
	}
	t.lost(b, t.run("list", "-a", "--since", "all", "--children", "--json"))
	t.read(ids, 7)
	t.unchanged("the home", t.home, before)
	return nil
}

// damages are one to four at random places of the stores.
func (t *trial) damages() error {
	roots := []string{".claude", ".claude", ".claude/projects", ".codex", ".codex/sessions", ".local/share/opencode", ".local/share/opencode", ".local"}
	for range 1 + t.IntN(4) {
		root := filepath.Join(t.home, pick(t, roots))
		if info, err := os.Lstat(root); err != nil || !info.IsDir() {
			continue
		}
		if err := t.damage(root); err != nil {
			t.note("%v", err) // what was damaged before is in the way
		}
	}
	return nil
}

// lost checks that each session is listed of which a file is as it was, and that what is not listed any more is said to be missing.
func (t *trial) lost(b *base, c *call) {
	if c.cut {
		return
	}
	if c.code != 0 && c.code != 6 {
		t.fail("lost session", "%s: exit code %d\n%s", c, c.code, start(c.errs.Bytes()))
		return
	}
	rows := c.sessions()
	for _, s := range b.sessions {
		if s.ID == nil || slices.ContainsFunc(rows, func(r session) bool { return r.ID != nil && *r.ID == *s.ID && r.Adapter == s.Adapter }) {
			continue
		}
		switch {
		case !t.damaged(s):
			t.fail("lost session", "%s is not listed, and one of its files is as it was: %q", s, s.files)
		case c.code != 6 && t.present(s):
			t.fail("lost in silence", "%s is not listed, its file is there, and the exit code is %d: %s", s, c.code, s.Path)
		}
	}
}

// damaged reports whether everything was touched that may tell of a session: all of its files, and of OpenCode anything.
func (t *trial) damaged(s session) bool {
	if s.Adapter == "opencode" {
		for path := range t.touched {
			if strings.HasPrefix(path, ".local/share/opencode") {
				return true
			}
		}
	}
	return !slices.ContainsFunc(s.files, t.intact)
}

// intact reports whether neither a file nor what lies above it was touched.
func (t *trial) intact(path string) bool {
	for ; path != "."; path = filepath.Dir(path) {
		if t.touched[path] {
			return false
		}
	}
	return true
}

// present reports whether something that is not a regular file has the name of the session's.
func (t *trial) present(s session) bool {
	info, err := os.Lstat(filepath.Join(t.home, s.Path))
	if err != nil || s.Adapter == "opencode" && info.Mode()&os.ModeSymlink != 0 {
		return false // a database's log lies beside what the link leads to
	}
	return !info.Mode().IsRegular() && !info.IsDir()
}
