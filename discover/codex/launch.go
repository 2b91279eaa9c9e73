package codex

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
	"agentctl/proc"
)

// Spec starts `codex exec`, or Codex's terminal interface. exec reads the prompt from stdin where its argument is "-" (SEEN 0.104, 0.169,
// also with resume and fork).
func (Adapter) Spec(r launch.Request, host launch.Environment) (launch.Spec, error) {
	program, err := findInstallation(host)
	if err != nil {
		return launch.Spec{}, err
	}
	if r.Name != "" {
		return launch.Spec{}, unsupported("cannot name a session at its start: leave out the name, and use /rename in the terminal interface")
	}
	spec := launch.Spec{Dir: r.Dir, Env: program.env}
	var session []string
	if r.Resume != nil {
		if session, err = resumeArgs(r, program); err != nil {
			return launch.Spec{}, err
		}
		spec.Env = slices.Concat(spec.Env, homeEnv(*r.Resume, host))
	}
	settings, err := settingsArgs(r, program)
	if err != nil {
		return launch.Spec{}, err
	}
	settings = append(settings, "-C", r.Dir)
	if r.Interactive {
		spec.Args = slices.Concat([]string{program.path}, session, r.Args, settings)
		return spec, nil
	}
	if spec.Resumed = r.Resume != nil && !r.Fork; spec.Resumed {
		spec.ID = r.Resume.ID
	}
	// The caller's arguments come first: the last of them may be an option that takes every word up to the next option.
	spec.Args = slices.Concat([]string{program.path, "exec"}, r.Args, settings, []string{"--json"}, session, []string{"-"})
	spec.Stdin = r.Prompt
	return spec, nil
}

func unsupported(what string) error {
	return &launch.UnsupportedError{Agent: agentName, What: what}
}

// resumeArgs are the arguments that name the session to resume. The session must be stored and its ID full: if Codex does not find it,
// it begins a new one without a warning (SEEN 0.104 for IDs, 0.169 for names).
func resumeArgs(r launch.Request, p installation) ([]string, error) {
	s := *r.Resume
	if s.Archived {
		return nil, unsupported(fmt.Sprintf("has archived the session: agentctl unarchive %s restores it", s.ID))
	}
	if !r.Fork {
		return []string{"resume", s.ID}, nil
	}
	if !r.Interactive && p.version.Before(firstExecForkVersion()) {
		return nil, unsupported(fmt.Sprintf("%s cannot copy a session in a headless run: codex fork %s can in a terminal", p.version, s.ID))
	}
	return []string{"fork", s.ID}, nil
}

// firstExecForkVersion is the first version that may have `exec fork`: 0.169 has it; 0.104 and, by its help, 0.146 do not. A version
// between them that lacks it says so itself.
func firstExecForkVersion() storage.Version { return storage.Version{0, 147} }

// homeEnv sets the session's home if it is not the one that Codex would use.
func homeEnv(s discover.Session, host launch.Environment) []string {
	return homeVariables().Env(s.Home, host.Getenv)
}

// settingsArgs are the options for model and permissions. `codex exec` forgets the model, the provider and the sandbox of a session that
// it resumes (SEEN 0.104, 0.169), and refuses to continue with another provider (SEEN 0.169). The terminal interface remembers them
// since it has a daemon; it does without the daemon if it is given a provider (SEEN 0.169).
func settingsArgs(r launch.Request, p installation) ([]string, error) {
	had := r.Resume
	if r.Interactive && !p.version.Before(firstDaemonVersion()) {
		had = nil
	}
	model := r.Model
	var flags []string
	if had != nil {
		model = cmp.Or(model, had.Model)
		if provider := sessionFact[string](had, "provider"); provider != "" {
			flags = append(flags, "-c", "model_provider="+tomlString(provider))
		}
	}
	if model != "" {
		flags = append(flags, "-m", model)
	}
	rights, err := permissionArgs(r.Permissions, had)
	return append(flags, rights...), err
}

// firstDaemonVersion is the first version that was seen to run the threads of its TUIs in a daemon. 0.155 does not.
func firstDaemonVersion() storage.Version { return storage.Version{0, 160} }

// Codex's sandbox modes.
const (
	readOnly       = "read-only"
	workspaceWrite = "workspace-write"
	fullAccess     = "danger-full-access"
)

