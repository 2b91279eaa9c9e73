package opencode

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
)

// Spec implements [launch.Adapter]. It starts `opencode run` with the prompt on standard input, or the terminal interface. The ID of a new
// session is not known beforehand: the agent makes it.
//
// The agent takes its directory from PWD (SEEN 1.14.41, 1.18.33).
func (Adapter) Spec(r launch.Request, host launch.Environment) (launch.Spec, error) {
	p, err := findInstallation(host)
	if r.Resume != nil {
		p, err = installationFor(*r.Resume, host)
	} else if err == nil && usesV2(host) {
		p.learnGeneration(host)
	}
	if err != nil {
		return launch.Spec{}, err
	}
	if p.generation == generation2 {
		return p.v2Spec(r, host)
	}
	full, err := p.skipApprovals(r)
	if err != nil {
		return launch.Spec{}, err
	}
	spec := launch.Spec{Args: []string{p.path}, Dir: r.Dir, Stdin: r.Prompt}
	if !r.Interactive {
		spec.Args = append(spec.Args, "run", "--format", "json")
	}
	model, agent, variant := r.Model, "", ""
	if s := r.Resume; s != nil {
		if err := resume(&spec, r, host); err != nil {
			return launch.Spec{}, err
		}
		// `run -s` forgets the model if the configuration names one for the agent, and it forgets the agent and the variant (READ 1.18.33).
		agent, _ = s.Meta["agent"].(string)
		if model = cmp.Or(model, s.Model); r.Model == "" && !r.Interactive { // the terminal interface takes the variant from the session
			variant, _ = s.Meta["variant"].(string)
		}
	}
	for _, o := range [][2]string{{"--title=", r.Name}, {"--model=", model}, {"--agent=", agent}, {"--variant=", variant}} {
		if o[1] != "" {
			spec.Args = append(spec.Args, o[0]+o[1]) // a value may begin with -
		}
	}
	spec.Args = append(append(spec.Args, full...), r.Args...)
	spec.Env = append(spec.Env, permissionEnv(r, host)...)
	if r.Permissions == launch.PermissionsOwn && !r.Interactive {
		spec.Hint = "headless OpenCode denies anything that needs approval; --permissions edit or full allows it"
	}
	return spec, nil
}

func unsupported(what string) error {
	return &launch.UnsupportedError{Agent: agentName, What: what}
}

// ModelFamilies implements [launch.Adapter]. Of the models that OpenCode is used with, Anthropic's have families.
func (Adapter) ModelFamilies() []string { return []string{"opus", "sonnet", "haiku"} }

// resume changes the spec so that the agent resumes the session, or a copy of it.
func resume(spec *launch.Spec, r launch.Request, host launch.Environment) error {
	s := r.Resume
	if s.Meta["legacy"] == true {
		return unsupported("cannot continue a session that an older version has stored in JSON files; versions up to 1.15 import such sessions at their first start")
	}
	// The database decides where a session runs. If that directory is gone, the turn fails, also in a copy (SEEN 1.18.33). If it exists, the
	// turn runs there, and the process never ends.
	if r.Moved {
		return unsupported("continues a session only in its own directory; to move the session, run in the new one: " +
			"opencode export " + s.ID + " > FILE && opencode import FILE")
	}
	spec.Args, spec.Env = append(spec.Args, "--session="+s.ID), append(spec.Env, storeEnv(s, host)...)
	spec.Resumed = true // also for a copy, which has earlier turns too
	if spec.ID = s.ID; r.Fork {
		spec.ID, spec.Args = "", append(spec.Args, "--fork")
	}
	return nil
}

// storeEnv returns the variables that lead the agent to the session's store, if it would use another one.
func storeEnv(s *discover.Session, host launch.Environment) []string {
	var env []string
	dir, base := filepath.Split(s.Home)
	if home := homeVariables().Dir(host.Getenv); base == "opencode" && discover.RealPath(home) != discover.RealPath(s.Home) {
		env = append(env, dataKey+"="+filepath.Clean(dir))
	}
	if filepath.Ext(s.Path) != ".db" {
		return env
	}
	usual := filepath.Join(s.Home, "opencode.db")
	if name := host.Getenv(dbKey); name != "" {
		usual = databasePath(s.Home, name)
	}
	if discover.RealPath(usual) != discover.RealPath(s.Path) {
		env = append(env, dbKey+"="+s.Path)
	}
	return env
}

// permissionKey is the variable with permissions, as JSON, that override those of the configuration files. The agent merges the objects;
// of the rules for a tool, the last one that matches counts (SEEN 1.18.33).
const permissionKey = "OPENCODE_PERMISSION"

const (
	// editRule allows the agent to change files, except those that its configuration denies by name. All tools that write files have the
	// permission "edit". Files outside of the directory need another permission too.
	editRule = `"edit":{"*":"allow"}`
	// denyQuestions denies a headless turn to ask questions, which nobody would see. `run` sets the same for the sessions that it makes.
	denyQuestions = `"question":"deny","plan_enter":"deny","plan_exit":"deny"`
)

