package cli

import (
	"github.com/urfave/cli/v2"
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

// OptionalValueFlag is a flag that may stand without its value, which is then this one.
type OptionalValueFlag struct {
	cli.StringFlag
	Default string
}
