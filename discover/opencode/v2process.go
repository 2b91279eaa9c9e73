package opencode

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/proc"
)

// decideGenerations separates the processes of OpenCode 1 and 2. Arguments and npm's package decide in [inspect]; here do the registration of a
// service, a process that runs the same binary, and what the database has. In a home with the sessions of both, the log decides later.
func (scan *processScan) decideGenerations() {
	known := map[string]generation{} // by binary
	for _, p := range scan.processes {
		if p.generation == generationUnknown && p.mode == modeServer && scan.registered(p) != nil {
			p.generation = generation2
		}
		if p.Exe != "" && !p.Deleted && p.generation != generationUnknown {
			known[p.Exe] = p.generation
		}
	}
	stores := map[string]generation{} // by data folder
	for _, p := range scan.processes {
		if p.generation == generationUnknown && !p.Deleted {
			p.generation = known[p.Exe]
		}
		if p.generation == generationUnknown {
			g, ok := stores[p.home]
			if !ok {
				g = scan.generationOf(p.stored)
				stores[p.home] = g
			}
			p.generation = g
		}
	}
	scan.separate()
}

// decideByLog decides what nothing else has: a line of OpenCode 2 in the shared log has the role of its process.
func (scan *processScan) decideByLog() {
	for _, p := range scan.processes {
		switch {
		case p.generation != generationUnknown:
		case p.lastLine.role != "":
			p.generation = generation2
		case p.hasLog:
			p.generation = generation1
		default:
			scan.unknown = append(scan.unknown, p)
		}
	}
	scan.processes = slices.DeleteFunc(scan.processes, func(p *loggedProcess) bool { return p.generation == generationUnknown })
	scan.separate()
}

// separate moves the processes of OpenCode 2 from those of OpenCode 1.
func (scan *processScan) separate() {
	scan.processes = slices.DeleteFunc(scan.processes, func(p *loggedProcess) bool {
		if p.generation != generation2 {
			return false
		}
		p.commandLine, p.unsupported = p.asV2(), ""
		p.sessions, p.lastLine, p.hasLog = map[string]logEvent{}, logLine{}, false // by the log of OpenCode 1
		if p.mode != modeNone {
			scan.v2 = append(scan.v2, p)
		}
		return true
	})
}

// generationOf returns the generation whose sessions a data folder has: OpenCode 1 if it has none, unknown if it has those of both.
func (scan *processScan) generationOf(h *homeSessions) generation {
	var has1, has2 bool
	for _, home := range h.homes {
		databases, _ := listDatabases(scan.ctx, home) // load reports what cannot be read
		for _, path := range databases {
			_, _ = readDatabase(scan.ctx, h.dir, path, func(d *database) bool {
				has1, has2 = has1 || d.messageTable != nil, has2 || d.v2.messages != nil
				return true
			})
		}
	}
	switch {
	case has1 && has2:
		return generationUnknown
	case has2:
		return generation2
	}
	return generation1
}

// stateVariables decide where a service registers (READ 2.0.26).
func stateVariables() discover.HomeVariables {
	return discover.HomeVariables{Key: stateKey, Below: "opencode", Default: ".local/state/opencode"}
}

// service is the registration of a background service. The password and the address in the file are not kept.
type service struct {
	path, version string
	pid           int
	written       time.Time
}

// maxRegistration is the most bytes of a registration that are read.
const maxRegistration = 64 << 10

// readServices reads the registrations in a folder: service.json, or one for each release channel, as service-local.json.
func readServices(ctx context.Context, dir string) (found []service, err error) {
	entries, err := storage.ReadDir(ctx, dir)
	errs := []error{newWarning(dir, err)}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "service") || filepath.Ext(e.Name()) != ".json" {
			continue
		}
		s, err := readService(ctx, filepath.Join(dir, e.Name()))
		if errs = append(errs, newWarning(s.path, err)); err == nil {
			found = append(found, s)
		}
	}
	return found, errors.Join(errs...)
}

func readService(ctx context.Context, path string) (s service, err error) {
	s.path = path
	f, err := storage.Open(ctx, path)
	if err != nil {
		return s, err
	}
	defer f.Close()
	s.written = f.ModTime()
	data := make([]byte, min(f.Size(), maxRegistration))
	if _, err := f.ReadAt(data, 0); err != nil {
		return s, err
	}
	o := storage.Object(data)
	if s.pid = int(o.Get("pid").Int()); s.pid <= 0 || !o.Complete() {
		return s, errIncomplete
	}
	s.version = o.Get("version").Text(nameLimit)
	return s, nil
}

// registered returns the registration of a service; nil if the process has none. A file that is older than the process is that of another one
// with its pid, which was killed. Only folders of processes whose home is listed are read.
func (scan *processScan) registered(p *loggedProcess) *service {
	if p.foreign || p.stateDir == "" || !p.stored.listed() {
		return nil
	}
	services, read := scan.services[p.stateDir]
	if !read {
		var err error
		services, err = readServices(scan.ctx, p.stateDir)
		scan.services[p.stateDir], scan.warnings = services, append(scan.warnings, err)
	}
	return findService(services, p.Process)
}

// findService returns the registration of a process; nil if there is none.
func findService(services []service, p proc.Process) *service {
	for i := range services {
		if services[i].pid == p.ID.PID && p.StartedBefore(services[i].written) {
			return &services[i]
		}
	}
	return nil
}

// isRegistered reports whether a process is a registered service.
func isRegistered(ctx context.Context, p proc.Process) bool {
	q, ok := inspect(p)
	if !ok || q.foreign {
		return false
	}
	services, _ := readServices(ctx, q.stateDir) // what cannot be read says nothing
	return findService(services, p) != nil
}