// permissionArgs are the options for what Codex may do without approval: as requested, or as in the last turn of the session that is resumed,
// or fewer. A headless run never asks for approval, so it gains nothing where the user was asked (approval on-request, on-failure). The
// exception is "untrusted", where only reading went unasked: such a session is resumed read-only.
func permissionArgs(asked launch.Permissions, had *discover.Session) ([]string, error) {
	switch {
	case asked == launch.PermissionsEdit:
		return []string{"-s", workspaceWrite}, nil
	case asked == launch.PermissionsFull:
		return []string{"--dangerously-bypass-approvals-and-sandbox"}, nil
	case had == nil:
		return nil, nil
	}
	profile, sandbox := sessionFact[string](had, "permissionProfile"), sessionFact[string](had, "sandbox")
	switch {
	case sessionFact[string](had, "approval") == "untrusted":
		sandbox = readOnly
	case profile != "" && !strings.HasPrefix(profile, ":"): // the user's own profile, which may allow less than the recorded sandbox
		return []string{"-c", "default_permissions=" + tomlString(profile)}, nil
	}
	switch sandbox {
	case "": // the session never had a turn
		return nil, nil
	case readOnly, fullAccess:
		return []string{"-s", sandbox}, nil
	case ":" + readOnly, ":" + fullAccess: // built-in profiles, in settings that no turn has run with yet
		return []string{"-s", sandbox[1:]}, nil
	case workspaceWrite, ":workspace":
		return []string{"-s", workspaceWrite, "-c", "sandbox_workspace_write=" + workspaceTOML(sessionFact[workspaceAccess](had, "workspace"))}, nil
	}
	return nil, unsupported(fmt.Sprintf("cannot restore the permissions of the session (%s): use --permissions edit or full", sandbox))
}

// workspaceTOML writes all settings, so that the configuration file adds nothing.
func workspaceTOML(w workspaceAccess) string {
	roots := make([]string, len(w.WritableRoots))
	for i, root := range w.WritableRoots {
		roots[i] = tomlString(root)
	}
	return fmt.Sprintf("{network_access=%t,writable_roots=[%s],exclude_tmpdir_env_var=%t,exclude_slash_tmp=%t}",
		w.Network, strings.Join(roots, ","), w.ExcludeTmpdir, w.ExcludeSlashTmp)
}

// tomlString quotes a string. TOML has all the escapes of JSON.
func tomlString(s string) string {
	quoted, _ := json.Marshal(s) // never fails for a string
	return strings.ReplaceAll(string(quoted), "\x7f", `\u007f`)
}

// Hint implements [launch.Adapter]. Without permission options, the configuration and the trust in the directory decide whether Codex may
// change files. The session that has begun records it.
func (Adapter) Hint(r launch.Request, begun discover.Session) string {
	sandbox := sessionFact[string](&begun, "sandbox")
	switch {
	case r.Permissions == launch.PermissionsEdit || r.Permissions == launch.PermissionsFull || len(r.Args) > 0, sandbox != readOnly && sandbox != ":"+readOnly:
		return ""
	case r.Resume == nil:
		return "codex may only read here, by its own configuration; --permissions edit lets it change files"
	}
	return "the session may only read, as before; --permissions edit lets it change files"
}

// sessionFact is a fact in the session's Meta; the zero value if Meta does not have it.
func sessionFact[T any](s *discover.Session, key string) T {
	value, _ := s.Meta[key].(T)
	return value
}

// ParseOutput parses the output of `codex exec --json`: events as JSON lines on stdout, the first of which names the thread, and on
// stderr the text of an error that keeps it from starting (SEEN 0.104, 0.169). Both may be in one file.
func (Adapter) ParseOutput(o launch.Output) launch.ParsedOutput {
	var parsed launch.ParsedOutput
	var lastError string // an error event, which a failed turn repeats
	completed := false   // the turn succeeded, whatever errors came before
	for line := range bytes.Lines(o.Stdout) {
		event := storage.Object(bytes.TrimSpace(line))
		if !event.Complete() {
			continue
		}
		switch event.Get("type").Text(0) {
		case "thread.started":
			parsed.ID = cmp.Or(parsed.ID, parseThreadID(event.Get("thread_id")))
		case "turn.completed":
			completed = true
		case "turn.failed":
			parsed.Error = apiErrorMessage(event.Get("error").Object().Get("message").Text(discover.ErrorLimit))
		case "error":
			lastError = apiErrorMessage(event.Get("message").Text(discover.ErrorLimit))
		}
	}
	if completed {
		return launch.ParsedOutput{ID: parsed.ID}
	}
	parsed.Error = cmp.Or(parsed.Error, stderrMessage(o.Stderr))
	if parsed.Error == "" && !strings.HasPrefix(lastError, "Reconnecting...") {
		parsed.Error = lastError
	}
	return parsed
}

