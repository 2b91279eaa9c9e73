package pi

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
)

// Spec implements [launch.Adapter]: `pi -p --mode json` with an ID that we choose, or with the path of the session to resume. By its ID, Pi
// finds a session only from its own directory, and asks on stdin to copy it from any other (SEEN 1.5.2). The prompt is given on stdin: an
// argument that begins with @ is a file.
func (a Adapter) Spec(r launch.Request, host launch.Environment) (launch.Spec, error) {
	program, err := host.FindProgram(a)
	if err != nil {
		return launch.Spec{}, err
	}
	if err := check(r, installedVersion(program)); err != nil {
		return launch.Spec{}, err
	}
	spec := launch.Spec{Args: []string{program}, Dir: r.Dir, Stdin: r.Prompt}
	if !r.Interactive {
		spec.Args = append(spec.Args, "-p", "--mode", "json")
	}
	spec.ID = storage.NewUUID()
	launched := spec.ID
	if s := r.Resume; s == nil {
		spec.Args = append(spec.Args, "--session-id", spec.ID)
	} else if spec.Env, spec.Resumed = homeEnv(s, host), true; r.Fork { // a copy has earlier turns, too
		spec.Args = append(spec.Args, "--fork", s.Path, "--session-id", spec.ID)
	} else {
		spec.ID, launched = s.ID, s.Path
		spec.Args = append(spec.Args, "--session", s.Path)
	}
	if !r.Interactive { // in a terminal, the user may go on to another session
		spec.Env = append(spec.Env, launchedKey+"="+launched)
	}
	for _, option := range [][2]string{{"--model", r.Model}, {"--name", r.Name}} {
		if option[1] != "" {
			spec.Args = append(spec.Args, option[0], option[1])
		}
	}
	if spec.Args = append(spec.Args, r.Args...); r.Permissions == launch.PermissionsOwn && !r.Interactive && len(r.Args) == 0 {
		spec.Hint = "pi asks for no approval: it runs every command and changes any file; -- --tools read,grep,find,ls lets it only read"
	}
	return spec, nil
}

// sessionFlags choose the session, or what is printed.
const sessionFlags = "--session --session-id --session-dir --no-session --fork --continue -c --resume -r --mode --export"

// check returns an error if Pi cannot do what is requested.
func check(r launch.Request, version storage.Version) error {
	what := version.BelowFloor(oldestSupported)
	switch arg, isOwn := r.FindArg(sessionFlags); {
	case what != "":
	case r.Permissions == launch.PermissionsEdit:
		what = "has no approvals, so that it cannot be let change files only: --permissions full says what it may do"
	case isOwn:
		what = fmt.Sprintf(launch.ChoosesSession, arg)
	case r.Resume != nil && r.Resume.Path == "":
		what = "has not stored the session yet"
	case r.Moved && !r.Fork: // its own directory is gone, or it would run there
		what = "continues a session only in its own directory: --fork continues a copy in another one"
	}
	if what == "" {
		return nil
	}
	return &launch.UnsupportedError{Agent: agentName, What: what}
}

// homeEnv returns the variable that leads to the home of a session, if the environment leads to another one. A session directory is no
// home: the file alone is named.
func homeEnv(s *discover.Session, host launch.Environment) []string {
	if !discover.Within(s.Path, filepath.Join(s.Home, sessionsName)) {
		return nil
	}
	return homeVariables().Env(s.Home, host.Getenv)
}

// ParseOutput implements [launch.Adapter]. The first line of --mode json is the header of the session. A turn that has failed is the last
// answer; the exit status does not tell (SEEN 1.5.2). What keeps Pi from starting is on stderr.
func (Adapter) ParseOutput(o launch.Output) (parsed launch.ParsedOutput) {
	answered := false
	for line := range bytes.Lines(o.Stdout) {
		event, ok := parseEntry(bytes.TrimSpace(line))
		switch {
		case !ok:
		case event.Type == typeSession && parsed.ID == "" && isSessionID(event.ID):
			parsed.ID = event.ID
		case event.Type == "message_end" && event.message.Get("role").Word(roleAssistant) == roleAssistant:
			answered, parsed.Error = true, ""
			if event.message.Get("stopReason").Word("stop", "toolUse") == "error" {
				parsed.Error = event.message.Get("errorMessage").Text(discover.ErrorLimit)
			}
		}
	}
	if !answered {
		parsed.Error = stderrMessage(o.Stderr)
	}
	return parsed
}

// stderrMessage returns the first line on stderr that names an error or, if none does, the first that is no warning.
func stderrMessage(stderr []byte) (message string) {
	for line := range strings.Lines(string(stderr)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "", strings.HasPrefix(line, "{"), strings.HasPrefix(line, "Warning: "):
		case strings.Contains(line, "Error: "):
			return discover.Truncate(strings.TrimPrefix(line, "Error: "), discover.ErrorLimit)
		case message == "":
			message = discover.Truncate(line, discover.ErrorLimit)
		}
	}
	return message
}

// StoreCommand implements [launch.Adapter]: Pi has no such commands (1.5.2).
func (Adapter) StoreCommand(action launch.StoreAction, s discover.Session, _ launch.Environment) (launch.Command, error) {
	what := "has no archive"
	if action == launch.ActionRemove {
		what = "has no command that deletes a session: Ctrl+D in its /resume deletes one, and so does the removal of " + s.Path
	}
	return launch.Command{}, &launch.UnsupportedError{Agent: agentName, What: what}
}
