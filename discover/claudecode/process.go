package claudecode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/proc"
)

// process is a live Claude Code process that may run a session.
type process struct {
	proc.Process
	cmdline cmdline
	home    string // its config folder, as Homes named it; "" if not known
	// otherRoot names the process's root directory if its config folder is in another root than ours; else "".
	otherRoot string
	dir       string // its working directory; "" if not known
	// entry is the process's registry entry. Without one, entry.path is "".
	entry registryEntry
	// hasKey: the process has made a key file in its home.
	hasKey bool
	// unreadable is the reason if nothing more can be learnt of the process; outdated: its version is not supported.
	unreadable string
	outdated   bool
}

func (p *process) registered() bool { return p.entry.path != "" }

// processScan is one reading of the live processes.
type processScan struct {
	ctx        context.Context // a scan lives as long as one call
	table      *proc.Table
	homes      []discover.Home
	registries []registry // of the homes
	warnings   []error
}

// findProcesses finds the processes that may run a session. It leaves out zombies, helpers, and processes that end
// meanwhile.
func (p *processScan) findProcesses() (processes []*process) {
	var registered []int
	for _, h := range p.homes {
		r, err := listRegistry(p.ctx, h.Dir)
		p.registries, p.warnings = append(p.registries, r), append(p.warnings, err)
		registered = slices.AppendSeq(slices.AppendSeq(registered, maps.Keys(r.entries)), maps.Keys(r.keys))
	}
	for candidate := range p.table.Candidates(proc.Signs{Name: Adapter{}.MatchesBinary, PIDs: registered}) {
		if agent := p.inspect(candidate); agent != nil && p.runsSession(agent) {
			processes = append(processes, agent)
		}
	}
	return processes
}

// inspect returns what a process shows; nil if it does not run Claude Code, or has ended. A program of another name, which any
// process of the table can be, runs it if the process has registered, or is a teammate, which does not register.
func (p *processScan) inspect(candidate proc.Process) *process {
	named := (Adapter{}).IsAgentProcess(candidate)
	if !candidate.Alive() || !named && (!p.isListed(candidate) || isEmbeddedTool(candidate)) {
		return nil
	}
	agent := &process{Process: candidate, cmdline: readCmdline(candidate)}
	home, err := homeVariables().OfProcess(candidate)
	if hasEnded(err) {
		return nil
	}
	agent.home = discover.ListedHome(home, p.homes)
	p.findRegistryEntry(agent)
	p.findKey(agent)
	switch {
	case named, agent.registered():
	case !agent.hasKey, !agent.cmdline.isTeammate() && !mentionsAgent(candidate):
		return nil
	}
	if shared, err := agent.SharesRoot(); agent.home == "" && err == nil && !shared {
		agent.otherRoot = agent.PathInRoot("") // its sessions may have the same IDs as ours
	}
	if err != nil && !agent.registered() {
		agent.unreadable = "its environment: " + storage.Cause(err).Error()
	}
	agent.checkVersion()
	if agent.dir = agent.entry.Cwd; agent.dir == "" {
		agent.dir, _ = agent.Cwd()
	}
	return agent
}

// checkVersion marks a process of a version that is not supported: by its registry entry, else by the place of its program.
func (p *process) checkVersion() {
	version := storage.ParseVersion(p.entry.Version)
	if !p.registered() {
		version = installedVersion(p.Exe)
	}
	outdated := version.BelowFloor(oldestSupported)
	if isNodeBuild(p.Process) {
		outdated = cmp.Or(outdated, "a node build is older than supported ("+oldestSupported+"): update")
	}
	if p.outdated = outdated != ""; p.outdated {
		p.unreadable = outdated
	}
}

// isListed reports whether a file in one of the homes is named after the process.
func (p *processScan) isListed(candidate proc.Process) bool {
	return slices.ContainsFunc(p.registries, func(r registry) bool { return r.entries[candidate.ID.PID] || r.keys[candidate.ID.PID] != "" })
}

// hasEnded reports whether a reading failed because the process has just ended, not because it is forbidden or unsupported.
func hasEnded(err error) bool {
	return err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, proc.ErrUnsupported)
}

// findRegistryEntry finds the registry entry of the process: in its home or, if there is none, in any. A home that is shown may be
// another name of the process's own, or have the same sessions folder. In a container the entry is named by the PID that the process
// has there.
func (p *processScan) findRegistryEntry(agent *process) {
	pid := agent.NamespacePID()
	var errs []error
	own := max(0, slices.IndexFunc(p.registries, func(r registry) bool { return r.home == agent.home }))
	for _, r := range slices.Concat(p.registries[own:], p.registries[:own]) {
		entry, err := readRegistryEntry(p.ctx, r.home, pid)
		if err != nil {
			errs = append(errs, warning(registryPath(r.home, pid), err))
			continue
		}
		if entry.validate(agent.Process, pid) == nil && entry.confirmedBy(agent.Process) {
			agent.entry, agent.home = entry, r.home
			return
		}
	}
	p.warnings = append(p.warnings, errs...)
}

