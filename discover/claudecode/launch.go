package claudecode

import (
	"fmt"
	"slices"
	"strings"

	"agentctl/discover/native"
	"agentctl/launch"
)

// Spec implements [launch.Adapter]: `claude -p` with an ID that we choose. The prompt is given on stdin, so that it is in
// no command line and is stored unchanged (SEEN 2.1.75–2.1.329). A resumed session runs in the directory that its project
// folder is named after, with the model and the permission mode that it had.
func (a Adapter) Spec(r launch.Request, host launch.Environment) (launch.Spec, error) {
	program, err := findProgram(host)
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

// findProgram returns the path of the installed Claude Code. Error: [*launch.NotInstalledError].
func findProgram(host launch.Environment) (string, error) {
	program, err := host.LookPath(Adapter{}.Program())
	if err != nil {
		return "", &launch.NotInstalledError{Agent: agentName, Program: Adapter{}.Program()}
	}
	return program, nil
}

// argsBuilder builds Claude Code's arguments for a request.
type argsBuilder struct {
	launch.Request
	host    launch.Environment
	version native.Version // the installed version; zero if not known, then taken for a current one
}

// promptLimit is the longest prompt that print mode reads from stdin: in UTF-16 units (2.1.197, 2.1.329), of which there are no more than
// bytes.
const promptLimit = 10 << 20

// check returns an error if Claude Code cannot do what is requested.
func (c argsBuilder) check() error {
	if len(c.Prompt) > promptLimit {
		return c.unsupported("reads no prompt above %d MB, and this one has more than %d bytes: put the text in a file and name it in the prompt",
			promptLimit>>20, promptLimit)
	}
	if c.version.Before(native.ParseVersion(oldestSupported)) {
		return c.unsupported("%s is older than supported (%s): update", c.version, oldestSupported)
	}
	if err := c.checkMove(); err != nil {
		return err
	}
	for _, arg := range c.Args {
		if containsWord(sessionFlags, flagName(arg)) {
			return c.unsupported("cannot be given %s here: agentctl chooses the session itself (see agentctl resume)", arg)
		}
	}
	return nil
}

func (c argsBuilder) unsupported(format string, args ...any) error {
	return &launch.UnsupportedError{Agent: agentName, What: fmt.Sprintf(format, args...)}
}

// hint returns the warning that a run in print mode, where nobody can be asked, is denied what the settings do not allow.
func (c argsBuilder) hint() string {
	if c.Interactive || c.Resume != nil || c.Permissions != launch.PermissionsOwn || c.hasPermissionArgs() {
		return ""
	}
	return "claude -p denies what its settings do not allow, edits included; --permissions edit lets it change files"
}

// Flags that choose the session or its process, and flags that choose permissions.
const (
	sessionFlags    = " --session-id --resume -r --continue -c --fork-session --bg --background --from-pr --teleport "
	permissionFlags = " --permission-mode --dangerously-skip-permissions --allow-dangerously-skip-permissions " +
		"--allowedTools --allowed-tools --settings "
)

func flagName(arg string) string {
	flag, _, _ := strings.Cut(arg, "=")
	return flag
}

// hasPermissionArgs reports whether the user's own arguments choose permissions.
func (c argsBuilder) hasPermissionArgs() bool {
	return slices.ContainsFunc(c.Args, func(arg string) bool { return containsWord(permissionFlags, flagName(arg)) })
}

// optionArgs returns the arguments for the model, the name and the permissions. Values are joined to their flags, since
// they may begin with a dash.
func (c argsBuilder) optionArgs() (args []string) {
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag+"="+value)
		}
	}
	add("--model", c.model())
	add("--name", c.Name)
	switch c.Permissions {
	case launch.PermissionsEdit:
		add("--permission-mode", "acceptEdits")
	case launch.PermissionsFull:
		args = append(args, "--dangerously-skip-permissions")
	case launch.PermissionsOwn:
		add("--permission-mode", c.formerPermissionMode())
	}
	return args
}

// ModelFamilies implements [launch.ModelFamilies].
func (Adapter) ModelFamilies() []string { return []string{"opus", "sonnet", "haiku"} }
