package e2e_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	contract "agentctl/internal/object"
	"agentctl/tests/extent"
	"agentctl/tests/sshd"
)

// hostsKey finds a script's machines.
type hostsKey struct{}

// machines are those of a script.
type machines struct {
	world *sshd.World
	homes map[string]string
}

// newMachines returns none. They end with the script, after its fakes have.
func newMachines(env *testscript.Env) *machines {
	m := &machines{homes: map[string]string{}}
	env.Defer(func() {
		if m.world != nil {
			m.world.Close()
		}
	})
	return m
}

// firstUID is the user of the first machine; each has another one.
const firstUID = 2001

// hostCommands are the commands for other machines.
func hostCommands() map[string]command {
	return map[string]command{
		// hosts NAME…: there are these machines, each of another user, and ssh reaches them; NAME=FILE has that login shell.
		"hosts": withArgs(1, makeHosts),
		// put HOST PROGRAM…: these programs are in ~/.local/bin of the machine.
		"put": withArgs(2, func(ts *testscript.TestScript, args []string) {
			m := machinesOf(ts)
			for _, name := range args[1:] {
				path, err := lookPath(ts, name)
				ts.Check(err)
				ts.Check(os.Link(path, filepath.Join(m.homes[args[0]], ".local/bin", name)))
			}
		}),
		// start-on HOST NAME PROGRAM ARGS…: as start, on the machine, by its user and in its home.
		"start-on": withArgs(3, func(ts *testscript.TestScript, args []string) {
			m := machinesOf(ts)
			home := m.homes[args[0]]
			words := slices.Concat(m.world.Enter(args[0]), []string{"sh", "-c", `cd "$HOME" && exec "$@"`, "sh", filepath.Join(home, ".local/bin", args[2])}, args[3:])
			cmd := exec.Command(words[0], words[1:]...)
			old := ts.Getenv("HOME")
			ts.Setenv("HOME", home)
			fakesOf(ts).start(ts, args[1], cmd)
			ts.Setenv("HOME", old)
			ts.Setenv(args[1], strconv.Itoa(cmd.Process.Pid))
		}),
		// cut-off HOST: the newest connection to the machine ends at once.
		"cut-off": withArgs(1, func(ts *testscript.TestScript, args []string) {
			pid := machinesOf(ts).world.Connection(args[0])
			if pid == 0 {
				ts.Fatalf("there is no connection to %s", args[0])
			}
			ts.Check(unix.Kill(-pid, unix.SIGKILL))
		}),
		// answers HOST SCHEMA FILE…: the agentctl of the machine is one that answers whatever it is asked with the content of the files, by ".err"
		// in their name on stderr. A SCHEMA of - is that of this program.
		"answers": withArgs(2, func(ts *testscript.TestScript, args []string) { answers(ts, args[0], args[1], args[2:]) }),
	}
}

func machinesOf(ts *testscript.TestScript) *machines { return ts.Value(hostsKey{}).(*machines) }

func makeHosts(ts *testscript.TestScript, args []string) {
	m := machinesOf(ts)
	dir := ts.MkAbs("hosts")
	ts.Check(os.Mkdir(dir, 0o755))
	var list []sshd.Host
	for i, arg := range args {
		name, shell, _ := strings.Cut(arg, "=")
		if shell != "" {
			shell = ts.MkAbs(shell)
			ts.Check(os.Chmod(shell, 0o755))
		}
		h := sshd.Host{Name: name, UID: firstUID + i, Home: filepath.Join(dir, name), Shell: shell}
		list = append(list, h)
		m.homes[name] = h.Home
		ts.Setenv("home_"+name, h.Home)
	}
	var err error
	m.world, err = sshd.New(context.Background(), dir, list...)
	ts.Check(err)
	ts.Setenv("PATH", m.world.Bin+":"+ts.Getenv("PATH"))
}

// machinesAllowed reports whether scripts may make machines. In continuous integration an error says why not.
func machinesAllowed() (bool, error) {
	err := sshd.Supported()
	if errors.Is(err, sshd.ErrRefused) && (extent.Hermetic() || os.Getenv("CI") != "true") {
		return false, nil
	}
	return err == nil, err
}

// answers writes an agentctl that says what a test wants.
func answers(ts *testscript.TestScript, name, schema string, files []string) {
	if schema == "-" {
		schema = contract.SchemaID()
	}
	home := machinesOf(ts).homes[name]
	script := "#!/bin/sh\nset -- $AGENTCTL_CALLER\nprintf '%s " + schema + " linux amd64 v9.9.9\\033[2J\\n' \"$1\"\n"
	for _, stream := range []string{"answer", "errors"} {
		var text strings.Builder
		for _, file := range files {
			if strings.Contains(file, ".err") == (stream == "errors") {
				text.WriteString(ts.ReadFile(file))
			}
		}
		ts.Check(os.WriteFile(filepath.Join(home, stream), []byte(text.String()), 0o644))
	}
	program := filepath.Join(home, ".local/bin/agentctl")
	_ = os.Remove(program)
	ts.Check(os.WriteFile(program, []byte(script+"cat "+home+"/errors >&2\ncat "+home+"/answer\necho\necho $1 0\n"), 0o755))
	ts.Check(os.Chmod(program, 0o755))
}