// permissionEnv returns the variable for the requested permissions; it keeps those that the environment sets.
func permissionEnv(r launch.Request, host launch.Environment) []string {
	var rules []string
	if r.Permissions == launch.PermissionsEdit {
		rules = append(rules, editRule)
	}
	if r.Resume != nil && !r.Interactive && r.Resume.Source != modeRun {
		rules = append(rules, denyQuestions)
	}
	if len(rules) == 0 {
		return nil
	}
	if set := strings.TrimSpace(host.Getenv(permissionKey)); storage.Object(set).Complete() {
		if set = strings.TrimSpace(set[1 : len(set)-1]); set != "" {
			rules = slices.Insert(rules, 0, set) // of two members with the same name, the later counts
		}
	}
	return []string{permissionKey + "={" + strings.Join(rules, ",") + "}"}
}

// skipApprovals returns the option for the mode without approvals: --auto (SEEN 1.18.33), or in older versions
// --dangerously-skip-permissions (SEEN 1.14.41, 1.15.13, 1.17.0). 1.18.33 accepts both; its terminal interface has only
// --auto. Rules that deny still apply.
func (i installation) skipApprovals(r launch.Request) ([]string, error) {
	switch {
	case r.Permissions != launch.PermissionsFull:
		return nil, nil
	case r.Interactive && i.version.Before(storage.Version{1, 18, 33}):
		return nil, unsupported("of version " + i.version.String() + " has no mode without approvals in a terminal; it asks there")
	case i.version.Before(storage.Version{1, 18, 33}):
		return []string{"--dangerously-skip-permissions"}, nil
	}
	return []string{"--auto"}, nil
}

// Program implements [discover.Adapter].
func (Adapter) Program() string { return "opencode" }

// installation is the binary to start.
type installation struct {
	path    string
	version storage.Version // zero if its place does not show it
	generation
}

// findInstallation finds the agent's own binary. The program in npm's package opencode-ai (bin/opencode, or since 1.15 opencode.exe on all
// systems) may be another one: up to 1.15.0, a launcher that runs the binary, .opencode beside it, as a child process; later, a placeholder
// that the package's install script replaces.
func findInstallation(host launch.Environment) (installation, error) {
	path, err := host.FindProgram(Adapter{})
	if err != nil {
		return installation{}, err
	}
	real := discover.RealPath(path)
	if dir := filepath.Dir(real); strings.HasSuffix(dir, filepath.Join("opencode-ai", "bin")) && !isBinary(real) {
		if filepath.Ext(real) != "" {
			return installation{}, &launch.NotInstalledError{Agent: agentName, Program: Adapter{}.Program(), Err: fmt.Errorf(
				"%s is a placeholder for the program: run `node postinstall.mjs` in %s", real, filepath.Dir(dir),
			)}
		}
		if binary := filepath.Join(dir, ".opencode"); isBinary(binary) {
			path, real = binary, binary
		}
	}
	p := installation{path: path}
	p.version, p.generation = versionOf(real)
	if why := p.version.BelowFloor(oldestSupported); why != "" && p.generation != generation2 {
		return p, unsupported(why)
	}
	return p, nil
}

// isBinary reports whether a file is large enough to be the agent's binary, which has more than a hundred megabytes, and no script.
func isBinary(path string) bool {
	const smallest = 1 << 20
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() >= smallest
}

// ParseOutput implements [launch.Adapter]. `run --format json` prints a JSON object for each event, with the ID of its session. The first
// event is the model's answer or its failure. An error event ends the run, before 1.17 with exit status 0. A retry
// prints nothing.
func (Adapter) ParseOutput(o launch.Output) launch.ParsedOutput {
	var parsed launch.ParsedOutput
	for line := range bytes.Lines(o.Stdout) {
		e := storage.Object(line)
		parsed.ID = cmp.Or(parsed.ID, eventSessionID(line))
		if e.Get("type").Text(nameLimit) == "error" && e.Get("sessionID") != nil && e.Complete() { // OpenCode 2 may have no session yet
			parsed.Error = cmp.Or(eventError(e.Get("error").Object()), parsed.Error)
		}
	}
	if parsed.Error == "" {
		parsed.Error = stderrError(o.Stderr)
	}
	return parsed
}

// eventError returns the text of an error event, with its reference to the agent's log.
func eventError(e storage.Object) string {
	data := e.Get("data").Object()
	text := cmp.Or(data.Get("message").Text(errorLimit), e.Get("name").Text(nameLimit), e.Get("message").Text(errorLimit), e.Get("type").Text(nameLimit))
	if ref := data.Get("ref").Text(nameLimit); ref != "" {
		text += " (" + ref + ")"
	}
	return text
}

// errorPrefix begins an error message, in red (SEEN 1.18.33).
const errorPrefix = "\x1b[91m\x1b[1mError: \x1b[0m"

// stderrError returns the last error message. The agent prints its help, without a reason, if it does not understand its arguments (SEEN
// 1.18.33).
func stderrError(stderr []byte) string {
	if i := bytes.LastIndex(stderr, []byte(errorPrefix)); i >= 0 {
		message := stderr[i+len(errorPrefix):]
		return strings.TrimSpace(string(message[:min(len(message), errorLimit)]))
	}
	if bytes.HasPrefix(bytes.TrimSpace(stderr), []byte("opencode run [message..]")) {
		return "it does not understand its arguments, and printed its help"
	}
	return ""
}
