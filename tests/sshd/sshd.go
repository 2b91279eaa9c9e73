// Package sshd gives tests other machines: the real sshd of Debian, one for each connection, and the real ssh before it, which reaches these
// machines only. A machine is a user with a home directory, in namespaces of its own: it has its own processes, users and terminals. Root is not
// needed. There is no port: sshd is the ProxyCommand of ssh. The environment variable SSH_OPTIONS has options for ssh.
package sshd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"agentctl/tests/debian"
)

// opensshVersion is that of the server and the client.
const opensshVersion = "9.2p1"

func server() debian.Package {
	return debian.Package{Name: "openssh-server", Version: opensshVersion, Files: []string{"usr/sbin/sshd"}}
}

func client() debian.Package {
	return debian.Package{Name: "openssh-client", Version: opensshVersion, Files: []string{"usr/bin/ssh", "usr/bin/ssh-keygen"}}
}

// Host is a machine.
type Host struct {
	// Name is also that of its user.
	Name string
	// UID is the user's on the machine. Where the tests run as root, it is the same outside; else it is the user of the tests outside.
	UID int
	// Home is the home directory.
	Home string
	// Shell is the login shell.
	Shell string
}

// World has some machines.
type World struct {
	// Bin has the ssh that reaches them.
	Bin      string
	dir      string
	machines map[string]*machine
}

// New makes the machines, below a directory of the test's that it lets all users enter. [World.Close] ends them.
func New(ctx context.Context, dir string, hosts ...Host) (*World, error) {
	if err := letPass(dir); err != nil {
		return nil, err
	}
	sshd, err := debian.Ensure(ctx, server())
	if err != nil {
		return nil, err
	}
	ssh, err := debian.Ensure(ctx, client())
	if err != nil {
		return nil, err
	}
	w := &World{Bin: filepath.Join(dir, "bin"), dir: dir, machines: map[string]*machine{}}
	for _, d := range []string{w.Bin, filepath.Join(dir, "pids")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
	}
	for _, key := range []string{"hostkey", "key"} {
		keygen := exec.CommandContext(ctx, ssh.Path("usr/bin/ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-C", key, "-f", filepath.Join(dir, key))
		keygen.Env = ssh.Environ(os.Environ())
		if out, err := keygen.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("ssh-keygen: %w\n%s", err, out)
		}
	}
	public, err := os.ReadFile(filepath.Join(dir, "key.pub"))
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		write(filepath.Join(dir, "authorized"), string(public)), write(filepath.Join(dir, "sshd_config"), w.serverConfig()),
		write(filepath.Join(dir, "ssh_config"), w.clientConfig(hosts)),
		write(filepath.Join(w.Bin, "ssh"), "#!/bin/sh\n"+libraries(ssh)+"exec "+ssh.Path("usr/bin/ssh")+" -F "+filepath.Join(dir, "ssh_config")+" $SSH_OPTIONS -oConnectTimeout=60 \"$@\"\n"),
	)
	for _, h := range hosts {
		if err == nil {
			err = w.add(h, sshd)
		}
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// letPass lets all users enter a directory, with those that it is in.
func letPass(dir string) error {
	for ; dir != "/" && dir != filepath.Clean(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o711); err != nil {
			return err
		}
	}
	return nil
}

