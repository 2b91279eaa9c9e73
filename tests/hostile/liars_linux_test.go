package hostile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// stranger is the user that lies.
const stranger = 54321

// scene is a home of ours, and processes that lie about it and about theirs.
type scene struct {
	*trial
	base      *base
	ids       []string
	protected innocents // who may not be signalled
	actors    innocents
	foreign   []string // homes that may not be opened
	stopped   []string // sessions that no process runs, whatever is said
}

// liar plays a home and some lies, reads, and acts.
func (t *trial) liar() error {
	s := &scene{trial: t, base: &t.bases[t.IntN(2)]}
	if err := t.survey(s.base); err != nil {
		return err
	}
	if err := copyTree(s.base.dir, t.home); err != nil {
		return err
	}
	for _, x := range s.base.sessions {
		if x.ID != nil {
			s.ids = append(s.ids, *x.ID)
		}
	}
	defer func() {
		s.actors.end()
	}()
	for range 1 + t.IntN(3) {
		lie := pick(t, lies())
		t.Lies++
		err := lie(s)
		if errors.Is(err, errNotAllowed) {
			t.LeftOut = append(t.LeftOut, "namespaces and other users")
			t.note("%v", err)
		} else if err != nil {
			return err
		}
	}
	return s.play()
}

// lies are what processes and files say that is not so.
func lies() []func(*scene) error {
	return []func(*scene) error{
		(*scene).foreignUser, (*scene).foreignProcesses, (*scene).foreignMount, (*scene).foreignNetwork, (*scene).seenHome, (*scene).registry, (*scene).reusedPID,
		(*scene).markers, (*scene).commandLine,
	}
}

// play reads what there is, and tries to stop and to resume it.
func (s *scene) play() error {
	watch, err := watchOpens(s.foreign)
	if err != nil {
		return err
	}
	defer watch.Close()
	before, err := readTree(s.home)
	if err != nil {
		return err
	}
	s.after = func(c *call) {
		if opened := watch.opened(); len(opened) > 0 {
			s.fail("foreign home opened", "%s: %q", c, opened)
		}
	}
	defer func() { s.after = nil }()
	list := s.run("list", "-a", "--since", "all", "--children", "--json")
	s.foreignRows(list)
	for _, r := range list.sessions() {
		if r.ID != nil && slices.Contains(s.stopped, *r.ID) && r.Status != "stopped" {
			s.fail("believed a lie", "%s, which no process of its own runs", r)
		}
	}
	s.read(s.ids, 3)
	for range 3 {
		s.do(&call{args: s.command(pick(s.trial, []string{
			"stop ID --force --timeout 2s --json", "stop ID --timeout 1s", "stop --orphans --yes --force --timeout 2s --json", "resume ID again --timeout 1s --json",
			"guard REPO --json", "wait ID --timeout 1s --json", "stop --cwd REPO --force --timeout 1s", "locks --json",
		}), s.ids)})
	}
	if dead := s.protected.dead(); len(dead) > 0 {
		s.fail("innocent signalled", "%v", dead)
	}
	s.unchanged("our home", s.home, before)
	return nil
}

// foreignRows checks that no session of a home is listed that is not ours.
func (s *scene) foreignRows(list *call) {
	for _, r := range list.sessions() {
		for _, home := range s.foreign {
			if r.ID != nil && strings.HasPrefix(r.Home, home) { // that a process of ours runs is no secret of its home
				s.fail("foreign home listed", "%s of %s", r, home)
				return
			}
		}
	}
}

// agent is one of the three, with the variable that names its home, and where below another base's directory a home is.
type agent struct{ name, variable, home, part string }

func agents() []agent {
	return []agent{
		{"claude", "CLAUDE_CONFIG_DIR", ".claude", ""}, {"codex", "CODEX_HOME", ".codex", ""}, {"opencode", "XDG_DATA_HOME", ".local/share", "opencode"},
	}
}

