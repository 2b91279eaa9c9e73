package claudecode

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
)

// Spec implements [launch.Adapter]: `claude -p` with an ID that we choose. The prompt is given on stdin, so that it is in
// no command line and is stored unchanged (SEEN 2.1.75–2.1.329). A resumed session runs in the directory that its project
// folder is named after, with the model and the permission mode that it had.
func (a Adapter) Spec(r launch.Request, host launch.Environment) (launch.Spec, error) {
	program, err := host.FindProgram(a)
	if err != nil {
		return launch.Spec{}, err
	}
	if err := checkInstalled(program); err != nil {
		return launch.Spec{}, &launch.NotInstalledError{Agent: a.Name(), Program: a.Program(), Err: err}
	}
	c := argsBuilder{Request: r, host: host, version: installedVersion(program)}
	if err := c.check(); err != nil {
		return launch.Spec{}, err
	}
	spec := launch.Spec{Args: []string{program}, Stdin: r.Prompt, Dir: r.Dir, Hint: c.hint()}
	if !r.Interactive {
		spec.Args = append(spec.Args, "-p")
	}
	c.addSession(&spec)
	spec.Args = append(append(spec.Args, c.optionArgs()...), r.Args...)
	return spec, nil
}

type argsBuilder struct {
	launch.Request
	host    launch.Environment
	version storage.Version // the installed version; zero if not known, then taken for a current one
}

// promptLimit is the longest prompt that print mode reads from stdin: in UTF-16 units (2.1.197, 2.1.329), of which there are no more than
// bytes.
const promptLimit = 10 << 20

// check returns an error if Claude Code cannot do what is requested.
func (a argsBuilder) check() error {
	if len(a.Prompt) > promptLimit {
		return unsupported("reads no prompt above %d MB, and this one has more than %d bytes: put the text in a file and name it in the prompt",
			promptLimit>>20, promptLimit)
	}
	if why := a.version.BelowFloor(oldestSupported); why != "" {
		return unsupported("%s", why)
	}
	if arg, ok := a.FindArg(sessionFlags); ok {
		return unsupported(launch.ChoosesSession, arg)
	}
	// 2.1.112 continues not the session itself, but a copy of it under the same ID, in the new directory's project; 2.1.197 does not.
	if a.leavesProject() && !a.Fork && a.version.Before(storage.Version{2, 1, 197}) {
		return unsupported("%s may not continue a session in another directory, but a copy with the same ID: update Claude Code, or use --fork", a.version)
	}
	return nil
}

func unsupported(format string, args ...any) error {
	return &launch.UnsupportedError{Agent: agentName, What: fmt.Sprintf(format, args...)}
}

// hint returns the warning that a run in print mode, where nobody can be asked, is denied what the settings do not allow.
func (a argsBuilder) hint() string {
	if a.Interactive || a.Resume != nil || a.Permissions != launch.PermissionsOwn || a.hasPermissionArgs() {
		return ""
	}
	return "claude -p denies anything that its settings do not allow, including edits; --permissions edit lets it change files"
}

// Flags that choose the session or its process, and flags that choose permissions.
const (
	sessionFlags    = " --session-id --resume -r --continue -c --fork-session --bg --background --from-pr --teleport "
	permissionFlags = " --permission-mode --dangerously-skip-permissions --allow-dangerously-skip-permissions " +
		"--allowedTools --allowed-tools --settings "
)

// hasPermissionArgs reports whether the user's own arguments choose permissions.
func (a argsBuilder) hasPermissionArgs() bool {
	_, ok := a.FindArg(permissionFlags)
	return ok
}

// optionArgs returns the arguments for the model, the name and the permissions. Values are joined to their flags, since
// they may begin with a dash.
func (a argsBuilder) optionArgs() (args []string) {
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag+"="+value)
		}
	}
	add("--model", a.model())
	add("--name", a.Name)
	switch a.Permissions {
	case launch.PermissionsEdit:
		add("--permission-mode", "acceptEdits")
	case launch.PermissionsFull:
		args = append(args, "--dangerously-skip-permissions")
	case launch.PermissionsOwn:
		add("--permission-mode", a.formerPermissionMode())
	}
	return args
}

