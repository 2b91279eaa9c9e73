package host

import (
	"bytes"
	"crypto/rand"
	"io"
	"os"
	"os/exec"
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
}

// Flags are what every connection is made with. Nobody is asked for a password, a dead network is noticed within a minute, and the host gets no
// agent, display or port of this machine. All else is as the user has configured it, a shared connection too.
func (SSH) flags() []string {
	return []string{
		"-T", "-a", "-x", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3",
		"-o", "ClearAllForwardings=yes", "-o", "PermitLocalCommand=no", "-o", "RemoteCommand=none", "-o", "EscapeChar=none",
	}
}

// process is a running ssh.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr tail
	read   chan struct{} // closed when stderr is read
	close  sync.Once
}

// start starts ssh with a command for the host's login shell. The command must mean the same in every shell.
func (s SSH) start(destination, command string) (*process, error) {
	p := &process{cmd: exec.Command(s.Path, append(s.flags(), "--", destination, command)...), read: make(chan struct{})}
	p.cmd.Env = s.Environ
	// A Ctrl-C of the terminal reaches this program only, which ends the connection in order.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.stdout, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	stderr, child, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stderr = child
	err = p.cmd.Start()
	_ = child.Close()
	if err != nil {
		_ = stderr.Close()
		return nil, err
	}
	go func() {
		defer close(p.read)
		defer stderr.Close()
		_, _ = io.Copy(&p.stderr, stderr)
	}()
	return p, nil
}

// hangUp tells the other side that nobody listens any more, and kills ssh if that does not end it.
func (p *process) hangUp() {
	p.close.Do(func() {
		_ = p.stdin.Close()
		time.AfterFunc(hangUpTime, func() { _ = p.cmd.Process.Kill() })
	})
}

// wait waits until ssh has ended. A master of a shared connection may keep stderr open, so that its end is not waited for.
func (p *process) wait() error {
	err := p.cmd.Wait()
	select {
	case <-p.read:
	case <-time.After(stderrTime):
	}
	return err
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

// Write implements [io.Writer].
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

// remoteCommand is the command that runs agentctl on a host. Every login shell takes it the same: in single quotes, without a line break, a
// backslash or an exclamation mark. A shell that is neither interactive nor a login shell seldom has ~/.local/bin in its PATH.
func remoteCommand(marker string) string {
	return "exec sh -c 'PATH=$PATH:$HOME/.local/bin; export PATH; echo; " +
		"command -v agentctl >/dev/null 2>&1 || { echo " + marker + " $(uname -sm); exit 127; }; echo " + marker + "; exec agentctl __remote'"
}
