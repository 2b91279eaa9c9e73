package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/proc"
)

// Environment is the environment that an agent runs in.
type Environment struct {
	// Environ has its variables, as KEY=VALUE. The last one with a key counts.
	Environ []string
}

// NewEnvironment makes the environment of an agent from that of this process: without the environment markers of an agent that
// this process runs inside of, and with the variables of set.
func NewEnvironment(environ []string, agents []discover.Adapter, set ...string) Environment {
	var markers []string
	for _, a := range agents {
		markers = append(markers, AdapterOf(agents, a.Name()).ScrubbedEnv()...)
	}
	return Environment{append(Environment{environ}.Without(markers).Environ, set...)}
}

// Without returns the environment without some variables. A * at the end of a name matches any rest.
func (h Environment) Without(names []string) Environment {
	return Environment{slices.DeleteFunc(slices.Clone(h.Environ), func(variable string) bool {
		key, _, _ := strings.Cut(variable, "=")
		return slices.ContainsFunc(names, func(name string) bool {
			prefix, open := strings.CutSuffix(name, "*")
			return key == name || open && strings.HasPrefix(key, prefix)
		})
	})}
}

// Getenv returns a variable of the environment, "" if it is not set.
func (h Environment) Getenv(key string) string {
	for _, variable := range slices.Backward(h.Environ) {
		if value, ok := strings.CutPrefix(variable, key+"="); ok {
			return value
		}
	}
	return ""
}

// LookPath finds a program as a shell would, and returns its absolute path. Error: [fs.ErrNotExist].
func (h Environment) LookPath(program string) (string, error) {
	for _, dir := range filepath.SplitList(h.Getenv("PATH")) {
		path, err := filepath.Abs(filepath.Join(dir, program))
		if err != nil || dir == "" {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path, nil
		}
	}
	return "", &fs.PathError{Op: "find in PATH", Path: program, Err: fs.ErrNotExist}
}

// FindProgram finds the program of an agent in PATH. Error: [*NotInstalledError].
func (h Environment) FindProgram(agent discover.Adapter) (string, error) {
	path, err := h.LookPath(agent.Program())
	if err != nil {
		return "", &NotInstalledError{Agent: agent.Name(), Program: agent.Program()}
	}
	return path, nil
}

// Output runs a short command to its end, with additional variables, in a directory; "" is that of this process. It returns what the
// command printed, on stdout and stderr, which the error has too.
func (h Environment) Output(ctx context.Context, dir string, variables []string, args ...string) (string, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = slices.Concat(h.Environ, variables)
	if cmd.Dir = dir; dir != "" {
		cmd.Env = append(cmd.Env, "PWD="+dir) // some believe it more than the kernel
	}
	out := storage.LimitedBuffer{Limit: 64 << 10}
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second
	if err := proc.RunJob(ctx, cmd, true, runGrace); err != nil {
		words := append([]string{filepath.Base(args[0])}, args[1:]...)
		return string(out.Bytes()), fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, bytes.TrimSpace(out.Bytes()))
	}
	return string(out.Bytes()), nil
}

// Command is a command of an agent.
type Command struct {
	// Args is the command line; Args[0] is the absolute path of the program. Env are variables that it needs besides.
	Args, Env []string
	// Dir is the directory that it runs in.
	Dir string
	// Help is the command line that prints the command's help. Versions that have the command print HelpHas.
	Help    []string
	HelpHas string
	// Converse has the conversation with a command that answers on its stdout what it is asked on its stdin. It is nil for a command that
	// does what its command line says.
	Converse func(*StdioServer) error
}

// Run runs the command to its end.
func (c Command) Run(ctx context.Context, host Environment) error {
	if c.Converse == nil {
		_, err := host.Output(ctx, c.Dir, c.Env, c.Args...)
		return err
	}
	server, err := host.StartStdioServer(ctx, c.Dir, c.Env, c.Args...)
	if err != nil {
		return err
	}
	err = c.Converse(server)
	if said := server.Close(); err != nil && len(said) > 0 {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return err
}

// Supported asks the installed version of the agent whether it has the command. Error: [*UnsupportedError].
func (c Command) Supported(ctx context.Context, agent discover.Agent, host Environment) error {
	if len(c.Help) == 0 {
		return nil
	}
	help, err := host.Output(ctx, c.Dir, c.Env, c.Help...)
	if strings.Contains(help, c.HelpHas) {
		return nil
	}
	what := fmt.Sprintf("in the installed version has no command %q", strings.TrimSpace(c.HelpHas))
	if err != nil {
		what += fmt.Sprintf(" (%v)", err)
	}
	return &UnsupportedError{Agent: agent, What: what}
}

// StdioServer is a command of an agent that answers on its stdout what it is asked on its stdin, and ends when its stdin ends.
type StdioServer struct {
	// Stdin is what it reads from, Stdout what it writes to.
	Stdin, Stdout *os.File

	stderr storage.LimitedBuffer // complete once it has ended
	cancel context.CancelFunc    // ends it
	ended  chan struct{}
}

// StartStdioServer starts such a command in a directory, with additional variables. It ends with ctx at the latest, as do reading and
// writing, even if a process that the server has started keeps the other end of a pipe.
func (h Environment) StartStdioServer(ctx context.Context, dir string, variables []string, args ...string) (*StdioServer, error) {
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer childIn.Close()
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	defer childOut.Close()
	ctx, cancel := context.WithCancel(ctx)
	s := &StdioServer{
		Stdin: in, Stdout: out,
		stderr: storage.LimitedBuffer{Limit: 64 << 10}, cancel: cancel, ended: make(chan struct{}),
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = slices.Concat(h.Environ, variables, []string{"PWD=" + dir}), dir, runGrace
	cmd.Stdin, cmd.Stdout, cmd.Stderr = childIn, childOut, &s.stderr
	job, err := proc.StartJob(cmd, true)
	if err != nil {
		cancel()
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	context.AfterFunc(ctx, func() {
		past := time.Unix(1, 0)
		_ = errors.Join(in.SetDeadline(past), out.SetDeadline(past)) // they may be closed
	})
	go func() {
		defer close(s.ended)
		_ = job.WaitContext(ctx, runGrace) // its answers say whether it did what was asked
	}()
	return s, nil
}

// Close ends the server, and returns when it is gone. The result is what it has written to its stderr.
func (s *StdioServer) Close() []byte {
	_ = s.Stdin.Close()
	select {
	case <-s.ended:
	case <-time.After(runGrace):
	}
	s.cancel()
	<-s.ended
	_ = s.Stdout.Close()
	return bytes.TrimSpace(s.stderr.Bytes())
}
