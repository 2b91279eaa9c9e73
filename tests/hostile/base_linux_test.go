package hostile

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	_ "github.com/ncruces/go-sqlite3/driver"

	"agentctl/tests/store/generate"
)

// base is an undamaged home, and what list says of it.
type base struct {
	dir      string
	sessions []session // their paths are below the home
}

// The homes that are made of captured stores; each holds a part of them, of all three agents.
const captured = 4

// makeBases makes the undamaged homes below dir, and a git repository with a linked worktree.
func makeBases(dir string) error {
	o := generate.Defaults()
	o.Sessions, o.Min, o.Median, o.Max = 9, 20_000, 30_000, 90_000
	for n := range 2 {
		o.Seed = uint64(n + 1)
		home := filepath.Join(dir, fmt.Sprintf("generated-%d", n))
		if err := os.MkdirAll(home, 0o755); err != nil {
			return err
		}
		if _, err := generate.Store(home, o); err != nil {
			return err
		}
	}
	for n := range captured {
		if err := makeCaptured(filepath.Join(dir, fmt.Sprintf("captured-%d", n)), n); err != nil {
			return err
		}
	}
	return makeRepository(filepath.Join(dir, "repo"))
}

// makeCaptured makes a home of every fourth captured store.
func makeCaptured(home string, n int) error {
	for agent, pattern := range map[string]string{
		".claude": "../../discover/claudecode/testdata/fixtures/[0-9]*", ".codex": "../../discover/codex/testdata/[0-9]*",
	} {
		stores, err := filepath.Glob(pattern)
		if err != nil || len(stores) < captured {
			return fmt.Errorf("%s: %d captured stores (%w)", pattern, len(stores), err)
		}
		for i := n; i < len(stores); i += captured {
			if err := copyTree(stores[i], filepath.Join(home, agent)); err != nil {
				return err
			}
		}
	}
	const from = "../../discover/opencode/testdata/"
	to := filepath.Join(home, ".local/share/opencode")
	switch n {
	case 0:
		return restore(from+"dumps/family.sql", to)
	case 1:
		return copyTree(from+"raw-tui-permission-pending", to)
	case 2:
		return copyTree(from+"json-1.1.65-said", to)
	}
	return restore(from+"dumps/resume.sql", to)
}

// restore makes OpenCode's database of a dump.
func restore(dump, to string) error {
	script, err := os.ReadFile(dump)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(to, "opencode.db")+"?_pragma=journal_mode(wal)&_pragma=foreign_keys(off)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	_, err = db.Exec(string(script))
	return errors.Join(err, db.Close())
}

// makeRepository makes a repository with two commits, a branch, and hooks.
func makeRepository(dir string) error {
	script := `set -e
git init -q -b main .
echo one >file && git add file && git -c user.name=t -c user.email=t@t commit -q -m one
echo two >file && git -c user.name=t -c user.email=t@t commit -q -a -m two
git branch side HEAD~1
printf '#!/bin/sh\necho before\n' >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit
printf '#!/bin/sh\nexit 0\n' >.git/hooks/pre-push && chmod +x .git/hooks/pre-push
`
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git: %w\n%s", err, out)
	}
	return nil
}

// loadBases finds the homes.
func loadBases(dir string) ([]base, error) {
	list, err := filepath.Glob(filepath.Join(dir, "*-[0-9]"))
	if err != nil || len(list) == 0 {
		return nil, fmt.Errorf("no homes below %s (%w)", dir, err)
	}
	slices.Sort(list)
	var out []base
	for _, path := range list {
		out = append(out, base{dir: path})
	}
	return out, nil
}

// survey lists what the home of a base holds, once.
func (w *worker) survey(b *base) error {
	if b.sessions != nil {
		return nil
	}
	cmd := exec.Command(w.Binary, "list", "-a", "--since", "all", "--children", "--json")
	cmd.Env = []string{"HOME=" + b.dir, "XDG_STATE_HOME=" + w.Dir, "XDG_CONFIG_HOME=" + w.Dir}
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("list of an undamaged store: %w", err)
	}
	if err := json.Unmarshal(out, &b.sessions); err != nil {
		return err
	}
	if len(b.sessions) < 5 {
		return fmt.Errorf("only %d sessions in %s", len(b.sessions), b.dir)
	}
	for i, s := range b.sessions {
		b.sessions[i].Path = strings.TrimPrefix(s.Path, b.dir+"/")
	}
	return b.findFiles()
}

// findFiles finds the files of the sessions. Of a session of Codex there are several where an earlier prompt was edited.
func (b *base) findFiles() error {
	rollouts, err := filepath.Glob(filepath.Join(b.dir, ".codex/sessions/*/*/*/rollout-*"))
	if err != nil {
		return err
	}
	for i := range b.sessions {
		s := &b.sessions[i]
		s.files = []string{s.Path}
		for _, path := range rollouts {
			if rel := strings.TrimPrefix(path, b.dir+"/"); rel != s.Path && s.ID != nil && s.Adapter == "codex" && strings.Contains(rel, *s.ID) {
				s.files = append(s.files, rel)
			}
		}
	}
	return nil
}
