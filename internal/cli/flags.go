package cli

import (
	"errors"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/config"
)

// CommonFlags are the flags that several commands have.
type CommonFlags struct {
	JSON, Quiet, NoTrunc, NoColor bool
	Format                        string
	AdapterNames                  cli.StringSlice
}

// SessionTemplate is the example in the help of --format where the objects are sessions.
const SessionTemplate = "{{.status}} {{.id}}"

// FormatFlag is --format of a command that prints one kind of object. Its help shows the example, a template of such an object.
func FormatFlag(to *string, example string) cli.Flag {
	usage := "print each object by a Go `TEMPLATE` such as '" + example + "'; json: as --json"
	return &cli.StringFlag{Name: "format", Usage: usage, Destination: to}
}

// formatJSON is the --format that asks for what --json prints.
const formatJSON = "json"

func JSONFlag(to *bool) cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print JSON (agentctl schema)", Destination: to}
}

func NoColorFlag(to *bool) cli.Flag {
	return &cli.BoolFlag{Name: "no-color", Usage: "print no colours", Destination: to}
}

// AdapterFlag is --adapter of a command that selects sessions.
func AdapterFlag(to *cli.StringSlice) cli.Flag {
	return &cli.StringSliceFlag{Name: "adapter", Usage: "only this `AGENT` (may be repeated)", Destination: to}
}

// OptionalValueFlag is a flag that may stand without its value, which is then Default. A word for which IsArgument is true is not
// taken for the value, unless = is before it.
type OptionalValueFlag struct {
	cli.StringFlag
	Default    string
	IsArgument func(word string) bool
}

// Statuses are the words that --status takes.
func Statuses() []string {
	return []string{
		string(discover.Running), string(discover.Waiting), string(discover.Idle),
		string(discover.Stopped), string(discover.Unknown),
	}
}

func UsageGroups() []string {
	return []string{"day", "week", "month", "project", "model", "agent", "session"}
}

// DiskGroups are the words that --by of du takes.
func DiskGroups() []string { return []string{"session", "project", "agent", "month"} }

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

// HelpTemplate is the template of a command's help, which ends with examples.
func HelpTemplate(examples ...string) string {
	// The group of a command is for the list of all commands.
	return withExamples(strings.ReplaceAll(cli.CommandHelpTemplate, ".Category", "false"), examples)
}

// GroupHelpTemplate is [HelpTemplate] for a command with subcommands.
func GroupHelpTemplate(examples ...string) string {
	return withExamples(cli.SubcommandHelpTemplate, examples)
}

// withExamples adds a section of examples to a template of help.
func withExamples(template string, examples []string) string {
	return strings.TrimRight(template, "\n") + "\n\nEXAMPLES:\n   " + strings.Join(examples, "\n   ") + "\n"
}
