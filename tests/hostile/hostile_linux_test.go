package hostile

import (
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver"

	"agentctl/tests/sandbox"
)

var (
	seed = flag.Uint64("hostile.seed", 1, "the `seed` of all cases (with -hostile.for another one each time)")
	only = flag.Int("hostile.case", -1, "run this case only, by its `number`")
	span = flag.Duration("hostile.for", 0, "run cases for this `time` instead of 40")
)

// cases is the number of cases without -hostile.for.
const cases = 40

func TestMain(m *testing.M) {
	if code, ran := sandbox.Enter(sandbox.Processes | sandbox.Network); ran {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// TestHostile reads homes whose stores are damaged in one to four places.
func TestHostile(t *testing.T) {
	agentctl := build(t)
	homes := makeHomes(t)
	var before [][]row
	for _, home := range homes {
		before = append(before, survey(t, agentctl, home))
	}
	if *span > 0 {
		*seed = rand.Uint64()
	}
	end := time.Now().Add(*span)
	n := 0
	for ; *span > 0 && time.Now().Before(end) || *span == 0 && n < cases; n++ {
		number := n
		if *only >= 0 {
			number, n = *only, cases
		}
		r := rand.New(rand.NewPCG(*seed, uint64(number)))
		of := r.IntN(len(homes))
		c := &trial{T: t, Rand: r, agentctl: agentctl, name: fmt.Sprintf("-hostile.seed %d -hostile.case %d", *seed, number), stored: before[of]}
		c.play(homes[of])
	}
	t.Logf("-hostile.seed %d, %d cases", *seed, n)
}

// build builds agentctl as it is released.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "agentctl")
	if out, err := exec.Command("../build", bin).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// captured is the number of homes that are made of captured stores; each holds a part of them, of all three agents.
const captured = 4

// makeHomes makes the undamaged homes.
func makeHomes(t *testing.T) (homes []string) {
	t.Helper()
	for n := range captured {
		home := t.TempDir()
		for agent, pattern := range map[string]string{
			".claude": "../../discover/claudecode/testdata/fixtures/[0-9]*", ".codex": "../../discover/codex/testdata/[0-9]*",
		} {
			stores, err := filepath.Glob(pattern)
			if err != nil || len(stores) < captured {
				t.Fatalf("%s: %d captured stores (%v)", pattern, len(stores), err)
			}
			for i := n; i < len(stores); i += captured {
				copyTree(t, stores[i], filepath.Join(home, agent))
			}
		}
		const from = "../../discover/opencode/testdata/"
		to := filepath.Join(home, ".local/share/opencode")
		switch n {
		case 0:
			restore(t, from+"dumps/family.sql", to)
		case 1:
			copyTree(t, from+"raw-tui-permission-pending", to)
		case 2:
			copyTree(t, from+"json-1.1.65-said", to)
		default:
			restore(t, from+"dumps/resume.sql", to)
		}
		homes = append(homes, home)
	}
	return homes
}

// restore makes OpenCode's database of a dump.
func restore(t *testing.T, dump, to string) {
	t.Helper()
	script, err := os.ReadFile(dump)
	check(t, err)
	check(t, os.MkdirAll(to, 0o755))
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(to, "opencode.db")+"?_pragma=journal_mode(wal)&_pragma=foreign_keys(off)")
	check(t, err)
	db.SetMaxOpenConns(1)
	_, err = db.Exec(string(script))
	check(t, errors.Join(err, db.Close()))
}

// copyTree copies directories, regular files and links, with the times of files.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	check(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case info.Mode()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			return errors.Join(err, os.Symlink(link, target))
		case !info.Mode().IsRegular():
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return errors.Join(os.WriteFile(target, raw, info.Mode().Perm()), os.Chtimes(target, info.ModTime(), info.ModTime()))
	}))
}

// row is what is read of a row of list --json.
type row struct {
	ID            *string
	Adapter, Path string
}

// survey lists what an undamaged home holds; paths are below it.
func survey(t *testing.T, agentctl, home string) (rows []row) {
	t.Helper()
	cmd := exec.Command(agentctl, "list", "-a", "--since", "all", "--children", "--json")
	cmd.Env = environment(home)
	out, err := cmd.Output()
	check(t, err)
	check(t, json.Unmarshal(out, &rows))
	if len(rows) < 5 {
		t.Fatalf("only %d sessions in an undamaged home", len(rows))
	}
	for i := range rows {
		rows[i].Path = strings.TrimPrefix(rows[i].Path, home+"/")
	}
	return rows
}

