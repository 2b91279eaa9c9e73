package remote

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// answerTime bounds the silence of a host: while it connects, runs the user's login shell and starts agentctl, and then until agentctl prints
	// something or a sign that it still works.
	answerTime = 30 * time.Second
	// installTime is how long this program may take to be copied to a host: at 40 KB a second.
	installTime = 10 * time.Minute
	// hangUpTime is how long a command on a host may take to end once its input is closed: as long as a local one takes at most.
	hangUpTime = 2 * time.Second
	// checkTime is how long a master on this machine may take to say that it is one.
	checkTime = time.Second
	// stderrTime is how long what ssh has printed may take to be read after its end: it is in the pipe already. A terminated ssh ends as soon.
	stderrTime = 100 * time.Millisecond
	// maxStderr bounds what is read of stderr, in bytes: it has errors, warnings and a line break now and then.
	maxStderr = 16 << 20
	// tailSize is how much of a text [tail] keeps, in bytes.
	tailSize = 4 << 10
	// lost is the exit code of ssh if it could not connect, or has lost its connection. Otherwise ssh exits with the code of the command.
	lost = 255
)

// SSH is the user's OpenSSH client.
type SSH struct {
	// Path is that of the program.
	Path    string
	Environ []string
	// ConnectTimeout is how long it may take to reach a host, to the second.
	ConnectTimeout time.Duration
	// silence bounds the silence of a host; 0: answerTime.
	silence time.Duration
}

// flags are those of all connections. A dead network is noticed within a minute, and the host gets no agent, display or port of this machine.
// All else is as the user has configured it, a shared connection too.
func (s SSH) flags() []string {
	return []string{
		"-a", "-x", "-o", "ConnectTimeout=" + strconv.Itoa(max(1, int(s.ConnectTimeout/time.Second))), "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3",
		"-o", "ClearAllForwardings=yes", "-o", "PermitLocalCommand=no", "-o", "RemoteCommand=none",
	}
}

// process is a running ssh, whose stderr it takes.
type process struct {
	ssh         SSH
	destination string
	cmd         *exec.Cmd
	stdin       io.WriteCloser
	stdout      *bufio.Reader
	out         io.ReadCloser
	stderr      io.Writer
	said        tail
	close, stop sync.Once
	// patience ends ssh some time after [process.hangUp].
	patience *time.Timer
	// left is closed if ssh goes on as the master of a connection that others use.
	left chan struct{}
	// ended is done once ssh is to end; its cause says why.
	ended  context.Context
	cancel context.CancelCauseFunc
	// heard is when something was last read, since begun; reading is set while a read waits.
	begun   time.Time
	heard   atomic.Int64
	reading atomic.Bool
}

// start starts ssh with a command for the host's login shell, which must mean the same in every shell. ssh asks for no password. The command reads what is written
// to stdin of the process, or a file.
func (s SSH) start(destination, command string, stdin *os.File, stderr io.Writer) (p *process, err error) {
	p = &process{ssh: s, destination: destination, stderr: stderr, begun: time.Now(), left: make(chan struct{})}
	p.ended, p.cancel = context.WithCancelCause(context.Background())
	flags := append([]string{"-T", "-o", "BatchMode=yes", "-o", "EscapeChar=none"}, s.flags()...)
	p.cmd = exec.CommandContext(p.ended, s.Path, append(flags, "--", destination, command)...)
	p.cmd.Env, p.cmd.Stderr = s.Environ, p
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = stderrTime // a master of a shared connection may keep stderr open
	// A Ctrl-C of the terminal reaches this program only, which ends the connection in order.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if stdin != nil {
		p.cmd.Stdin = stdin
	} else if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	p.stdout = bufio.NewReader(p)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go p.watch()
	return p, nil
}

// Read reads stdout.
func (p *process) Read(b []byte) (int, error) {
	p.heard.Store(int64(time.Since(p.begun)))
	p.reading.Store(true)
	defer p.reading.Store(false)
	return p.out.Read(b)
}

// Write takes what ssh, and the command there, print on stderr.
func (p *process) Write(text []byte) (int, error) {
	p.heard.Store(int64(time.Since(p.begun)))
	if p.said.add(text) > maxStderr {
		p.end(&Error{Cut, "its warnings have no end"})
		return 0, io.ErrShortWrite
	}
	return p.stderr.Write(text)
}

// watch ends ssh after too long a silence. Time in which its output is not read does not count.
func (p *process) watch() {
	silence := cmp.Or(p.ssh.silence, answerTime)
	for tick, last := time.Tick(silence/10), time.Now(); ; {
		select {
		case <-tick:
			if time.Since(last) > silence/2 { // this process was stopped (Ctrl-Z): the output is not read yet
				p.heard.Store(int64(time.Since(p.begun)))
			}
			if last = time.Now(); p.reading.Load() && time.Since(p.begun)-time.Duration(p.heard.Load()) >= silence {
				p.end(&Error{Silent, "the connection is there, and nothing answers"})
			}
		case <-p.ended.Done():
			return
		case <-p.left:
			return
		}
	}
}

// hangUp closes the input of the command there, which ends it, and ends ssh if that does not end it.
func (p *process) hangUp() {
	p.close.Do(func() {
		if p.stdin != nil {
			_ = p.stdin.Close()
		}
		p.patience = time.AfterFunc(hangUpTime, func() { p.end(nil) })
	})
}

