package cmdutil

import (
	"errors"
	"io"

	"agentctl/internal/output"
)

// template is a function that prints objects of a type by the text of --format, nil if there is none. The word json asks for what
// --json prints.
func (f Factory) template(verb string, text *string, asJSON *bool, of any) (func(w io.Writer, object any) error, error) {
	switch {
	case *text != "" && *asJSON:
		return nil, UsageError(verb, "--json and --format cannot be used together")
	case *text == formatJSON:
		*text, *asJSON = "", true
		return nil, nil
	case *text == "":
		return nil, nil
	}
	format, err := output.ParseFormat(*text, f.Now, of)
	if err != nil {
		return nil, UsageError(verb, "%v", err)
	}
	return func(w io.Writer, object any) error {
		err := format.Write(w, object)
		if bad, ok := errors.AsType[*output.FormatError](err); ok {
			return UsageError(verb, "%v", bad)
		}
		return err
	}, nil
}
