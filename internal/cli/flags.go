package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/launch"
	"agentctl/launch/worktree"
	"agentctl/lock"
)

// CommonFlags are the flags that several commands have.
type CommonFlags struct {
	JSON, Quiet, NoTrunc, NoColor bool
	Format                        string
	AdapterNames                  cli.StringSlice
}

// The common flags stand once, in the help of the program. The help of a command only names those that it takes: they are hidden.
func commonFlags() []cli.Flag {
	o := &CommonFlags{}
	return slices.Concat([]cli.Flag{JSONFlag(&o.JSON), FormatFlag(&o.Format)}, (&UserFlags{}).flags(), (&HostFlags{}).flags())
}

func FormatFlag(to *string) cli.Flag {
	usage := "print each object by a Go `TEMPLATE` such as '{{.status}} {{.id}}'; json: as --json"
	return &cli.StringFlag{Name: "format", Usage: usage, Destination: to, Hidden: true}
}

// formatJSON is the --format that asks for what --json prints.
const formatJSON = "json"

func JSONFlag(to *bool) cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print JSON (agentctl schema); errors too", Destination: to, Hidden: true}
}

// objectFlags are the flags of a command that prints objects, tableFlags those of one that prints a table of them.
func (o *CommonFlags) objectFlags() []cli.Flag {
	return []cli.Flag{FormatFlag(&o.Format), JSONFlag(&o.JSON), NoColorFlag(&o.NoColor)}
}

func (o *CommonFlags) tableFlags() []cli.Flag {
	noTrunc := &cli.BoolFlag{Name: "no-trunc", Usage: "do not shorten anything", Destination: &o.NoTrunc}
	return append([]cli.Flag{noTrunc}, o.objectFlags()...)
}

func NoColorFlag(to *bool) cli.Flag {
	return &cli.BoolFlag{Name: "no-color", Usage: "print no colours", Destination: to}
}

// AdapterFlag is --adapter of a command that selects sessions.
func AdapterFlag(to *cli.StringSlice) cli.Flag {
	return ListFlag("adapter", "only this `AGENT`", to)
}

// listFlag is a flag that may be repeated. Its help does not show it twice.
type listFlag struct{ cli.StringSliceFlag }

func ListFlag(name, usage string, to *cli.StringSlice) cli.Flag {
	return &listFlag{cli.StringSliceFlag{Name: name, Usage: usage + " (may be repeated)", Destination: to}}
}

// IsSliceFlag implements [cli.DocGenerationSliceFlag].
func (*listFlag) IsSliceFlag() bool { return false }

// String implements [cli.Flag].
func (l *listFlag) String() string { return cli.FlagStringer(l) }

// OptionalValueFlag is a flag that may stand without its value, which is then Default. A word for which IsArgument is true is not
// taken for the value, unless = is before it.
type OptionalValueFlag struct {
	cli.StringFlag
	Default    string
	IsArgument func(word string) bool
}

// durationValue is the value of a flag that takes a span of time.
type durationValue struct {
	to *time.Duration
	// zeroAllowed: 0 is accepted, and means no limit.
	zeroAllowed bool
}

// DurationFlag takes a span of time. What to holds is its default; 0 is none.
func DurationFlag(name, usage string, to *time.Duration) cli.Flag {
	return &cli.GenericFlag{Name: name, Usage: usage, Value: &durationValue{to: to}}
}

// LimitFlag is a duration flag; 0 is no limit.
func LimitFlag(name, usage string, to *time.Duration) cli.Flag {
	return &cli.GenericFlag{Name: name, Usage: usage, Value: &durationValue{to: to, zeroAllowed: true}}
}

func (dv *durationValue) Set(text string) error {
	d, ok := config.ParseDuration(text)
	if !ok || d < 0 || d == 0 && !dv.zeroAllowed {
		return errors.New("use a duration such as 90s, 30m, 1h30m, 2d or 1w")
	}
	*dv.to = d
	return nil
}

// String is the default for the help.
func (dv *durationValue) String() string {
	if dv.to == nil || *dv.to == 0 {
		return ""
	}
	text := strings.TrimSuffix(dv.to.String(), "m0s")
	if text != dv.to.String() {
		text += "m"
	}
	return text
}

// HelpTemplate is the template of a command's help, which names the common flags and ends with examples.
func HelpTemplate(examples ...string) string { return helpTemplate(cli.CommandHelpTemplate, examples) }

// GroupHelpTemplate is [HelpTemplate] for a command with subcommands.
func GroupHelpTemplate(examples ...string) string {
	return helpTemplate(cli.SubcommandHelpTemplate, examples)
}

