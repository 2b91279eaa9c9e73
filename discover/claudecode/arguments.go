package claudecode

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
	"agentctl/launch"
)

// Flags that choose the session or its process, and flags that choose what it may do.
const (
	sessionFlags    = " --session-id --resume -r --continue -c --fork-session --bg --background --from-pr --teleport "
	permissionFlags = " --permission-mode --dangerously-skip-permissions --allow-dangerously-skip-permissions " +
		"--allowedTools --allowed-tools --settings "
)

func flagOf(arg string) string {
	flag, _, _ := strings.Cut(arg, "=")
	return flag
}

// session adds what says which session it is, and where its storage and its project are.
func (c caller) session(spec *launch.Spec) {
	if spec.ID = newUUID(); c.Resume == nil {
		spec.Args = append(spec.Args, "--session-id", spec.ID)
		return
	}
	spec.Env = inHome(c.Resume.Home, c.host)
	// Up to 2.1.197 a session is found only from the directory it began in; 2.1.329 finds it from anywhere, but takes
	// the project's settings from where it runs.
	if dir, ok := c.Resume.Meta.Get(dirMeta).(string); ok {
		spec.Dir = dir
	}
	spec.Args = append(spec.Args, "--resume", c.Resume.ID)
	if c.Fork {
		spec.Args = append(spec.Args, "--fork-session", "--session-id", spec.ID)
		return
	}
	spec.ID, spec.Resumed = c.Resume.ID, true
}

// inHome sets the config folder where the environment leads to another one.
func inHome(home string, host launch.Host) []string {
	if home == "" || discover.RealPath(home) == discover.RealPath(homeOf(host.Getenv(configKey), host.Getenv(homeKey))) {
		return nil
	}
	return []string{configKey + "=" + home}
}

// options are the arguments about the model, the name and the permissions. Values are joined to their flags: they may
// begin with a dash.
func (c caller) options() (args []string) {
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag+"="+value)
		}
	}
	add("--model", c.model())
	add("--name", c.Name)
	switch c.Permissions {
	case launch.Edit:
		add("--permission-mode", "acceptEdits")
	case launch.Full:
		args = append(args, "--dangerously-skip-permissions")
	case launch.Own:
		add("--permission-mode", c.former())
	}
	return args
}

// model is the one asked for, else what a resumed session had where Claude Code does not go on with it by itself:
// before 2.1.113 (2.1.112 forgets, 2.1.197 remembers), or where ANTHROPIC_MODEL says otherwise. The storage has the
// name that the API answers with; other providers than Anthropic do not take it.
func (c caller) model() string {
	if c.Model != "" || c.Resume == nil {
		return c.Model
	}
	forgets := c.version.Before(native.Version{2, 1, 113}) || c.host.Getenv("ANTHROPIC_MODEL") != ""
	for _, provider := range []string{"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"} {
		forgets = forgets && c.host.Getenv(provider) == ""
	}
	if !forgets {
		return ""
	}
	return c.Resume.Model
}

// former is the permission mode that a resumed session had: Claude Code itself forgets it, and takes the one of its
// settings, which may allow more (SEEN 2.1.75–2.1.329).
func (c caller) former() string {
	if c.Resume == nil || c.permitted() {
		return ""
	}
	mode, _ := c.Resume.Meta.Get(modeMeta).(string)
	return mode
}

// permitted: the person's own arguments say what it may do.
func (c caller) permitted() bool {
	return slices.ContainsFunc(c.Args, func(arg string) bool { return has(permissionFlags, flagOf(arg)) })
}

// newUUID makes a random UUID (version 4, RFC 9562), as Claude Code's own ids are.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0F|0x40, b[8]&0x3F|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
