package opencode

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
	"agentctl/proc"
)

// readInSource is the version of OpenCode 2 by whose source this package was written. Nothing of it was seen on the program.
const readInSource = "2.0.26"

// isV2 reports whether OpenCode 2 stores a session.
func isV2(s discover.Session) bool { return s.Meta["store"] == v2SessionTable }

// versionTimeout bounds how long the program may take to print its version.
const versionTimeout = 10 * time.Second

// learnGeneration asks the program for its version if no package names it: `--version` prints "opencode v2.0.18", and OpenCode 1 only the
// number. It starts no service.
func (i *installation) learnGeneration(host launch.Environment) {
	if i.generation != generationUnknown {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), versionTimeout)
	defer cancel()
	out, _ := host.Output(ctx, "", nil, i.path, "--version") // what is no version says nothing
	words := append(strings.Fields(out), "")
	if i.version = storage.ParseVersion(strings.TrimPrefix(words[max(len(words)-2, 0)], "v")); i.version == (storage.Version{}) {
		return
	}
	if i.generation = generation1; !i.version.Before(storage.Version{2}) {
		i.generation = generation2
	}
}

// installationFor returns the installed program, if it is of the generation that stores the session.
func installationFor(s discover.Session, host launch.Environment) (installation, error) {
	p, err := findInstallation(host)
	if err != nil {
		return p, err
	}
	want, stored := generation1, "1"
	if isV2(s) {
		want, stored = generation2, "2"
	}
	if isV2(s) || usesV2(host) { // `run --session` of OpenCode 2 makes a session with an ID that it does not have
		p.learnGeneration(host)
	}
	if p.generation != want && (isV2(s) || p.generation == generation2) {
		return p, unsupported(fmt.Sprintf("%s stores this session, and %s is version %s", stored, p.path, cmp.Or(p.version.String(), "unknown")))
	}
	return p, nil
}

// v2Spec returns how OpenCode 2 is started: `opencode run --format json` with the prompt on standard input, or its terminal. The session runs in the
// service, which the run starts if there is none. The ID of a new session is in the first event that the run prints.
func (i installation) v2Spec(r launch.Request, host launch.Environment) (launch.Spec, error) {
	spec := launch.Spec{Args: []string{i.path}, Dir: r.Dir, Stdin: r.Prompt}
	spec.Hint = "OpenCode 2 was read in source " + readInSource + ", not yet seen on the program"
	switch {
	case r.Permissions == launch.PermissionsEdit:
		return spec, unsupported("2 has no documented way to allow edits only; --permissions full allows everything that is not denied")
	case r.Interactive && (r.Model != "" || r.Fork):
		return spec, unsupported("2 takes no model, and makes no copy, for its terminal")
	case !r.Interactive:
		spec.Args = append(spec.Args, "run", "--format", "json")
	}
	if s := r.Resume; s != nil {
		switch {
		case r.Moved:
			return spec, unsupported("2 continues a session only in its own directory")
		case len(storeEnv(s, host)) > 0:
			return spec, unsupported("2 has this session in another database than its service opens here: " + s.Path)
		case s.Meta["claimed"] == true:
			spec.Hint += "; its service first goes on with the turn that was cut off"
		}
		spec.Args, spec.ID, spec.Resumed = append(spec.Args, "--session", s.ID), s.ID, true
		if r.Fork {
			spec.Args, spec.ID = append(spec.Args, "--fork"), ""
		}
	}
	for _, o := range [][2]string{{"--title", r.Name}, {"--model", r.Model}} {
		if o[1] != "" && !r.Interactive {
			spec.Args = append(spec.Args, o[0], o[1])
		}
	}
	switch {
	case r.Permissions == launch.PermissionsFull:
		spec.Args = append(spec.Args, "--auto")
	case !r.Interactive:
		spec.Hint += "; headless, it denies anything that needs approval; --permissions full allows it"
	}
	spec.Args = append(spec.Args, r.Args...)
	return spec, nil
}