// findKey finds the key file of the process. One that is not in its own home counts only if its own is not known.
func (p *processScan) findKey(agent *process) {
	for _, r := range p.registries {
		if (agent.home == "" || agent.home == r.home) && r.hasKeyOf(agent.Process, agent.NamespacePID()) {
			agent.hasKey, agent.home = true, r.home
			return
		}
	}
}

// runsSession tells sessions from Claude Code's many helpers. A registry entry decides: a spare process keeps its command
// line when it becomes a session, and may register before; a terminal whose session has moved to the background no longer
// runs it. Without an entry, the command line decides, and a process that Claude Code itself started is a helper.
func (p *processScan) runsSession(agent *process) bool {
	if entry := agent.entry; agent.registered() {
		spare := entry.Spare || entry.Kind == "bg" && entry.Status == "idle" && isSpare(p.ctx, agent.home, entry.Cwd, entry.SessionID)
		return entry.Kind != "daemon" && entry.Kind != "daemon-worker" && !spare && entry.ParkedJobID == ""
	}
	if agent.cmdline.helper || agent.cmdline.isTeammate() {
		return !agent.cmdline.helper
	}
	parent, ok := p.table.ByPID(agent.Parent)
	if !ok || !(Adapter{}).IsAgentProcess(parent) {
		return true
	}
	id := agent.cmdline.namedSession()
	return readCmdline(parent).host && (id == "" || !isSpare(p.ctx, agent.home, "", id))
}

// isSpare reports whether a background session was started in advance and has no task yet. A job's file is written before
// its process starts, a spare process's when it gets a task (SEEN 2.1.197, 2.1.329).
func isSpare(ctx context.Context, home, dir, id string) bool {
	return home != "" && !isFile(ctx, jobPath(home, id)) && findTranscript(ctx, home, dir, id) == ""
}

// newClaim returns a claim with what is known of the process; the session is still missing.
func (p *process) newClaim() discover.Claim {
	c := discover.Claim{
		Agent: agentName, Process: p.ID, Home: cmp.Or(p.home, p.otherRoot), Dir: p.dir, Version: p.entry.Version,
		Source: p.source(), Unreadable: p.unreadable, Meta: discover.Facts{jobMeta: p.entry.JobID}.WithoutEmpty(),
	}
	if p.entry.NameSource != "derived" && p.entry.Name != p.entry.JobID { // a background session is named after its job until it gets a name
		c.Title = p.entry.Name
	}
	if p.cmdline.isTeammate() {
		c.Parent, c.Team = p.cmdline.parent, p.cmdline.team
	}
	if p.entry.Status == "shell" {
		c.Meta = c.Meta.With("backgroundShell", true)
	}
	return c
}

func (p *process) source() string {
	switch {
	case p.entry.Kind == "bg":
		return "bg"
	case p.entry.Entrypoint != "":
		return sourceOf(p.entry.Entrypoint)
	case p.cmdline.print:
		return "print"
	case isNodeBuild(p.Process): // it has wiped its command line
		return ""
	}
	return "tui"
}

// processClaim returns the claim that the process is alive. sessions are the claims about its sessions.
func (p *process) processClaim(sessions []discover.Claim) discover.Claim {
	c := p.newClaim()
	c.Strength, c.Kind = discover.Exact, "process"
	c.Detail = fmt.Sprintf("%s runs %s", p.ID, p.Exe)
	if p.Exe == "" {
		c.Detail = fmt.Sprintf("%s is called %s", p.ID, p.Name)
	}
	isTeam := func(s discover.Claim) bool { return s.Kind == teamKind }
	c.NameOnly = !p.registered() && !p.hasKey && !slices.ContainsFunc(sessions, isTeam) // before 2.1.300 a teammate has no key
	if p.cmdline.isTeammate() {
		c.Title = p.cmdline.teammate // a transcript may have another one
	}
	return c
}

// MatchesBinary implements [discover.Adapter]. It takes the short name of a process, and its first argument, as well.
func (Adapter) MatchesBinary(name string) bool {
	return isNative(name) || strings.Contains(path.Base(name), "claude")
}

// mentionsAgent reports whether one of the names of a process says that it may run Claude Code, such as claude-raw.
func mentionsAgent(p proc.Process) bool {
	args, _ := p.Args()
	return slices.ContainsFunc(append([]string{p.Exe, p.Name}, args[:min(len(args), 1)]...), Adapter{}.MatchesBinary)
}

// IsAgentProcess implements [discover.Adapter], by the name of the program: .../claude, .../bin/claude.exe,
// .../claude/versions/2.1.197, or a node build. The binary decides, never a word in the command line: editors and shells have such
// words too. A program under another name is found by what it has written into the home, see [processScan.inspect].
//
// If the binary is not visible (another user's process), the kernel's short name decides.
func (Adapter) IsAgentProcess(p proc.Process) bool {
	if p.Exe == "" {
		return isClaudeName(proc.ProgramName(p.Name)) && !isExiting(p)
	}
	return isNodeBuild(p) || isNative(p.Exe) && !isEmbeddedTool(p)
}

