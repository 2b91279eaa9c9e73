package cli

import (
	"errors"
	"strings"

	"agentctl/discover/ancestry"
	"agentctl/internal/object"
	"agentctl/launch/stop"
	"agentctl/proc"
)

// Processes reads what each process of a tree uses. A process that has ended since is left out.
func Processes(tree []ancestry.Node) []object.Process {
	var out []object.Process
	for _, b := range tree {
		p := object.Process{
			PID: b.ID.PID, PPID: b.Parent, Name: b.Name, StartedAt: object.Timestamp(b.Started), Shared: b.Shared,
		}
		args, err := b.Args()
		if errors.Is(err, proc.ErrGone) {
			continue
		}
		p.Command = command(args)
		for _, k := range b.Sessions {
			p.Adapter = string(k.Agent)
			if k.ID != "" {
				p.Sessions = append(p.Sessions, k.ID)
			}
		}
		if len(b.Sessions) == 0 {
			measure(&p, b.Process)
		}
		out = append(out, p)
	}
	return out
}

func measure(p *object.Process, of proc.Process) {
	if used, err := of.Usage(); err == nil {
		seconds := used.CPU.Seconds()
		p.CPU, p.Memory = &seconds, &used.Memory
	}
	if ports, err := of.ListenPorts(); err == nil {
		p.Ports = ports
	}
}

// commandLimit bounds a command line that is shown, in characters: one may contain a whole script.
const commandLimit = 200

func command(args []string) string {
	line := []rune(strings.Join(args, " "))
	if len(line) > commandLimit {
		return string(line[:commandLimit-1]) + "…"
	}
	return string(line)
}

// OrphanObjects returns the JSON objects of the orphans that still run.
func OrphanObjects(found []stop.Orphan) []object.Orphan {
	objects := make([]object.Orphan, 0, len(found))
	for _, f := range found {
		for _, p := range Processes([]ancestry.Node{{Process: f.Process}}) {
			o := object.Orphan{Process: p}
			o.Adapter = string(f.Session.Agent)
			if f.Session.ID != "" {
				o.SessionID = &f.Session.ID
			}
			objects = append(objects, o)
		}
	}
	return objects
}