// anotherHome copies the home of another base, newer than ours.
func (s *scene) anotherHome(a agent, owner int) (string, error) {
	dir := filepath.Join(s.dir, fmt.Sprintf("home-%s-%d", a.name, s.Lies))
	if err := copyTree(filepath.Join(s.bases[5].dir, a.home, a.part), filepath.Join(dir, a.part)); err != nil {
		return dir, err
	}
	return dir, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && owner != 0 {
			err = os.Lchown(path, owner, owner)
		}
		return err
	})
}

// foreignUser has another user run an agent whose home can be read.
func (s *scene) foreignUser() error {
	a := pick(s.trial, agents())
	if os.Geteuid() != 0 {
		return errNotAllowed
	}
	home, err := s.anotherHome(a, stranger)
	if err != nil {
		return err
	}
	return s.foreignActor("another user", home, &actor{name: a.name, uid: stranger, env: []string{a.variable + "=" + home}})
}

// foreignActor starts an agent whose home is not ours and that nobody may signal.
func (s *scene) foreignActor(what, home string, a *actor) error {
	if err := s.act(a); err != nil {
		return err
	}
	s.note("%s: %s, pid %d, %v", what, a.name, a.cmd.Process.Pid, a.env)
	s.actors, s.protected = append(s.actors, &a.innocent), append(s.protected, &a.innocent)
	s.foreign = append(s.foreign, home)
	return nil
}

// foreignProcesses has a process table of its own have an agent with a home.
func (s *scene) foreignProcesses() error {
	a := pick(s.trial, agents())
	home, err := s.anotherHome(a, 0)
	if err != nil {
		return err
	}
	actor := &actor{name: a.name, flags: unix.CLONE_NEWPID | unix.CLONE_NEWNS, env: []string{a.variable + "=" + home}}
	if err := s.act(actor); err != nil {
		return err
	}
	s.note("another process table: %s, pid %d, %v", a.name, actor.cmd.Process.Pid, actor.env)
	s.actors = append(s.actors, &actor.innocent)
	s.foreign = append(s.foreign, home)
	return nil
}

// foreignMount has another file open where our session's is.
func (s *scene) foreignMount() error {
	for _, x := range s.base.sessions {
		if x.Adapter != "codex" || x.ID == nil || s.IntN(2) == 0 {
			continue
		}
		path, other := filepath.Join(s.home, x.Path), filepath.Join(s.dir, "other.jsonl")
		if err := os.WriteFile(other, []byte("{}\n"), 0o644); err != nil {
			return err
		}
		a := &actor{name: "codex", flags: unix.CLONE_NEWNS, claim: claim{Bind: [2]string{other, path}, Open: []string{path}}}
		if err := s.act(a); err != nil {
			return err
		}
		s.note("another mount namespace: pid %d has %s open", a.cmd.Process.Pid, x.Path)
		s.actors = append(s.actors, &a.innocent)
		s.stopped = append(s.stopped, *x.ID)
		return nil
	}
	return nil
}

// foreignNetwork has an OpenCode server listen on a port that is another program's in our network.
func (s *scene) foreignNetwork() error {
	a := &actor{
		name: "opencode", flags: unix.CLONE_NEWNET, args: []string{"serve", "--port", fmt.Sprint(s.port)}, claim: claim{Port: s.port},
		env: []string{"OPENCODE_SERVER_PASSWORD=secret"},
	}
	if err := s.act(a); err != nil {
		return err
	}
	s.note("another network: opencode serve, pid %d, port %d", a.cmd.Process.Pid, s.port)
	s.actors = append(s.actors, &a.innocent)
	return nil
}

// seenHome has an agent of ours name a home: its sessions may be shown, and the programs in our PATH are not run for it.
func (s *scene) seenHome() error {
	a := pick(s.trial, agents())
	home, err := s.anotherHome(a, 0)
	if err != nil {
		return err
	}
	actor := &actor{name: a.name, env: []string{a.variable + "=" + home}}
	if err := s.act(actor); err != nil {
		return err
	}
	s.note("a home that only a process names: %s, pid %d", home, actor.cmd.Process.Pid)
	s.actors = append(s.actors, &actor.innocent)
	return nil
}

