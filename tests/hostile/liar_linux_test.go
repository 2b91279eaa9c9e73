package hostile

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lieVariable holds what a process that lies does, as JSON.
const lieVariable = "AGENTCTL_HOSTILE_LIE"

// claim is what a process that lies shows.
type claim struct {
	Bind [2]string // in a mount namespace of its own: the second path shows the first
	Open []string  // files that it has open
	Port int       // on which it listens, in a network namespace of its own
}

// lie is the program of a process that lies: it shows what it is told, says so, and lives until its stdin ends.
func lie(role string) int {
	var c claim
	err := json.Unmarshal([]byte(os.Getenv(lieVariable)), &c)
	if err == nil {
		err = c.show()
	}
	if err != nil || role != "liar" {
		fmt.Println(role, err)
		return 1
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

func (c claim) show() error {
	if c.Bind[0] != "" {
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return err
		}
		if err := unix.Mount(c.Bind[0], c.Bind[1], "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	for _, path := range c.Open {
		fd, err := unix.Open(path, unix.O_RDWR, 0) // it stays open
		if err != nil {
			return fmt.Errorf("%s: %w (%d)", path, err, fd)
		}
	}
	if c.Port == 0 {
		return nil
	}
	if err := loopback(); err != nil {
		return err
	}
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", c.Port))
	if err != nil {
		return err
	}
	go func() {
		for {
			if _, err := l.Accept(); err != nil {
				return
			}
		}
	}()
	return nil
}

// loopback brings the loopback interface of a new network namespace up.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	q, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	q.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, q)
}

// actor is a process that lies.
type actor struct {
	name  string // of its program
	uid   int    // 0: ours
	flags uintptr
	args  []string
	env   []string
	claim claim

	innocent
}

// errNotAllowed is that the system does not let us start such a process.
var errNotAllowed = errors.New("not allowed")

// act starts a process that lies, and waits until it does.
func (t *trial) act(a *actor) error {
	program := filepath.Join(t.Agents, a.name)
	raw, err := json.Marshal(a.claim)
	if err != nil {
		return err
	}
	cmd := exec.Command(program)
	cmd.Args = append([]string{a.name}, a.args...)
	cmd.Env = append(t.environment("PATH="+os.Getenv("PATH"), roleVariable+"=liar", lieVariable+"="+string(raw)), a.env...)
	cmd.Dir, cmd.Stderr = "/", os.Stderr
	if cmd.SysProcAttr, err = attributes(a); err != nil {
		return err
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSPC) {
			return fmt.Errorf("%w: %w", errNotAllowed, err)
		}
		return err
	}
	a.innocent = innocent{cmd, stdin, make(chan struct{})}
	line, err := bufio.NewReader(out).ReadString('\n')
	go func() {
		defer close(a.ended)
		_ = cmd.Wait()
	}()
	if line != "ready\n" {
		_ = stdin.Close()
		<-a.ended
		if os.Geteuid() != 0 {
			return fmt.Errorf("%w: %q (%w)", errNotAllowed, line, err)
		}
		return fmt.Errorf("a process that lies says %q (%w)", line, err)
	}
	return nil
}

// attributes are those of a process in namespaces of its own, or of another user. Without root's rights a user namespace around
// them is needed, and no other user can be played.
func attributes(a *actor) (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{Setsid: true, Cloneflags: a.flags}
	if a.uid != 0 {
		if os.Geteuid() != 0 {
			return nil, errNotAllowed
		}
		attr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.uid)}
	}
	if a.flags != 0 && os.Geteuid() != 0 {
		same := func(id int) []syscall.SysProcIDMap {
			return []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
		}
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings, attr.GidMappings = same(os.Getuid()), same(os.Getgid())
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN}
	}
	return attr, nil
}

// makeLiars makes this program one of other names: under three of them it is an agent's.
func makeLiars(dir string) error {
	raw, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return err
	}
	err = os.WriteFile(filepath.Join(dir, "liar"), raw, 0o755)
	for _, name := range []string{"claude", "codex", "opencode", "server", "decoy"} {
		err = errors.Join(err, os.Link(filepath.Join(dir, "liar"), filepath.Join(dir, name)))
	}
	return err
}

// entryOf is a registry entry of Claude Code for a process and a session.
func entryOf(pid int, started, id, cwd string) []byte {
	return fmt.Appendf(nil, `{"pid":%d,"sessionId":%q,"cwd":%q,"startedAt":%d,"procStart":%q,"version":"2.1.197","peerProtocol":1,"kind":"interactive","entrypoint":"cli","name":"x","status":"busy","updatedAt":%d}`,
		pid, id, cwd, time.Now().UnixMilli(), started, time.Now().UnixMilli())
}

// startOf is when a process started, as the kernel counts: the field by which an entry is believed.
func startOf(pid int) string {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	text := string(raw)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return "0"
	}
	return fields[19]
}