// usesV2 reports whether OpenCode 2 is in use: a service is or was registered.
func usesV2(host launch.Environment) bool {
	services, _ := readServices(context.Background(), stateVariables().Dir(host.Getenv)) // what cannot be read says nothing
	return len(services) > 0
}

// liveService returns the process of the background service that commands of the agent use in this environment; ok is false if it does not run.
// Its identity was checked just now: the registration is not older than the process, which is a server of OpenCode 2.
func liveService(ctx context.Context, host launch.Environment) (s service, p proc.Process, ok bool) {
	dir := stateVariables().Dir(host.Getenv)
	services, _ := readServices(ctx, dir)
	for _, s := range services {
		p, err := proc.Inspect(s.pid)
		if err != nil || !p.Alive() || !p.StartedBefore(s.written) {
			continue
		}
		if q, ok := inspect(p); ok && q.mode == modeServer && !q.foreign && discover.RealPath(q.stateDir) == discover.RealPath(dir) {
			return s, p, true
		}
	}
	return service{}, proc.Process{}, false
}

// runsIn reports whether a process runs the session.
func runsIn(s discover.Session, p proc.Process) bool {
	return slices.ContainsFunc(s.Processes, func(own proc.Process) bool { return own.ID == p.ID })
}

// serviceCommand returns the installed program for a command that the service of a session carries out. A command would start a service if none runs, and
// that would go on with every turn that was cut off; so it is refused then.
func serviceCommand(ctx context.Context, s discover.Session, host launch.Environment) (p installation, of service, err error) {
	of, process, ok := liveService(ctx, host)
	switch {
	case !ok, len(s.Processes) > 0 && !runsIn(s, process):
		return p, of, unsupported("2 does that only through its background service, and none that has this session runs here; to start it would go on with all turns that were cut off")
	case len(storeEnv(&s, host)) > 0:
		return p, of, unsupported("2 has this session in another database than its service opens here: " + s.Path)
	}
	p, err = installationFor(s, host)
	return p, of, err
}

// interruptV2 asks the service to end the turn of a session, by the agent's own command, which has the password. The storage shows whether it has ended.
func interruptV2(ctx context.Context, s discover.Session, host launch.Environment) (accepted bool, err error) {
	if s.Status == discover.Idle {
		return true, nil
	}
	p, _, err := serviceCommand(ctx, s, host)
	if err != nil {
		return false, err
	}
	_, err = host.Output(ctx, s.Home, nil, p.path, "api", "POST", "/api/session/"+s.ID+"/interrupt")
	return err == nil, err
}

// attachV2 returns the command of a terminal that shows a session of the service. A terminal of another version than the service ends the service, and
// with it all turns.
func attachV2(ctx context.Context, s discover.Session, host launch.Environment) (launch.Command, error) {
	p, of, err := serviceCommand(ctx, s, host)
	switch {
	case err != nil:
		return launch.Command{}, err
	case p.version != storage.ParseVersion(of.version):
		return launch.Command{}, unsupported(fmt.Sprintf("2 would end its service, of version %s, and all turns in it: the program is %s", of.version, p.version))
	}
	return launch.Command{Args: []string{p.path, "--session", s.ID}, Dir: s.Dir}, nil
}

// removeV2 returns the command that deletes a session.
func removeV2(s discover.Session, host launch.Environment) (launch.Command, error) {
	p, _, err := serviceCommand(context.Background(), s, host)
	if err != nil {
		return launch.Command{}, err
	}
	return launch.Command{Args: []string{p.path, "session", "delete", s.ID}, Dir: s.Home}, nil
}

// isV2Client reports whether a client of a session's server is the agent's beyond doubt: it runs the binary of the server, or one of the agent's
// package. Others are not signalled because of their name and arguments.
func isV2Client(p proc.Process, s discover.Session) bool {
	_, packaged := versionOf(p.Exe)
	return packaged == generation2 || slices.ContainsFunc(s.Processes, func(server proc.Process) bool { return p.Exe != "" && server.Exe == p.Exe })
}
