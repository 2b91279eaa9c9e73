package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/internal/output"
	"agentctl/launch"
	"agentctl/launch/worktree"
	"agentctl/proc"
)

// gitTime is how long git may take to say what is not committed.
const gitTime = 2 * time.Second

// changes asks git, which costs two processes; nothing is asked of what is in no repository.
func (env Env) changes(ctx context.Context, dir string) (*output.Changes, error) {
	limited, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	found, err := worktree.ReadChanges(limited, launch.Environment{Environ: env.Environ}, dir)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("git takes longer than %v", gitTime)
	case err != nil || found == nil:
		return nil, err
	}
	c := &output.Changes{Changed: found.Changed, Untracked: found.Untracked, Upstream: found.Upstream}
	if found.AheadBehindKnown {
		c.Ahead, c.Behind = &found.Ahead, &found.Behind
	}
	return c, nil
}

// processes asks each process of a tree what it uses. One that has ended meanwhile is left out.
func processes(tree []discover.ProcessNode) []output.Process {
	var out []output.Process
	for _, b := range tree {
		p := output.Process{
			PID: b.ID.PID, PPID: b.Parent, Name: b.Name, StartedAt: output.Timestamp(b.Started), Depth: b.Depth, Shared: b.Shared,
		}
		args, err := b.Args()
		if errors.Is(err, proc.ErrGone) {
			continue
		}
		p.Command = command(args)
		for _, k := range b.Runs {
			p.Adapter = string(k.Agent)
			if k.ID != "" {
				p.Sessions = append(p.Sessions, k.ID)
			}
		}
		if len(b.Runs) == 0 {
			measure(&p, b.Process)
		}
		out = append(out, p)
	}
	return out
}

func measure(p *output.Process, of proc.Process) {
	if used, err := of.Usage(); err == nil {
		seconds := used.CPU.Seconds()
		p.CPU, p.Memory = &seconds, &used.Memory
	}
	if ports, err := of.ListenPorts(); err == nil {
		p.Ports = ports
	}
}

// commandLimit is how many characters of a command line are shown: scripts can stand in one, whole.
const commandLimit = 200

func command(args []string) string {
	line := []rune(strings.Join(args, " "))
	if len(line) > commandLimit {
		return string(line[:commandLimit-1]) + "…"
	}
	return string(line)
}