func isNative(exe string) bool {
	return isClaudeName(proc.ProgramName(exe)) ||
		path.Base(path.Dir(exe)) == "versions" && path.Base(path.Dir(path.Dir(exe))) == "claude"
}

// isExiting reports whether a process has released its memory, and with it its binary and arguments, but is no zombie yet.
func isExiting(p proc.Process) bool {
	args, err := p.Args()
	return err == nil && len(args) == 0 || errors.Is(err, proc.ErrGone)
}

func isClaudeName(name string) bool { return name == "claude" || name == "claude.exe" }

// isNodeBuild reports whether p is a node build (up to 2.1.112): a node that calls itself "claude".
func isNodeBuild(p proc.Process) bool { return p.Name == "claude" && proc.ProgramName(p.Exe) == "node" }

// isEmbeddedTool reports whether the native binary runs as one of the programs that it contains. It starts itself under
// another name in argv[0] to search files. In a sandbox it starts itself by an open file, with the name in ARGV0.
func isEmbeddedTool(p proc.Process) bool {
	args, err := p.Args()
	if err != nil || len(args) == 0 {
		return false
	}
	switch path.Base(args[0]) {
	case "rg", "ugrep", "bfs", "grep", "find", "apply-seccomp":
		return true
	}
	return strings.HasPrefix(args[0], "/proc/self/fd/")
}

// cmdline is what a command line says of a Claude Code process. It is a hint: /clear and /resume change a TUI's session later.
type cmdline struct {
	// helper: the process runs no session (a subcommand, the background daemon and its hosts, --version, --bg).
	helper bool
	// host: the process is the terminal host of a background session, whose child runs the session.
	host bool
	// print: -p, one turn without a terminal. stream: print mode that reads further prompts from stdin.
	print, stream bool
	// session and resume are the IDs given with --session-id and --resume. fork: the session is a copy of the resumed one.
	session, resume string
	fork            bool
	// team and teammate: the process is a teammate, with a terminal of its own. parent is the session that leads the team.
	team, teammate, parent string
}

// subcommands run no session, as in `claude --help` of 2.1.197, 2.1.329 and 2.1.330, and `claude daemon`.
const subcommands = "agents attach auth auto-mode config daemon doctor gateway import install kill logs mcp " +
	"migrate-installer plugin plugins project purge respawn rm setup-token stop ultrareview update upgrade"

// syntax is that of the command line. Final are the flags that make a process a helper.
func syntax() discover.Syntax {
	return discover.Syntax{
		NoDashValues: true,
		Values: "--agent --agents --append-system-prompt --append-system-prompt-file --autocompact --debug-file " +
			"--effort --environment --fallback-model --input-format --json-schema --max-budget-usd --max-turns --model " +
			"--name -n --output-format --permission-mode --permission-prompt-tool --permission-prompts --plugin-dir " +
			"--plugin-url --remote-control-session-name-prefix --resume -r --session-id --setting-sources --settings " +
			"--system-prompt --system-prompt-file --system-prompt-snapshot --worktree -w --debug -d --from-pr --teleport " +
			"--agent-id --agent-name --team-name --agent-color --agent-type --parent-session-id --lead-verify-key --teammate-mode",
		Lists: "--add-dir --allowedTools --allowed-tools --betas --disallowedTools --disallowed-tools --file " +
			"--mcp-config --tools",
		Final: "--bg --background --bg-spare --bg-pty-host --daemon-worker --version -v -V --help -h --update " +
			"--upgrade --chrome-native-host --claude-in-chrome-mcp",
	}
}

func readCmdline(p proc.Process) cmdline {
	args, err := p.Args()
	if err != nil || len(args) == 0 {
		return cmdline{}
	}
	return parseCmdline(args[1:])
}

func parseCmdline(args []string) cmdline {
	a := syntax().Parse(args)
	return cmdline{
		helper: len(a.Words) > 0 && slices.Contains(strings.Fields(subcommands), a.Words[0]) || a.Has(strings.Fields(syntax().Final)...),
		host:   a.Has("--bg-pty-host"), print: a.Has("-p", "--print"), stream: a.Value("--input-format") == "stream-json",
		session: a.Value("--session-id"), resume: a.Value("--resume", "-r"), fork: a.Has("--fork-session"),
		team: a.Value("--team-name"), teammate: a.Value("--agent-name"), parent: a.Value("--parent-session-id"),
	}
}

// isTeammate reports whether the process is a teammate, which another session leads.
func (c cmdline) isTeammate() bool { return c.team != "" && c.teammate != "" && isUUID(c.parent) }

// namedSession returns the session that the command line names, or "".
func (c cmdline) namedSession() string {
	switch {
	case isUUID(c.session):
		return c.session
	case isUUID(c.resume) && !c.fork:
		return c.resume
	}
	return ""
}