// registry names processes that are no agents: as those of a session, with their true start.
func (s *scene) registry() error {
	for _, i := range s.innocents {
		pid := i.cmd.Process.Pid
		id := s.claude()
		s.stopped = append(s.stopped, id)
		s.note("a registry entry of pid %d, which is no agent, for %s", pid, id)
		dir := filepath.Join(s.home, ".claude/sessions")
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", pid)), entryOf(pid, startOf(pid), id, s.repo), 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// claude is the ID of one of Claude Code's sessions.
func (s *scene) claude() string {
	for _, x := range s.base.sessions {
		if x.Adapter == "claude-code" && x.ID != nil && s.IntN(2) == 0 {
			return *x.ID
		}
	}
	return "11111111-0000-4000-8000-00000000000a"
}

// reusedPID has an entry for a live agent's pid, which was another process when it was written.
func (s *scene) reusedPID() error {
	a := &actor{name: "claude"}
	if err := s.act(a); err != nil {
		return err
	}
	s.actors = append(s.actors, &a.innocent)
	pid, id := a.cmd.Process.Pid, s.claude()
	s.note("a registry entry of an earlier process with pid %d for %s", pid, id)
	s.stopped = append(s.stopped, id)
	dir := filepath.Join(s.home, ".claude/sessions")
	return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", pid)), entryOf(pid, "17", id, s.repo), 0o644))
}

// markers has another user's process bear the environment of our session's tools.
func (s *scene) markers() error {
	id := s.claude()
	a := &actor{name: "server", uid: stranger, env: []string{
		"CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=" + id, "CLAUDE_CODE_CHILD_SESSION=1", "CODEX_THREAD_ID=" + s.id(s.ids), "OPENCODE=1", "OPENCODE_PID=1",
	}}
	if err := s.act(a); err != nil {
		return err
	}
	s.note("another user's process with the marks of %s, pid %d", id, a.cmd.Process.Pid)
	s.actors, s.protected = append(s.actors, &a.innocent), append(s.protected, &a.innocent)
	return nil
}

// commandLine has a program that is no agent claim by its arguments to be one.
func (s *scene) commandLine() error {
	id := s.claude()
	a := &actor{name: "decoy", args: []string{"claude", "--resume", id, "\x1b[2J\n$(touch " + s.canary + "/args)"}}
	if err := s.act(a); err != nil {
		return err
	}
	s.note("no agent, with an agent's arguments, pid %d", a.cmd.Process.Pid)
	s.actors, s.protected = append(s.actors, &a.innocent), append(s.protected, &a.innocent)
	s.stopped = append(s.stopped, id)
	return nil
}

// opens counts what is opened below directories.
type opens struct {
	fd    int
	names map[int]string
}

// watchOpens begins to watch all directories below some.
func watchOpens(homes []string) (*opens, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, err
	}
	w := &opens{fd, map[int]string{}}
	for _, home := range homes {
		err = errors.Join(err, filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			n, err := unix.InotifyAddWatch(fd, path, unix.IN_OPEN)
			w.names[n] = path
			return err
		}))
	}
	// The walk itself opens what it lists.
	w.opened()
	return w, err
}

// opened are the directories below which something was opened since the last call.
func (w *opens) opened() (list []string) {
	buf := make([]byte, 64<<10)
	for {
		n, err := unix.Read(w.fd, buf)
		if n <= 0 || err != nil {
			return list
		}
		for at := 0; at+unix.SizeofInotifyEvent <= n; {
			wd := int(int32(uint32(buf[at]) | uint32(buf[at+1])<<8 | uint32(buf[at+2])<<16 | uint32(buf[at+3])<<24))
			length := int(uint32(buf[at+12]) | uint32(buf[at+13])<<8 | uint32(buf[at+14])<<16 | uint32(buf[at+15])<<24)
			name := strings.TrimRight(string(buf[at+unix.SizeofInotifyEvent:at+unix.SizeofInotifyEvent+length]), "\x00")
			if len(list) < 5 {
				list = append(list, filepath.Join(w.names[wd], name))
			}
			at += unix.SizeofInotifyEvent + length
		}
	}
}

// Close ends the watch.
func (w *opens) Close() { _ = syscall.Close(w.fd) }
