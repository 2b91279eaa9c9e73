package codex

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
)

// oldestSupported is the oldest version whose processes agentctl looks into, launches and resumes. It reads what older ones have stored.
const oldestSupported = "0.130"

// belowFloor returns why a version is not supported; "" if it is, or is unknown.
func belowFloor(version string) string {
	if !storage.ParseVersion(version).Before(storage.ParseVersion(oldestSupported)) {
		return ""
	}
	return version + " is older than supported (" + oldestSupported + "): update"
}

// binaryVersion is the version of a binary by the place where it is installed, "" where the place does not tell. The daemon's copy is
// in releases/<version>-<platform>/bin (SEEN 0.169). npm's is in <package>/vendor/<platform>/…, below the directory of the package's
// description (SEEN 0.104, 0.169).
func binaryVersion(exe string) string {
	for dir := filepath.Dir(exe); len(dir) > 1; dir = filepath.Dir(dir) {
		switch parent := filepath.Dir(dir); filepath.Base(parent) {
		case "releases":
			return versionNumber(filepath.Base(dir))
		case "vendor":
			raw, err := storage.ReadFileNoFollow(filepath.Join(filepath.Dir(parent), "package.json"), 64<<10)
			if err != nil {
				return ""
			}
			return versionNumber(storage.Object(raw).Get("version").Text(0))
		}
	}
	return ""
}

// versionNumber is the version without the platform: "0.169.0" of "0.169.0-linux-x64".
func versionNumber(s string) string {
	for _, platform := range []string{"-linux", "-darwin", "-win32", "-x86_64", "-aarch64"} {
		s, _, _ = strings.Cut(s, platform)
	}
	return s
}

// Program implements [discover.Adapter].
func (Adapter) Program() string { return "codex" }

// installation is the agent as it is installed: its own binary where that is found.
type installation struct {
	path string
	env  []string
	// version is "" if the place of the binary does not show it.
	version string
}

// olderThan reports whether the program is known to be older than v.
func (i installation) olderThan(v storage.Version) bool {
	return storage.ParseVersion(i.version).Before(v)
}

// findInstallation finds codex in PATH. npm installs a script there. It runs the binary of another package, as a child process in older
// versions and where node is older than 22.15. findInstallation skips the script, so that the process that is started runs the session from
// its first moment on. In a layout that it does not know, it uses what is in PATH.
func findInstallation(host launch.Environment) (installation, error) {
	path, err := host.LookPath(Adapter{}.Program())
	if err != nil {
		return installation{}, &launch.NotInstalledError{Agent: agentName, Program: Adapter{}.Program()}
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return installation{}, &launch.NotInstalledError{Agent: agentName, Program: Adapter{}.Program(), Err: err}
	}
	p, ok := npmInstallation(real, host)
	if !ok {
		p = installation{path: path, version: binaryVersion(real)}
	}
	if why := belowFloor(p.version); why != "" {
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
			return installation{path, []string{managedBy(root), "CODEX_MANAGED_PACKAGE_ROOT=" + root}, binaryVersion(path)}, true
		}
		if path := filepath.Join(folder, "codex", "codex"); isExecutable(path) { // it has its own rg in PATH
			search := filepath.Join(folder, "path") + string(filepath.ListSeparator) + host.Getenv("PATH")
			return installation{path, []string{managedBy(root), "PATH=" + search}, binaryVersion(path)}, true
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

// newestTried is the newest version in docs/support.md.
const newestTried = "0.171.0"

// Tried implements [discover.Adapter]. A rollout that is being written is not compressed.
func (Adapter) Tried() discover.Tried {
	return discover.Tried{
		Newest: newestTried, ProgramVersion: binaryVersion, UnknownKinds: discover.UnknownLineKinds(knownKinds, kindName),
	}
}

// knownKinds are the kinds of records that Codex writes, those of events and of the conversation's items with what they are (READ
// 0.169, and SEEN in older versions). Many say nothing that this package reads.
const knownKinds = " session_meta turn_context world_state compacted token_usage_record dynamic_tools_updated" +
	" inter_agent_communication inter_agent_communication_metadata security_risk_score realtime_item" +
	eventKinds + itemKinds

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

const itemKinds = " response_item/message response_item/agent_message response_item/reasoning response_item/additional_tools" +
	" response_item/function_call response_item/function_call_output response_item/custom_tool_call" +
	" response_item/custom_tool_call_output response_item/local_shell_call response_item/web_search_call" +
	" response_item/tool_search_call response_item/tool_search_output response_item/image_generation_call" +
	" response_item/ghost_snapshot response_item/compaction response_item/compaction_trigger" +
	" response_item/context_compaction response_item/configuration_update response_item/other "

// kindName returns the type of a record; of an event or an item with its own type, as in event_msg/task_started.
func kindName(record storage.Object) string {
	kind := storage.Kind(record.Get("type"))
	if kind == "event_msg" || kind == "response_item" {
		kind += "/" + storage.Kind(record.Get("payload").Object().Get("type"))
	}
	return kind
}
