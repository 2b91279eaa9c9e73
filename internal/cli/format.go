package cli

import (
	"errors"
	"io"

	"github.com/urfave/cli/v2"

	"agentctl/internal/output"
)

// sessionTemplate is the example in the help of --format where the objects are sessions.
const sessionTemplate = "{{.status}} {{.id}}"

// formatFlag is --format of a command that prints one kind of object. Its help shows the example, a template of such an object.
func formatFlag(to *string, example string) cli.Flag {
	usage := "print each object by a Go `TEMPLATE` such as '" + example + "'; json: as --json"
	return &cli.StringFlag{Name: "format", Usage: usage, Destination: to}
}

// formatJSON is the --format that asks for what --json prints.
const formatJSON = "json"

// template is a function that prints objects of a type by the text of --format, nil if there is none. The word json asks for what
// --json prints.
func (env Env) template(verb string, text *string, asJSON *bool, of any) (func(w io.Writer, object any) error, error) {
	switch {
	case *text != "" && *asJSON:
		return nil, badUsage(verb, "--json and --format cannot be used together")
	case *text == formatJSON:
		*text, *asJSON = "", true
		return nil, nil
	case *text == "":
		return nil, nil
	}
	f, err := output.ParseFormat(*text, env.Now, of)
	if err != nil {
		return nil, badUsage(verb, "%v", err)
	}
	return func(w io.Writer, object any) error {
		err := f.Write(w, object)
		if bad, ok := errors.AsType[*output.FormatError](err); ok {
			return badUsage(verb, "%v", bad)
		}
		return err
	}, nil
}

// printEach prints one object after the other.
func printEach[T any](list []T, print func(T) error) error {
	for _, object := range list {
		if err := print(object); err != nil {
			return err
		}
	}
	return nil
}