// ModelFamilies implements [launch.Adapter].
func (Adapter) ModelFamilies() []string { return []string{"opus", "sonnet", "haiku"} }

// addSession sets which session runs, in which home and in which directory.
func (a argsBuilder) addSession(spec *launch.Spec) {
	if spec.ID = storage.NewUUID(); a.Resume == nil {
		spec.Args = append(spec.Args, "--session-id", spec.ID)
		return
	}
	spec.Env = homeVariables().Env(a.Resume.Home, a.host.Getenv)
	// By its ID, a session is found up to 2.1.197 only from the directory that it began in. 2.1.224 finds it from anywhere, but
	// takes the project's settings from the current directory.
	session, project := a.Resume.ID, a.projectDir()
	switch {
	case a.leavesProject():
		session = a.Resume.Path
	case project != "":
		spec.Dir = project
	}
	spec.Args = append(spec.Args, "--resume", session)
	if a.Fork {
		spec.Args = append(spec.Args, "--fork-session", "--session-id", spec.ID)
		return
	}
	spec.ID, spec.Resumed = a.Resume.ID, true
}

// projectDir returns the directory that a resumed session began in, if it works in another one by now; else "".
func (a argsBuilder) projectDir() string {
	dir, _ := a.Resume.Meta[dirMeta].(string)
	return dir
}

// leavesProject reports whether a session is continued in another directory than the one that it began in, which the user may
// have moved. Then it is named by the path of its transcript: new records follow in that file, with the new directory, and a
// fork is stored in the new directory's project (SEEN 2.1.197-2.1.330).
func (a argsBuilder) leavesProject() bool {
	if a.Resume == nil || a.Resume.Path == "" {
		return false
	}
	project := a.projectDir()
	return a.Moved || project != "" && !storage.IsDir(project)
}

// model returns the requested model, else the one that a resumed session had if ANTHROPIC_MODEL is set: Claude Code does not continue
// with it then. Storage has the name that the API answers with, which providers other than Anthropic do not accept.
func (a argsBuilder) model() string {
	if a.Model != "" || a.Resume == nil || a.host.Getenv("ANTHROPIC_MODEL") == "" {
		return a.Model
	}
	for _, provider := range []string{"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"} {
		if a.host.Getenv(provider) != "" {
			return ""
		}
	}
	return a.Resume.Model
}

// formerPermissionMode returns the permission mode that a resumed session had. Claude Code does not keep it: it takes the
// mode of its settings, which may allow more (SEEN 2.1.75–2.1.329).
func (a argsBuilder) formerPermissionMode() string {
	if a.Resume == nil || a.hasPermissionArgs() {
		return ""
	}
	mode, _ := a.Resume.Meta[modeMeta].(string)
	return mode
}

// ParseOutput implements [launch.Adapter]. It understands --output-format json and stream-json; retries in them are no
// failure. In plain text an answer and an API's error look alike, and stderr has warnings too: there, only the transcript
// tells them apart.
func (Adapter) ParseOutput(o launch.Output) (parsed launch.ParsedOutput) {
	first := true
	for raw := range bytes.Lines(o.Stdout) {
		var e event
		if err := unmarshal(raw, &e); first && (err != nil || e.Type == "") {
			break // plain text, which may quote such lines
		}
		first = false
		e.addTo(&parsed)
	}
	return parsed
}

// event is a line of --output-format stream-json, or the only line of json.
type event struct {
	Type    string   `json:"type"`
	Subtype string   `json:"subtype"`
	Session string   `json:"session_id"`
	IsError bool     `json:"is_error"`
	Result  string   `json:"result"`
	Errors  []string `json:"errors"`
}

// addTo adds what an event says of the whole run: its beginning, or its end.
func (e event) addTo(parsed *launch.ParsedOutput) {
	begins, ends := e.Type == "system" && e.Subtype == "init", e.Type == "result"
	if !begins && !ends || !isUUID(e.Session) {
		return
	}
	parsed.ID, parsed.Error = e.Session, ""
	if e.IsError || strings.HasPrefix(e.Subtype, "error") {
		text := cmp.Or(strings.TrimSpace(e.Result), strings.Join(e.Errors, "\n"), e.Subtype)
		parsed.Error = discover.Truncate(text, discover.ErrorLimit)
	}
}