// apiErrorMessage is the message of an API's error response, which Codex passes on unchanged (HTTP 400).
func apiErrorMessage(text string) string {
	answer := storage.Object(strings.TrimSpace(text))
	if !answer.Complete() {
		return text
	}
	message := answer.Get("error").Object().Get("message").Text(discover.ErrorLimit)
	return cmp.Or(message, answer.Get("message").Text(discover.ErrorLimit), answer.Get("detail").Text(discover.ErrorLimit), text)
}

// stderrMessage is the first paragraph on stderr that is about a failure. It skips events, the lines that Codex prints in every run, and
// the log.
func stderrMessage(stderr []byte) string {
	const most = 20 // lines
	var words []string
	for line := range strings.Lines(string(stderr)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" && len(words) > 0, len(words) == most:
			return strings.Join(words, " ")
		case line == "" || strings.HasPrefix(line, "{") || strings.HasPrefix(line, "WARNING: ") ||
			strings.HasPrefix(line, "Reading ") || isLogLine(line):
		case len(words) == 0:
			line = strings.TrimPrefix(line, "Error: ")
			words = append(words, strings.TrimPrefix(line, "error: "))
		default:
			words = append(words, line)
		}
	}
	return strings.Join(words, " ")
}

// isLogLine reports whether a line is from the log: "2026-11-20T19:09:05.651Z ERROR codex_core…".
func isLogLine(line string) bool {
	stamp, _, _ := strings.Cut(line, " ")
	return len(stamp) > len("2026-11-20T19:09:05") && stamp[len("2026-11-20")] == 'T' && strings.HasSuffix(stamp, "Z")
}

// AttachCommand implements [launch.Adapter]. A terminal interface that is given the socket of an app-server shows a thread that the
// server runs; several may show one thread (SEEN 0.169). Versions before 0.160 have neither the daemon nor --remote.
func (Adapter) AttachCommand(ctx context.Context, s discover.Session, host launch.Environment) (c launch.Command, ok bool, err error) {
	by := serverOf(s)
	if by.socket == "" {
		i := slices.IndexFunc(s.Processes, func(p proc.Process) bool { return readArgs(p).role == server })
		if i < 0 {
			return c, false, nil
		}
		return c, true, unsupported(fmt.Sprintf("runs the session in a server without a socket (%s): only its own client reaches it", s.Processes[i].ID))
	}
	conn, err := by.connect(ctx)
	if err != nil {
		return c, true, unsupported(fmt.Sprintf("cannot reach its server: %s does not answer at %s: %v", by.ID, by.socket, err))
	}
	conn.Hangup()
	p, err := findInstallation(host)
	if err != nil {
		return c, true, err
	}
	return launch.Command{
		Args: []string{p.path, "resume", "--remote", "unix://" + by.socket, s.ID}, Env: slices.Concat(p.env, homeEnv(s, host)), Dir: s.Dir,
		Help: []string{p.path, "resume", "--help"}, HelpHas: "--remote ",
	}, true, nil
}

// installation is the agent as it is installed: its own binary where that is found.
type installation struct {
	path string
	env  []string
	// version is zero if the place of the binary does not show it.
	version storage.Version
}

// findInstallation finds codex in PATH. npm installs a script there. It runs the binary of another package, as a child process in older
// versions and where node is older than 22.15. findInstallation skips the script, so that the process that is started runs the session from
// its first moment on. In a layout that it does not know, it uses what is in PATH.
func findInstallation(host launch.Environment) (installation, error) {
	path, err := host.FindProgram(Adapter{})
	if err != nil {
		return installation{}, err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return installation{}, &launch.NotInstalledError{Agent: agentName, Program: Adapter{}.Program(), Err: err}
	}
	p, ok := npmInstallation(real, host)
	if !ok {
		p = installation{path: path, version: storage.ParseVersion(binaryVersion(real))}
	}
	if why := p.version.BelowFloor(oldestSupported); why != "" {
		return p, unsupported(why)
	}
	return p, nil
}

