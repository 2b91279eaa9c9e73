package launch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/must"
)

// puppetKey makes the test's own program a puppet: an agent that does what its prompt says, line by line. Its value is
// the folder that the puppets store their sessions in.
const puppetKey = "LAUNCH_TEST_PUPPET"

func TestMain(m *testing.M) {
	if store := os.Getenv(puppetKey); store != "" {
		perform(store)
	}
	os.Exit(m.Run())
}

// failed stands in the storage of a session whose turn has failed.
const failed = "failed"

// began stands before the time in the storage of a session whose turn has begun without its prompt.
const began = "began "

// perform obeys until the prompt ends.
func perform(store string) {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		switch verb {
		case "run": // ID: this process runs it
			write(filepath.Join(store, strconv.Itoa(os.Getpid())+".pid"), rest)
		case "begin": // ID: it has a turn in storage, and not what was asked
			write(filepath.Join(store, rest+".session"), began+time.Now().Format(time.RFC3339Nano))
		case "store": // ID: it has a turn in storage
			write(filepath.Join(store, rest+".session"), time.Now().Format(time.RFC3339Nano))
		case "fail": // ID: its turn has failed, by the storage
			write(filepath.Join(store, rest+".session"), failed)
		case "complain":
			fmt.Fprintln(os.Stderr, rest)
		case "await": // GATE: block until somebody opens it
			if _, err := os.ReadFile(rest); err != nil {
				panic(err)
			}
		case "never": // go on
			var pipe [2]int
			if err := unix.Pipe(pipe[:]); err == nil {
				_, _ = unix.Read(pipe[0], make([]byte, 1))
			}
		case "exit":
			code, _ := strconv.Atoi(rest)
			os.Exit(code)
		default:
			fmt.Fprintf(os.Stderr, "no such order: %q\n", verb)
			os.Exit(99)
		}
	}
	os.Exit(0)
}

// gate is a FIFO that a puppet can await.
func gate(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gate")
	must.Do(t, unix.Mkfifo(path, 0o600))
	return path
}

// open opens a gate for the puppet that awaits it.
func open(t *testing.T, gate string) {
	t.Helper()
	f, err := os.OpenFile(gate, os.O_WRONLY, 0)
	if err != nil {
		t.Error(err)
		return
	}
	f.Close()
}

func write(path, text string) {
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		panic(err)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// puppets is the adapter of the puppets of one store.
type puppets struct {
	Defaults
	store  string
	chosen string // the ID that Spec chooses
	resume bool
}

func (puppets) Name() discover.Agent { return "puppet" }

func (p puppets) Homes(discover.HomeSources, *proc.Table) []discover.Home {
	return []discover.Home{{Dir: p.store, FromUser: true}}
}

func (p puppets) Claims(_ context.Context, table *proc.Table, _ []discover.Home) (claims []discover.Claim, err error) {
	for x := range table.All() {
		env, err := x.Env(puppetKey)
		if err != nil || env[puppetKey] != p.store {
			continue
		}
		c := discover.Claim{Agent: "puppet", Process: x.ID, Home: p.store}
		claims = append(claims, c)
		if id, err := os.ReadFile(filepath.Join(p.store, strconv.Itoa(x.ID.PID)+".pid")); err == nil {
			c.Session, c.Strength, c.Kind = string(id), discover.Exact, "pid-file"
			if path := filepath.Join(p.store, string(id)+".session"); exists(path) {
				c.Path = path
			}
			claims = append(claims, c)
		}
	}
	return claims, nil
}

func (p puppets) Entries(_ context.Context, _ []discover.Home, q discover.EntryFilter) (list []discover.Entry, err error) {
	paths, err := filepath.Glob(filepath.Join(p.store, "*.session"))
	for _, path := range paths {
		id := strings.TrimSuffix(filepath.Base(path), ".session")
		wanted := len(q.Refs) == 0 && strings.HasPrefix(id, q.ID)
		for _, r := range q.Refs {
			wanted = wanted || r.ID == id
		}
		if wanted {
			list = append(list, discover.Entry{Agent: "puppet", ID: id, Path: path, Home: p.store})
		}
	}
	return list, err
}

func (p puppets) Read(_ context.Context, entries []discover.Entry, _ discover.ReadOptions) iter.Seq2[discover.Record, error] {
	return func(yield func(discover.Record, error) bool) {
		for _, e := range entries {
			text, err := os.ReadFile(e.Path)
			r := discover.Record{Agent: "puppet", ID: e.ID, Path: e.Path, Home: e.Home}
			r.Turn.State = discover.TurnFailed
			if err == nil && string(text) != failed {
				r.Updated, err = time.Parse(time.RFC3339Nano, strings.TrimPrefix(string(text), began))
				r.Turn = discover.Turn{State: discover.TurnOpen, Began: r.Updated}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// Messages is the one prompt of a session.
func (p puppets) Messages(_ context.Context, r discover.Record) iter.Seq2[discover.Message, error] {
	return func(yield func(discover.Message, error) bool) {
		text, err := os.ReadFile(r.Path)
		if at, bad := time.Parse(time.RFC3339Nano, string(text)); bad == nil {
			yield(discover.Message{Role: discover.RoleUser, Kind: discover.KindText, Time: at}, err)
		}
	}
}

func (p puppets) Spec(r Request, _ Environment) (Spec, error) {
	return Spec{
		Args: append([]string{self()}, r.Args...), Env: []string{puppetKey + "=" + p.store},
		Stdin: r.Prompt, Dir: r.Dir, ID: p.chosen, Resumed: p.resume,
	}, nil
}

func (puppets) ParseOutput(o Output) (s ParsedOutput) {
	for line := range strings.Lines(string(o.Stdout)) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "session "); ok {
			s.ID = id
		}
	}
	return s
}

func (puppets) ScrubbedEnv() []string { return []string{"PUPPET", "PUPPET_MARK_*"} }

func self() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

// stage starts a puppet that performs the script, each order a line.
func stage(t *testing.T, p puppets, script ...string) *Execution {
	t.Helper()
	spec, err := p.Spec(Request{Prompt: strings.Join(script, "\n") + "\n", Dir: t.TempDir()}, Environment{})
	must.Do(t, err)
	homes := func(discover.Agent) discover.HomeSources {
		return discover.HomeSources{Getenv: func(string) string { return "" }}
	}
	plan := &Plan{
		Agent: p, Spec: spec, Environment: NewEnvironment(os.Environ(), []discover.Adapter{p}),
		Scanner: &discover.Scanner{Adapters: []discover.Adapter{p}, HomeSources: homes, ReadTable: proc.ReadTable, UID: os.Geteuid()},
	}
	c, err := plan.Execute("")
	must.Do(t, err)
	t.Cleanup(func() {
		if err := c.KillTree(context.Background()); err != nil {
			t.Error(err)
		}
		<-c.Done()
		c.Close()
	})
	return c
}

// endedBy is the error of a child that ended.
func endedBy(t *testing.T, err error) *AgentFailedError {
	t.Helper()
	var e *AgentFailedError
	if !errors.As(err, &e) {
		t.Fatalf("the error is %v", err)
	}
	return e
}