// end ends ssh, unless others use its connection, which would end with it. Then end only stops reading.
func (p *process) end(cause error) {
	p.stop.Do(func() {
		if p.isMaster() {
			close(p.left)
			_ = p.out.Close()
		} else {
			p.cancel(cause)
		}
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

// finish hangs up and waits until ssh has ended, unless it goes on as a master that others use. It returns why an answer has ended with an error: its own,
// that of the caller's context, why this program ended ssh, or what ssh and the login shell print.
func (p *process) finish(ctx context.Context, failed error, banner *tail) error {
	p.hangUp()
	defer p.patience.Stop()
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	code, cause := lost, error(nil)
	select {
	case err := <-ended:
		code, cause = 0, context.Cause(p.ended)
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			code = exit.ExitCode()
		}
		p.cancel(nil)
	case <-p.left: // to cancel would end it
	}
	why := (*Error)(nil)
	switch {
	case failed == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(cause, &why):
		return why
	case !errors.As(failed, &why) || why.Text != "" && code != lost:
		return failed
	}
	reason := cmp.Or(p.said.lastLine(), banner.lastLine())
	reason = cmp.Or(strings.TrimSuffix(strings.TrimPrefix(reason, "ssh: "), "."), "no reason is given")
	switch {
	case code != lost && why.Kind == Unreachable:
		return &Error{Shell, "its login shell does not run agentctl: " + reason}
	case code != lost:
		return &Error{Cut, "its agentctl has ended with exit code " + strconv.Itoa(code) + ": " + reason}
	case why.Kind == Unreachable && !wasConnected(reason):
		return &Error{Unreachable, "it cannot be reached: " + reason}
	}
	return &Error{Cut, "the connection has ended: " + reason}
}

// wasConnected reports whether ssh says that it has lost a connection, so that the command may have been run: by the words of OpenSSH 9.2. Without a connection
// it says "kex_exchange_identification: Connection closed by remote host".
func wasConnected(reason string) bool {
	return strings.HasPrefix(reason, "Connection to ") && strings.Contains(reason, "closed by remote host") || strings.HasPrefix(reason, "Timeout, server ") ||
		strings.HasPrefix(reason, "client_loop: ") || strings.HasPrefix(reason, "Read from remote host ")
}

// tail keeps the end of a text.
type tail struct {
	mu   sync.Mutex
	text []byte
	size int
}

// add returns how long the text is now.
func (t *tail) add(text []byte) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, text...)
	t.text = append(t.text[:0], t.text[max(0, len(t.text)-tailSize):]...)
	t.size += len(text)
	return t.size
}

// lastLine returns the last line that is neither empty nor JSON.
func (t *tail) lastLine() (last string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for line := range strings.SplitSeq(string(t.text), "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "{") {
			last = line
		}
	}
	return last
}

// Platform asks a host for its platform. uname is what that says of it, such as "Linux x86_64", and name the name that Go has, such as linux/amd64; of
// another platform both are the same.
func (s SSH) Platform(ctx context.Context, destination string) (uname, name string, err error) {
	uname, err = s.shell(ctx, destination, "r=$(uname -sm)", nil)
	if err == nil && (uname == "" || strings.ContainsFunc(uname, func(r rune) bool { return r < ' ' || r > '~' })) {
		err = &Error{Shell, "uname says nothing that is known"}
	}
	names := map[string]string{
		"Linux x86_64": "linux/amd64", "Linux aarch64": "linux/arm64", "Linux arm64": "linux/arm64", "Darwin x86_64": "darwin/amd64", "Darwin arm64": "darwin/arm64",
	}
	return uname, cmp.Or(names[uname], uname), err
}

// Install writes a program of so many bytes to ~/.local/bin/agentctl of a host. It is complete and has run under another name before it takes its
// place.
func (s SSH) Install(ctx context.Context, destination string, program *os.File, size int64) error {
	s.silence = installTime
	script := "umask 022; d=$HOME/.local/bin; t=$d/." + newMarker() + "; mkdir -p \"$d\" \"$t\" && cat > \"$t/agentctl\" && " +
		"test \"$(wc -c < \"$t/agentctl\")\" -eq " + strconv.FormatInt(size, 10) + " && chmod 755 \"$t/agentctl\" && \"$t/agentctl\" version >/dev/null && " +
		"mv -f \"$t/agentctl\" \"$d/agentctl\" && r=done; rm -rf \"$t\""
	result, err := s.shell(ctx, destination, script, program)
	if err == nil && result != "done" {
		return errors.New("the program could not be written to ~/.local/bin there, or does not run")
	}
	return err
}

// shell runs a script of sh on a host and returns its variable r. The script reads stdin if that is not nil.
func (s SSH) shell(ctx context.Context, destination, script string, stdin *os.File) (string, error) {
	marker := newMarker()
	p, err := s.start(destination, inShell(script+"; echo; echo "+marker+" $r"), stdin, io.Discard)
	if err != nil {
		return "", err
	}
	defer context.AfterFunc(ctx, func() { p.end(nil) })()
	var banner tail
	result, err := skipBanner(p.stdout, marker, &banner)
	return result, p.finish(ctx, err, &banner)
}