// examplesTitle begins the part of a help text that has the examples.
const examplesTitle = "\nEXAMPLES:\n"

func helpTemplate(template string, examples []string) string {
	template = strings.ReplaceAll(template, ".Category", "false") // the group of a command is for the list of all commands
	common := `{{$before := "\n\nCOMMON FLAGS (see ` + Program + ` --help):\n   "}}{{range .Flags}}{{if not .IsVisible}}{{$before}}--{{index .Names 0}}{{$before = ", "}}{{end}}{{end}}`
	return strings.TrimRight(template, "\n") + common + "\n" + examplesTitle + "   " + strings.Join(examples, "\n   ") + "\n"
}

// ChosenAgents returns the agents that the values of --adapter name.
func (env Env) ChosenAgents(values []string) ([]discover.Agent, error) {
	var out []discover.Agent
	for _, v := range values {
		for word := range strings.SplitSeq(v, ",") {
			if !env.isAgent(word) {
				return nil, UnknownWord("agent", word, env.AgentNames())
			}
			out = append(out, discover.Agent(env.agentName(word)))
		}
	}
	return out, nil
}

func (env Env) isAgent(word string) bool {
	return slices.Contains(env.AgentNames(), env.agentName(word))
}

// agentName is the whole name of an agent of which the word is the part before the dash, as of "claude"; else the word.
func (env Env) agentName(word string) string {
	known := env.AgentNames()
	if i := slices.IndexFunc(known, func(name string) bool { return strings.HasPrefix(name, word+"-") }); i >= 0 {
		return known[i]
	}
	return word
}

// UserFlags has the flags --home and --all-users, which add homes and users to those of the environment and the
// configuration. All commands that find sessions take them; see [Verb].
type UserFlags struct {
	verb     string
	homes    cli.StringSlice
	allUsers bool
}

func (u *UserFlags) flags() []cli.Flag {
	return []cli.Flag{
		&listFlag{cli.StringSliceFlag{Name: "home", Usage: "also read the agent's home `DIR`, and trust it; needed to act on sessions of a home that only a process names (may be repeated)", Destination: &u.homes, Hidden: true}},
		&cli.BoolFlag{Name: "all-users", Usage: "include other users' sessions, as far as they can be read; agentctl never acts on them", Destination: &u.allUsers, Hidden: true},
	}
}

// addHomes adds the homes of --home to those of the configuration. A directory may be any agent's; a file belongs to the
// agents that store their sessions in such a file.
func (u *UserFlags) addHomes(adapters []discover.Adapter, configured map[string][]string) (map[string][]string, error) {
	if u == nil || len(u.homes.Value()) == 0 {
		return configured, nil
	}
	all := map[string][]string{}
	for _, home := range u.homes.Value() {
		path, err := filepath.Abs(home)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, UsageError(u.verb, "--home: %v", err)
		}
		taken := false
		for _, a := range adapters {
			if info.IsDir() || info.Mode().IsRegular() && a.IsStoreFile(path) {
				all[string(a.Name())] = append(all[string(a.Name())], path)
				taken = true
			}
		}
		if !taken {
			return nil, UsageError(u.verb, "--home: %s is neither a directory nor a database of an agent", home)
		}
	}
	for name, homes := range configured {
		all[name] = append(all[name], homes...)
	}
	return all, nil
}

// trustHint says how to trust the home of a session that a command refuses to act on; "" if that is impossible.
func trustHint(e *discover.UntrustedError) string {
	if e.Session.Trust != discover.TrustSeen {
		return ""
	}
	return "if you trust what is stored there: --home " + e.Home() + ", or homes." + string(e.Session.Agent) + " in the configuration"
}

// CheckDirectory returns an error unless path is a directory, or a link to one.
func CheckDirectory(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	return err
}

// WorkDir resolves the directory of --cwd that an agent is to work in.
func WorkDir(verb, dir string) (string, error) {
	dir, err := lock.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		err = CheckDirectory(dir)
	}
	if err != nil {
		return "", UsageError(verb, "--cwd: %v", err)
	}
	return dir, nil
}

// OpenRepository opens the repository that contains a directory.
func (env Env) OpenRepository(ctx context.Context, verb, dir string) (*worktree.Repo, error) {
	if err := CheckDirectory(dir); err != nil {
		return nil, UsageError(verb, "%v", err)
	}
	repo, err := worktree.Open(ctx, launch.Environment{Environ: env.Environ}, dir)
	if errors.Is(err, lock.ErrNoRepository) {
		return nil, UsageError(verb, "%v", err)
	}
	return repo, err
}