// add makes one machine and the program that connects to it.
func (w *World) add(h Host, sshd debian.Root) error {
	bin := filepath.Join(h.Home, ".local", "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	hostkey, etc, mounted := w.hostkey(h.Name), filepath.Join(w.dir, "etc-"+h.Name), filepath.Join(w.dir, "sshd-"+h.Name)
	key, err := os.ReadFile(filepath.Join(w.dir, "hostkey"))
	err = errors.Join(err, os.WriteFile(hostkey, key, 0o600), os.Mkdir(etc, 0o755), write(filepath.Join(etc, "passwd"), h.passwd()),
		write(filepath.Join(etc, "group"), fmt.Sprintf("%s:x:%d:\n", h.Name, h.UID)))
	for _, path := range []string{h.Home, filepath.Join(h.Home, ".local"), bin, hostkey} {
		err = errors.Join(err, os.Chown(path, owner(h.UID), owner(h.UID)))
	}
	for _, d := range []string{h.Home, filepath.Join(h.Home, ".local"), bin} {
		err = errors.Join(err, os.Chmod(d, 0o755))
	}
	if err != nil {
		return err
	}
	m, err := startMachine(h.UID, etc, map[string]string{string(sshd): mounted})
	if err != nil {
		return fmt.Errorf("the machine %s: %w", h.Name, err)
	}
	w.machines[h.Name] = m
	// The program notes its process, so that a test can cut the connection.
	pid := filepath.Join(w.dir, "pids", h.Name)
	server := strings.Join(m.enter(), " ") + " env " + strings.ReplaceAll(strings.TrimPrefix(libraries(sshd), "export "), "\n", " ") + string(sshd) + "/usr/sbin/sshd"
	return write(filepath.Join(w.dir, "connect-"+h.Name), "#!/bin/sh\necho $$ >"+pid+".new && mv "+pid+".new "+pid+"\n"+
		"exec setsid "+strings.ReplaceAll(server, string(sshd), mounted)+" -i -e -f "+w.dir+"/sshd_config -h "+hostkey+" 2>>"+w.dir+"/log\n")
}

// Close ends the machines and all that runs there.
func (w *World) Close() {
	for _, m := range w.machines {
		m.end()
	}
}

// Enter is the beginning of a command line that runs a program on a machine, as its user and in the root directory.
func (w *World) Enter(name string) []string { return w.machines[name].enter() }

// write writes a file that all may read, and a script that all may run.
func write(path, text string) error {
	mode := os.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	return errors.Join(os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode))
}

// libraries sets the path of a package's libraries, for a program of it alone.
func libraries(root debian.Root) string {
	for _, v := range root.Environ(nil) {
		if value, ok := strings.CutPrefix(v, "LD_LIBRARY_PATH="); ok {
			return "export LD_LIBRARY_PATH='" + value + "'\n"
		}
	}
	return ""
}

// serverConfig is that of each machine. Programs that the race detector watches do not end a second late there.
func (w *World) serverConfig() string {
	return "AuthorizedKeysFile " + w.dir + "/authorized\nStrictModes no\nPasswordAuthentication no\n" +
		"KbdInteractiveAuthentication no\nPidFile none\nPrintMotd no\nPrintLastLog no\nUsePAM no\nSetEnv GORACE=atexit_sleep_ms=0\n"
}

// clientConfig reaches the machines, and one that does not exist: away.
func (w *World) clientConfig(hosts []Host) string {
	var b strings.Builder
	for _, h := range hosts {
		fmt.Fprintf(&b, "Host %s\n  User %s\n  ProxyCommand %s/connect-%s\n", h.Name, h.Name, w.dir, h.Name)
	}
	fmt.Fprintf(&b, "Host away\n  HostName 127.0.0.1\n  Port 1\nHost *\n  IdentityFile %s/key\n  IdentitiesOnly yes\n  UserKnownHostsFile %s/known\n  StrictHostKeyChecking accept-new\n", w.dir, w.dir)
	return b.String()
}

// passwd is /etc/passwd of the machine.
func (h Host) passwd() string {
	shell := h.Shell
	if shell == "" {
		shell = "/bin/sh"
	}
	return fmt.Sprintf("root:x:0:0::/root:/bin/sh\n%s:x:%d:%d::%s:%s\n", h.Name, h.UID, h.UID, h.Home, shell)
}

// Connection returns the process group of the sshd of the newest connection to a machine, without what it runs for the user; 0 before the first one.
func (w *World) Connection(name string) int {
	text, _ := os.ReadFile(filepath.Join(w.dir, "pids", name))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

func (w *World) hostkey(name string) string { return filepath.Join(w.dir, "hostkey-"+name) }

// Log is what the servers have printed.
func (w *World) Log() string {
	text, _ := os.ReadFile(filepath.Join(w.dir, "log"))
	return string(text)
}
