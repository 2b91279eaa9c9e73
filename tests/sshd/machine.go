package sshd

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"agentctl/tests/extent"
)

// ErrRefused means that this system does not let the user of the tests make namespaces.
var ErrRefused = errors.New("it allows no user namespaces")

// machine is the first process of a machine.
type machine struct {
	cmd   *exec.Cmd
	alive io.Closer // its stdin: it ends with that
	// pid is that of the process as it is outside, uid the user outside.
	pid, uid int
}

// owner is the user outside of the user of a machine.
func owner(uid int) int {
	if os.Geteuid() == 0 {
		return uid
	}
	return os.Geteuid()
}

// as is the beginning of a command line that root runs as another user.
func as(uid int) []string {
	if os.Geteuid() != 0 {
		return nil
	}
	id := strconv.Itoa(uid)
	return []string{"setpriv", "--reuid", id, "--regid", id, "--clear-groups"}
}

// firstProcess gives the machine its users, their groups and its terminals, and itself no rights. It ignores the end of its children, so that the
// kernel collects them.
const firstProcess = `mount --bind "$1/passwd" /etc/passwd && mount --bind "$1/group" /etc/group &&
mount -t devpts -o newinstance,ptmxmode=0666 devpts /dev/pts && mount --bind /dev/pts/ptmx /dev/ptmx &&
echo ready && exec env --ignore-signal=CHLD setpriv --inh-caps=-all --ambient-caps=-all cat`

// startMachine starts a machine whose user is uid there. The directory etc has its passwd and group. The mounts are made by root, before it becomes that user; any other user of the tests can
// enter these directories by a link.
func startMachine(uid int, etc string, mounts map[string]string) (*machine, error) {
	args := as(uid)
	args = append(args, "unshare", "--user", fmt.Sprint("--map-user=", uid), fmt.Sprint("--map-group=", uid), "--keep-caps", "--pid", "--mount", "--fork",
		"--kill-child", "--mount-proc", "sh", "-c", firstProcess, "machine", etc)
	for from, to := range mounts {
		if os.Geteuid() != 0 {
			if err := os.Symlink(from, to); err != nil {
				return nil, err
			}
			continue
		}
		if err := os.Mkdir(to, 0o755); err != nil {
			return nil, err
		}
		args = append([]string{"sh", "-c", `mount --bind "$1" "$2" && shift 2 && exec "$@"`, "mount", from, to}, args...)
	}
	if os.Geteuid() == 0 {
		args = append([]string{"unshare", "--mount"}, args...)
	}
	m := &machine{cmd: exec.Command(args[0], args[1:]...), uid: owner(uid)}
	m.cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	var problem bytes.Buffer
	m.cmd.Stderr = &problem
	alive, err := m.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	m.alive = alive
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := m.cmd.Start(); err != nil {
		return nil, err
	}
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		m.end()
		return nil, fmt.Errorf("%w: %s", ErrRefused, strings.TrimSpace(problem.String()))
	}
	if m.pid = childOf(m.cmd.Process.Pid); m.pid == 0 {
		m.end()
		return nil, errors.New("its first process cannot be seen")
	}
	return m, nil
}

// enter is the beginning of a command line that runs a program on the machine.
func (m *machine) enter() []string {
	return append(as(m.uid), "nsenter", "--target", strconv.Itoa(m.pid), "--user", "--mount", "--pid", "--preserve-credentials")
}

// end ends the first process, and with it all others.
func (m *machine) end() {
	_ = m.alive.Close()
	_ = m.cmd.Wait()
}

// childOf returns the only child of a process; 0 if there is none.
func childOf(parent int) int {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		_, rest, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			return pid
		}
	}
	return 0
}

// Supported returns nil if machines can be made here, and an error that wraps [ErrRefused] if the system does not allow it.
func Supported() error {
	if extent.Hermetic() {
		return fmt.Errorf("%w: sshd comes from Debian", ErrRefused)
	}
	m, err := startMachine(os.Getuid()+1, "/etc", nil)
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if err == nil {
		m.end()
	}
	return err
}

// Need skips a test where no machines can be made. In continuous integration that is a failure.
func Need(t testing.TB) {
	t.Helper()
	switch err := Supported(); {
	case err == nil:
	case errors.Is(err, ErrRefused) && (extent.Hermetic() || os.Getenv("CI") != "true"):
		t.Skipf("other machines need namespaces: %v", err)
	default:
		t.Fatal(err)
	}
}