// targetTriple is the platform as the binary's directories name it.
func targetTriple() string {
	return map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH] + "-" +
		map[string]string{"linux": "unknown-linux-musl", "darwin": "apple-darwin"}[runtime.GOOS]
}

// npmInstallation finds the binary as @openai/codex/bin/codex.js does, and sets the same variables (SEEN 0.104, 0.169).
func npmInstallation(script string, host launch.Environment) (installation, bool) {
	if filepath.Base(script) != "codex.js" || filepath.Base(filepath.Dir(script)) != "bin" {
		return installation{}, false
	}
	root := filepath.Dir(filepath.Dir(script))
	for _, vendor := range vendorDirs(root) {
		folder := filepath.Join(vendor, targetTriple())
		if path := filepath.Join(folder, "bin", "codex"); isExecutable(path) {
			return installation{path, []string{managedBy(root), "CODEX_MANAGED_PACKAGE_ROOT=" + root}, storage.ParseVersion(binaryVersion(path))}, true
		}
		if path := filepath.Join(folder, "codex", "codex"); isExecutable(path) { // it has its own rg in PATH
			search := filepath.Join(folder, "path") + string(filepath.ListSeparator) + host.Getenv("PATH")
			return installation{path, []string{managedBy(root), "PATH=" + search}, storage.ParseVersion(binaryVersion(path))}, true
		}
	}
	return installation{}, false
}

// vendorDirs are the directories that may contain the binary: those where node looks for the platform's package, then the package itself.
func vendorDirs(root string) []string {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	var list []string
	for dir := root; len(dir) > 1; dir = filepath.Dir(dir) {
		modules := dir
		if filepath.Base(dir) != "node_modules" {
			modules = filepath.Join(dir, "node_modules")
		}
		list = append(list, filepath.Join(modules, "@openai", "codex-"+runtime.GOOS+"-"+arch, "vendor"))
	}
	return append(list, filepath.Join(root, "vendor"))
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// managedBy names the package manager. Codex shows its command when there is an update.
func managedBy(root string) string {
	switch {
	case strings.Contains(root, "/.bun/install/global/"):
		return "CODEX_MANAGED_BY_BUN=1"
	case strings.Contains(root, "/.pnpm/"):
		return "CODEX_MANAGED_BY_PNPM=1"
	}
	return "CODEX_MANAGED_BY_NPM=1"
}

const eventKinds = " event_msg/error event_msg/warning event_msg/stream_error event_msg/model_reroute event_msg/model_verification" +
	" event_msg/context_compacted event_msg/thread_rolled_back event_msg/task_started event_msg/task_complete event_msg/turn_aborted" +
	" event_msg/thread_settings_applied event_msg/thread_name_updated event_msg/thread_goal_updated event_msg/thread_queue_changed" +
	" event_msg/token_count event_msg/user_message event_msg/agent_message event_msg/agent_reasoning" +
	" event_msg/agent_reasoning_raw_content event_msg/agent_reasoning_section_break event_msg/session_configured" +
	" event_msg/mcp_tool_call_begin event_msg/mcp_tool_call_end event_msg/web_search_begin event_msg/web_search_end" +
	" event_msg/image_generation_begin event_msg/image_generation_end event_msg/exec_command_begin event_msg/exec_command_end" +
	" event_msg/view_image_tool_call event_msg/dynamic_tool_call_request event_msg/dynamic_tool_call_response" +
	" event_msg/patch_apply_begin event_msg/patch_apply_end event_msg/turn_diff event_msg/plan_update event_msg/undo_completed" +
	" event_msg/entered_review_mode event_msg/exited_review_mode event_msg/item_started event_msg/item_completed" +
	" event_msg/hook_started event_msg/hook_completed event_msg/guardian_assessment event_msg/deprecation_notice" +
	" event_msg/collab_agent_spawn_begin event_msg/collab_agent_spawn_end event_msg/collab_agent_interaction_begin" +
	" event_msg/collab_agent_interaction_end event_msg/collab_waiting_begin event_msg/collab_waiting_end" +
	" event_msg/collab_close_begin event_msg/collab_close_end event_msg/collab_resume_begin event_msg/collab_resume_end" +
	" event_msg/sub_agent_activity"
