package host

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// SSH is the user's OpenSSH client.
type SSH struct {
	// Path is that of the program.
	Path    string
	Environ []string
	// ConnectTimeout is how long it may take to reach a host, to the second.
	ConnectTimeout time.Duration
}

// flags are what every connection without a terminal is made with: ssh asks for no password.
func (s SSH) flags() []string {
	return append([]string{"-T", "-o", "BatchMode=yes", "-o", "EscapeChar=none"}, s.sharedFlags()...)
}

// sharedFlags are those of all connections. A dead network is noticed within a minute, and the host gets no agent, display or port of this machine.
// All else is as the user has configured it, a shared connection too.
func (s SSH) sharedFlags() []string {
	return []string{
		"-a", "-x", "-o", "ConnectTimeout=" + strconv.Itoa(max(1, int(s.ConnectTimeout/time.Second))), "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3",
		"-o", "ClearAllForwardings=yes", "-o", "PermitLocalCommand=no", "-o", "RemoteCommand=none",
	}
}

// process is a running ssh.
type process struct {
	ssh         SSH
	destination string
	cmd         *exec.Cmd
	stdin       io.WriteCloser
	stdout      io.ReadCloser
	stderr      tail
	close, stop sync.Once
	// patience ends ssh some time after [process.hangUp].
	patience *time.Timer
	// left is closed if ssh goes on as the master of a connection that others use.
	left chan struct{}
}

// start starts ssh with a command for the host's login shell. The command must mean the same in every shell. It reads what is written to stdin of the
// process, or a file.
func (s SSH) start(destination, command string, stdin *os.File) (p *process, err error) {
	p = &process{ssh: s, destination: destination, cmd: exec.Command(s.Path, append(s.flags(), "--", destination, command)...), left: make(chan struct{})}
	p.cmd.Env, p.cmd.Stderr = s.Environ, &p.stderr
	p.cmd.WaitDelay = stderrTime // a master of a shared connection may keep stderr open
	// A Ctrl-C of the terminal reaches this program only, which ends the connection in order.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if stdin != nil {
		p.cmd.Stdin = stdin
	} else if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.stdout, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	return p, p.cmd.Start()
}

// hangUp closes the input of the command there, which ends it, and ends ssh if that does not end it.
func (p *process) hangUp() {
	p.close.Do(func() {
		if p.stdin != nil {
			_ = p.stdin.Close()
		}
		p.patience = time.AfterFunc(hangUpTime, p.end)
	})
}

// end ends ssh, unless others use its connection, which would end with it: then nothing more is read of it.
func (p *process) end() {
	p.stop.Do(func() {
		if p.isMaster() {
			close(p.left)
		} else {
			_ = p.cmd.Process.Signal(syscall.SIGTERM)
			time.AfterFunc(hangUpTime, func() { _ = p.cmd.Process.Kill() })
		}
		_ = p.stdout.Close()
	})
}

// isMaster reports whether the user's configuration has made this ssh the master of a shared connection that stays in the foreground.
func (p *process) isMaster() bool {
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.ssh.Path, "-O", "check", "--", p.destination)
	cmd.Env, cmd.WaitDelay = p.ssh.Environ, stderrTime
	said, err := cmd.CombinedOutput()
	return err == nil && strings.Contains(string(said), "(pid="+strconv.Itoa(p.cmd.Process.Pid)+")")
}

// finish hangs up, waits until ssh has ended, and returns how. It does not wait for a master that others use.
func (p *process) finish() error {
	p.hangUp()
	defer p.patience.Stop()
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-p.left:
		return nil
	}
}

// isLost reports whether ssh has lost its connection, by its exit code. Else it ends with that of the command.
func isLost(ended error) bool {
	const lost = 255
	exit, ok := errors.AsType[*exec.ExitError](ended)
	return ok && exit.ExitCode() == lost
}

// reason is the last line that ssh printed on stderr, or the error with which it ended.
func (p *process) reason(err error) string {
	if line := p.stderr.lastLine(); line != "" {
		return strings.TrimPrefix(line, "ssh: ")
	}
	if err != nil {
		return "ssh: " + err.Error()
	}
	return "ssh has ended"
}

// tail keeps the end of a text.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// tailSize is how much of stderr is kept, in bytes.
const tailSize = 4 << 10

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, text...)
	if len(t.text) > tailSize {
		t.text = bytes.Clone(t.text[len(t.text)-tailSize:])
	}
	return len(text), nil
}

func (t *tail) lastLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimRight(string(t.text), "\r\n"), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// newMarker is a line that ends whatever a login shell prints before the command of ours.
func newMarker() string { return "agentctl-" + rand.Text() }

// remotePath sets the PATH in which agentctl is found. A shell that is neither interactive nor a login shell seldom has ~/.local/bin there.
const remotePath = "PATH=$PATH:$HOME/.local/bin; export PATH"

// RemoteVerb is the command of agentctl that answers a request, and InTerminal its flag for the request of [SSH.TerminalCommand]. People do not call it.
const (
	RemoteVerb = "__remote"
	InTerminal = "--terminal"
)

// remoteCommand is the command that runs agentctl on a host, with a request unless word is "": then that comes by stdin. Every login shell takes the
// command the same: in single quotes, without a line break, a backslash or an exclamation mark.
func remoteCommand(marker, word string) string {
	return "exec sh -c '" + remotePath + "; echo; command -v agentctl >/dev/null 2>&1 || { echo " + marker + " $(uname -sm); exit 127; }; " +
		"echo " + marker + "; exec agentctl " + strings.TrimSpace(RemoteVerb+" "+word) + "'"
}
