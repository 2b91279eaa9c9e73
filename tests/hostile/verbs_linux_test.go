package hostile

import (
	"os"
	"strings"
	"syscall"
	"time"

	"agentctl/tests/hostile/mutate"
)

// readers are the command lines that change nothing. ID, DIR and REPO stand for a session's, a directory and the repository.
func readers() []string {
	return []string{
		"list --json", "list", "list -a --since all --json", "list -a --since all", "list -a --since all --tokens --json", "list -a --since all --wide --json",
		"list -a --wide", "list -a --since all --children", "list -aq --since all", "list --orphans --json", "list -a -n 3 --json", "list --cwd DIR -a --json",
		"list -a --since all --format {{.id}}{{.title}}{{.prompt}}{{.cwd}}", "list -a --group g", "list -a --status stopped --json",
		"status ID", "status ID --json", "status ID --json --explain", "status ID --explain", "status ID --alive", "status pid:1 --json",
		"peek ID", "peek ID --json", "peek ID -n 0 --tools", "peek ID --json -n 0 --tools --children",
		"export ID", "export ID --json --children", "export ID --tools full --children", "export ID --as html --children",
		"logs ID", "logs ID --json -n 0", "logs ID -f --json", "logs ID --tools --children",
		"stop ID --dry-run", "stop ID --dry-run --json", "stop --all --yes --dry-run --json", "stop --orphans --dry-run --yes --json", "stop --cwd DIR --dry-run",
		"wait ID --timeout 1s", "wait ID --timeout 1s --json --until idle", "wait ID --until any-change --timeout 100ms",
		"guard DIR", "guard REPO --json", "guard --strict", "locks", "locks --json", "metrics", "metrics --tokens", "doctor", "doctor --json",
		"current", "current --json", "hooks status", "hooks status --json", "worktree list", "worktree list --json", "worktree list DIR --json",
		"worktree clean DIR --dry-run --json", "__complete status ", "__complete list --cwd ", "__complete worktree clean ", "completion bash", "version --json",
		"search --since all -m 3 the", "search --since all --children --json -m 1 -C 1 -n 5 .", "search -l --since all -w no-such-word",
		"usage --since all", "usage --since all --by session --json", "usage --by model --since all --json", "usage --limits --since all --json",
		"du --json", "du --by project", "du --by month --json", "wait ID --until reset --timeout 100ms",
		"rm ID --dry-run", "rm --older-than 1d --dry-run --json", "archive ID --dry-run --json", "unarchive ID --dry-run",
		"hooks run pre-commit", "hooks run post-checkout", "unlock DIR", "events", "events --initial --children",
	}
}

// read runs some of the commands that change nothing.
func (t *trial) read(ids []string, runs int) {
	all := readers()
	for range runs {
		c := &call{args: t.command(all[t.IntN(len(all))], ids)}
		switch {
		case c.args[0] == "events":
			c.after, c.send = time.Duration(1+t.IntN(700))*time.Millisecond, pick(t, []syscall.Signal{syscall.SIGINT, syscall.SIGTERM})
		case t.IntN(10) == 0:
			c.after, c.send = time.Duration(1+t.IntN(60))*time.Millisecond, syscall.SIGINT
		}
		switch c.args[0] {
		case "list", "status", "peek", "logs":
			if !strings.Contains(strings.Join(c.args, " "), "-f") && t.IntN(6) == 0 {
				c.terminal = true
				c.args = append(c.args, "--no-trunc")
				if c.args[0] == "peek" || c.args[0] == "logs" {
					c.args = append(c.args, "--no-pager")
				}
			}
		}
		t.do(c)
	}
}

// command fills in what the words of a command line stand for.
func (t *trial) command(line string, ids []string) []string {
	args := strings.Split(line, " ")
	for i, a := range args {
		switch a {
		case "ID":
			args[i] = t.id(ids)
		case "DIR":
			args[i] = pick(t, []string{t.repo, t.home, t.dir, "/", "/dev", "/proc/1"})
			if t.IntN(2) == 0 {
				args[i] = t.trap()
			}
			if strings.HasPrefix(args[i], "-") || strings.Contains(args[i], "\x00") {
				args[i] = "."
			}
		case "REPO":
			args[i] = t.repo
		}
	}
	return args
}

// id is a session's ID in most cases, and otherwise a text like one.
func (t *trial) id(ids []string) string {
	if len(ids) == 0 {
		return "none"
	}
	id := ids[t.IntN(len(ids))]
	if t.IntN(8) > 0 {
		return id
	}
	id = strings.TrimLeft(strings.ReplaceAll(mutate.IDLike(t.Rand, id), "\x00", ""), "-")
	if id == "" {
		return "0"
	}
	return id
}

// unchanged checks that what lies in the directories is what it was.
func (t *trial) unchanged(what, dir string, before tree) {
	after, err := readTree(dir)
	if err != nil {
		t.fail("generator", "%v", err)
		return
	}
	if list := differences(before, after); len(list) > 0 {
		t.fail("written", "%s: %s", what, strings.Join(list[:min(10, len(list))], "\n"))
	}
}

// exists reports whether something has this name.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