func environment(home string) []string {
	return []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TZ=UTC", "LANG=C.UTF-8", "TERM=dumb"}
}

// trial is one case as it is played.
type trial struct {
	*testing.T
	*rand.Rand
	agentctl, name, home string
	stored               []row
	done                 []string        // the damages
	touched              map[string]bool // paths below home that are not what they were
}

// fail reports what must not happen, with what was done before.
func (c *trial) fail(format string, args ...any) {
	c.Helper()
	c.Errorf("%s: %s\n%s", c.name, fmt.Sprintf(format, args...), strings.Join(c.done, "\n"))
}

// play damages a copy of a home, and reads it.
func (c *trial) play(home string) {
	c.Helper()
	dir, err := os.MkdirTemp("", "hostile-")
	check(c.T, err)
	defer os.RemoveAll(dir)
	c.home, c.touched = filepath.Join(dir, "home"), map[string]bool{}
	copyTree(c.T, home, c.home)
	for range 1 + c.IntN(4) {
		if err := c.damage(); err != nil {
			c.done = append(c.done, err.Error()) // what was damaged before is in the way
		}
	}
	before := c.tree()
	c.lost(c.run("list", "-a", "--since", "all", "--children", "--json"))
	for range 5 {
		c.run(c.reader()...)
	}
	if after := c.tree(); !slices.Equal(before, after) {
		c.fail("the home is not what it was:\n%q\n%q", before, after)
	}
}

// reader is one of the command lines that only read.
func (c *trial) reader() []string {
	lines := []string{
		"list --json", "list -a --since all", "list -a --since all --tokens --json", "list -a --wide", "list -a -n 3 --json", "list --cwd HOME -a --json",
		"list -a --since all --format {{.id}}{{.title}}{{.prompt}}{{.cwd}}", "status ID", "status ID --json --explain", "status ID --explain",
		"peek ID", "peek ID --json -n 0 --tools --children", "export ID", "export ID --json --children", "export ID --tools full", "export ID --as html --children",
		"logs ID --tools --children", "logs ID --json -n 0", "search --since all -m 3 the", "search --since all --children --json -m 1 -C 1 -n 5 .",
		"search -l --since all -w no-such-word", "usage --since all", "usage --since all --by session --json", "usage --limits --since all --json",
		"du --json", "du --by month --json", "doctor --json", "metrics --tokens", "stop ID --dry-run --json", "rm ID --dry-run", "rm --older-than 1d --dry-run --json",
		"wait ID --timeout 1s --json", "guard HOME --json", "locks --json", "list --orphans --json", "__complete status ",
	}
	args := strings.Split(lines[c.IntN(len(lines))], " ")
	for i, word := range args {
		switch word {
		case "ID":
			if args[i] = "none"; len(c.stored) > 0 {
				if id := c.stored[c.IntN(len(c.stored))].ID; id != nil {
					args[i] = *id
				}
			}
		case "HOME":
			args[i] = c.home
		}
	}
	return args
}

// lost checks that each session is listed whose file is as it was. OpenCode's share one.
func (c *trial) lost(out string) {
	var rows []row
	if json.Unmarshal([]byte(out), &rows) != nil {
		return // run has said so
	}
	for _, s := range c.stored {
		if s.ID == nil || c.damaged(s.Path) || s.Adapter == "opencode" && c.damagedBelow(".local") {
			continue
		}
		if !slices.ContainsFunc(rows, func(r row) bool { return r.ID != nil && *r.ID == *s.ID && r.Adapter == s.Adapter }) {
			c.fail("%s of %s is not listed, and its file is as it was: %s", *s.ID, s.Adapter, s.Path)
		}
	}
}

// damaged reports whether a path, or what lies above it, was touched.
func (c *trial) damaged(path string) bool {
	for ; path != "." && path != "/"; path = filepath.Dir(path) {
		if c.touched[path] {
			return true
		}
	}
	return false
}

func (c *trial) damagedBelow(dir string) bool {
	for path := range c.touched {
		if strings.HasPrefix(path, dir) {
			return true
		}
	}
	return false
}

// tree describes all that lies below the home: names, kinds, modes, sizes, times.
func (c *trial) tree() (list []string) {
	check(c.T, filepath.WalkDir(c.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err == nil {
			list = append(list, fmt.Sprintf("%q %s %d %s", path, info.Mode(), info.Size(), info.ModTime()))
		}
		return err
	}))
	return list
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
