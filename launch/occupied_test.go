package launch

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"agentctl/discover"
	"agentctl/lock"
	"agentctl/proc"
)

// A live session is not resumed, but it can be copied.
func TestLiveSessionsAreNotResumed(t *testing.T) {
	for name, test := range map[string]struct {
		status        discover.Status
		fork, refused bool
	}{
		"running":         {discover.Running, false, true},
		"idle":            {discover.Idle, false, true},
		"stopped":         {discover.Stopped, false, false},
		"running, a copy": {discover.Running, true, false},
	} {
		s := discover.Session{Record: &discover.Record{Agent: "puppet", ID: "a"}, Status: test.status}
		other := discover.Session{Record: &discover.Record{Agent: "puppet", ID: "b"}, Status: discover.Running}
		p := &Plan{
			Request:  Request{Resume: &s, Fork: test.fork},
			Activity: &lock.Activity{Result: discover.Result{Sessions: []discover.Session{other, s}}},
		}
		err := p.checkResumable()
		live := (*LiveError)(nil)
		if errors.As(err, &live) != test.refused || live != nil && live.Session.ID != "a" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A holder of a lock is waited for if it runs this program, by a command that holds one only for a moment.
func TestBriefHolders(t *testing.T) {
	dir := t.TempDir()
	for verb, brief := range map[string]bool{"launch": true, "rm": true, "lock": false} {
		if err := os.WriteFile(filepath.Join(dir, verb), []byte("echo ready\nread line\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		// sh runs the script of that name in the directory: its arguments are those of this program.
		cmd := &exec.Cmd{Path: "/bin/sh", Args: []string{"agentctl", verb}, Dir: dir}
		in, inErr := cmd.StdinPipe()
		out, outErr := cmd.StdoutPipe()
		if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		_, readErr := out.Read(make([]byte, 1))
		table, err := proc.ReadTable(t.Context())
		if err := errors.Join(readErr, err); err != nil {
			t.Fatal(err)
		}
		holder, _ := table.ByPID(cmd.Process.Pid)
		held := lock.Lock{Holders: []proc.Process{holder}}
		if isBrief(proc.Process{Exe: holder.Exe}, held) != brief {
			t.Errorf("%s: want %v", verb, brief)
		}
		if isBrief(proc.Process{Exe: "/bin/other"}, held) {
			t.Errorf("%s of another program is brief", verb)
		}
		_ = in.Close()
		_ = cmd.Wait()
	}
}
