package copilot

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
)

// Spec implements [launch.Adapter]. The ID of a new session is chosen beforehand, and the prompt is given on stdin, so that it is in no
// command line and is stored unchanged (SEEN 1.0.82, 1.0.102). A resumed session runs in its own directory with its own model; the agent does
// not keep its permissions.
func (a Adapter) Spec(r launch.Request, host launch.Environment) (launch.Spec, error) {
	program, err := findProgram(host)
	if err != nil {
		return launch.Spec{}, err
	}
	if err := checkRequest(r, installedVersion(program)); err != nil {
		return launch.Spec{}, err
	}
	spec := launch.Spec{Args: []string{program}, Stdin: r.Prompt, Dir: r.Dir, ID: storage.NewUUID(), Hint: hintOf(r)}
	if r.Resume != nil {
		spec.ID, spec.Resumed, spec.Env = r.Resume.ID, true, homeVariables().Env(r.Resume.Home, host.Getenv)
		if r.Moved { // else it goes to the session's own directory, wherever it is started
			spec.Env = append(spec.Env, stayKey+"=true")
		}
	}
	spec.Args = append(spec.Args, "--session-id="+spec.ID)
	if r.Model != "" {
		spec.Args = append(spec.Args, "--model="+r.Model)
	}
	if r.Name != "" {
		spec.Args = append(spec.Args, "--name="+r.Name)
	}
	switch r.Permissions {
	case launch.PermissionsEdit:
		spec.Args = append(spec.Args, "--allow-tool=write")
	case launch.PermissionsFull:
		spec.Args = append(spec.Args, "--allow-all")
	case launch.PermissionsOwn:
	}
	spec.Args = append(spec.Args, r.Args...)
	return spec, nil
}

// stayKey is a variable that lets a resumed session work where it is started (SEEN 1.0.102).
const stayKey = "COPILOT_DISABLE_RESUME_AUTO_CD"

// findProgram returns the path of the installed agent: the program itself, where npm puts a launcher into the PATH that runs it as a child.
// Error: [*launch.NotInstalledError].
func findProgram(host launch.Environment) (string, error) {
	program, err := host.FindProgram(Adapter{})
	if err != nil {
		return "", err
	}
	launcher, err := filepath.EvalSymlinks(program)
	if err != nil || filepath.Base(launcher) != "npm-loader.js" {
		return program, nil
	}
	pkg := filepath.Dir(launcher)
	platform := "copilot-" + runtime.GOOS + "-" + cmp.Or(map[string]string{"amd64": "x64"}[runtime.GOARCH], runtime.GOARCH)
	for _, dir := range []string{filepath.Dir(pkg), filepath.Join(pkg, "node_modules", "@github")} { // as npm and as pnpm lay them out
		native := filepath.Join(dir, platform, "copilot")
		if info, err := os.Stat(native); err == nil && info.Mode().IsRegular() {
			return native, nil
		}
	}
	return program, nil
}

func unsupported(format string, args ...any) error {
	return &launch.UnsupportedError{Agent: agentName, What: fmt.Sprintf(format, args...)}
}

// Flags that choose the session, its directory or its prompt, and flags that choose permissions.
const (
	sessionFlags    = "--session-id --resume -r --continue --connect -p --prompt -i --interactive -C --acp --server --headless --worktree"
	permissionFlags = "--allow-tool --allow-all-tools --allow-all-paths --allow-all-urls --allow-all --yolo --mode --autopilot --assisted-approval"
)

// checkRequest returns an error if the agent cannot do what is requested.
func checkRequest(r launch.Request, version storage.Version) error {
	if why := version.BelowFloor(oldestSupported); why != "" {
		return unsupported("%s", why)
	}
	if r.Fork {
		return unsupported("copies a session only in its terminal: /fork")
	}
	if arg, ok := r.FindArg(sessionFlags); ok {
		return unsupported(launch.ChoosesSession, arg)
	}
	return nil
}

// hintOf returns the warning that a print run, where nobody can be asked, is denied what is not allowed.
func hintOf(r launch.Request) string {
	_, chosen := r.FindArg(permissionFlags)
	if r.Interactive || chosen || r.Permissions != launch.PermissionsOwn {
		return ""
	}
	return "copilot denies what nobody allows, edits and most commands, and goes on: --permissions edit lets it change files, full everything"
}

// ParseOutput implements [launch.Adapter]. What fails before a session begins is said on stderr. The answer on stdout is for the user.
func (Adapter) ParseOutput(o launch.Output) (parsed launch.ParsedOutput) {
	for line := range bytes.Lines(o.Stdout) {
		if e, ok := parseEvent(line); ok && e.Type == "result" { // --output-format json
			if id := storage.Object(line).Get("sessionId").Text(idLimit); isUUID(id) {
				parsed.ID = id
			}
		}
	}
	const prefix = "error: "
	for line := range strings.Lines(strings.TrimSpace(string(o.Stderr))) {
		if strings.EqualFold(line[:min(len(line), len(prefix))], prefix) {
			parsed.Error = cmp.Or(parsed.Error, strings.TrimSpace(line[len(prefix):]))
		}
	}
	parsed.Error = discover.Truncate(parsed.Error, discover.ErrorLimit)
	return parsed
}
