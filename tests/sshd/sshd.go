// Package sshd gives tests other machines: the real sshd of Debian, one for each connection, and the real ssh before it, which reaches these
// machines only. A machine is a user with a home directory. There is no port: sshd is the ProxyCommand of ssh. The environment variable SSH_OPTIONS
// has options for ssh.
package sshd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"agentctl/tests/debian"
)

// server and client are the packages.
func packages() (server, client debian.Package) {
	const version = "9.2p1"
	return debian.Package{Name: "openssh-server", Version: version, Files: []string{"usr/sbin/sshd"}},
		debian.Package{Name: "openssh-client", Version: version, Files: []string{"usr/bin/ssh", "usr/bin/ssh-keygen"}}
}

// Host is a machine.
type Host struct {
	// Name is also that of its user.
	Name string
	// UID is the user's; only root can have another one than its own.
	UID int
	// Home is the home directory.
	Home string
	// Shell is the login shell.
	Shell string
	// Via is a program and its arguments that run the command of the connection; "" for none.
	Via string
}

// World has some machines.
type World struct {
	// Bin has the ssh that reaches them.
	Bin   string
	dir   string
	hosts []Host
}

// New makes the machines, below a directory of the test's that all users may enter.
func New(ctx context.Context, dir string, hosts ...Host) (*World, error) {
	server, client := packages()
	sshd, err := debian.Ensure(ctx, server)
	if err != nil {
		return nil, err
	}
	ssh, err := debian.Ensure(ctx, client)
	if err != nil {
		return nil, err
	}
	w := &World{Bin: filepath.Join(dir, "bin"), dir: dir}
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
	w.hosts = hosts
	files := map[string]string{
		"authorized": string(public), "sshd_config": w.serverConfig(), "ssh_config": w.clientConfig(), "passwd": w.passwd(),
		"connect": w.connect(sshd), "bin/ssh": "#!/bin/sh\n" + libraries(ssh) + "exec " + ssh.Path("usr/bin/ssh") + " -F " + filepath.Join(dir, "ssh_config") + " $SSH_OPTIONS \"$@\"\n",
	}
	for name, text := range files {
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		if err := errors.Join(os.WriteFile(filepath.Join(dir, name), []byte(text), mode), os.Chmod(filepath.Join(dir, name), mode)); err != nil {
			return nil, err
		}
	}
	for _, h := range hosts {
		bin := filepath.Join(h.Home, ".local", "bin")
		if err := os.MkdirAll(bin, 0o755); err != nil {
			return nil, err
		}
		for _, d := range []string{h.Home, filepath.Join(h.Home, ".local"), bin} {
			if err := errors.Join(os.Chmod(d, 0o755), os.Chown(d, h.UID, h.UID)); err != nil {
				return nil, err
			}
		}
	}
	return w, nil
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

func (w *World) serverConfig() string {
	return "HostKey " + w.dir + "/hostkey\nAuthorizedKeysFile " + w.dir + "/authorized\nStrictModes no\nPasswordAuthentication no\n" +
		"KbdInteractiveAuthentication no\nPidFile none\nPrintMotd no\nPrintLastLog no\nUsePAM no\n"
}

// clientConfig reaches the machines, and one that does not exist: away.
func (w *World) clientConfig() string {
	var b strings.Builder
	for _, h := range w.hosts {
		name := h.Name
		if me, err := user.Current(); err == nil && !root() {
			name = me.Username // sshd can serve no other
		}
		fmt.Fprintf(&b, "Host %s\n  User %s\n  ProxyCommand %s %s/connect %s %s\n", h.Name, name, h.Via, w.dir, h.Name, h.Home)
	}
	fmt.Fprintf(&b, "Host away\n  HostName 127.0.0.1\n  Port 1\nHost *\n  IdentityFile %s/key\n  IdentitiesOnly yes\n  UserKnownHostsFile %s/known\n  StrictHostKeyChecking accept-new\n", w.dir, w.dir)
	return b.String()
}

func (w *World) passwd() string {
	var text strings.Builder
	text.WriteString("root:x:0:0::/root:/bin/sh\nsshd:x:74:74::/run/sshd:/bin/false\n")
	for _, h := range w.hosts {
		shell := h.Shell
		if shell == "" {
			shell = "/bin/sh"
		}
		fmt.Fprintf(&text, "%s:x:%d:%d::%s:%s\n", h.Name, h.UID, h.UID, h.Home, shell)
	}
	return text.String()
}

// connect is the program that runs one sshd. It notes its process, so that a test can cut the connection.
func (w *World) connect(sshd debian.Root) string {
	run := "exec " + sshd.Path("usr/sbin/sshd") + " -i -e -f " + w.dir + "/sshd_config 2>>" + w.dir + "/log"
	text := "#!/bin/sh\necho $$ >" + w.dir + "/pids/$1.new && mv " + w.dir + "/pids/$1.new " + w.dir + "/pids/$1\n"
	if !root() {
		return text + libraries(sshd) + "exec setsid " + sshd.Path("usr/sbin/sshd") + " -i -e -f " + w.dir + "/sshd_config -o SetEnv=HOME=$2 2>>" + w.dir + "/log\n"
	}
	// Root's sshd wants a user and a directory of the system's, which it gets in a mount namespace.
	return text + "exec setsid unshare --mount sh -c 'mount --bind " + w.dir + "/passwd /etc/passwd && mount -t tmpfs tmpfs /run && mkdir -p /run/sshd && " +
		strings.TrimSuffix(strings.ReplaceAll(libraries(sshd), "'", ""), "\n") + "; " + run + "'\n"
}

func root() bool { return os.Geteuid() == 0 }

// Connection returns the process group of the sshd of the newest connection to a machine, without what it runs for the user; 0 before the first one.
func (w *World) Connection(name string) int {
	text, _ := os.ReadFile(filepath.Join(w.dir, "pids", name))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// Log is what the servers have printed.
func (w *World) Log() string {
	text, _ := os.ReadFile(filepath.Join(w.dir, "log"))
	return string(text)
}
