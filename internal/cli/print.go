package cli

import (
	"errors"
	"fmt"
	"io"

	"agentctl/internal/object"
	"agentctl/internal/render"
)

// PrintRows prints objects: as a JSON array, by --format, or as a table, which has no header if it has no rows.
func PrintRows[T any](c *Call, rows []T, table func(io.Writer, []T, render.TextOptions) error) error {
	switch {
	case c.JSON:
		return render.JSONArray(c.Stdout, rows)
	case c.Template != nil:
		return PrintEach(rows, func(row T) error { return c.Template(c.Stdout, row) })
	case len(rows) == 0:
		return nil
	}
	return table(c.Stdout, rows, c.Style)
}

// PrintObject prints an object of a command that prints one or a stream: as a line of JSON, by --format, or else by text; with --quiet not at all.
func PrintObject[T any](c *Call, obj T, text func() error) error {
	switch {
	case c.Quiet:
		return nil
	case c.JSON:
		return render.JSONLine(c.Stdout, obj)
	case c.Template != nil:
		return c.Template(c.Stdout, obj)
	}
	return text()
}

// PrintEach prints each object, until an error.
func PrintEach[T any](list []T, print func(T) error) error {
	for _, obj := range list {
		if err := print(obj); err != nil {
			return err
		}
	}
	return nil
}

// template is a function that prints objects of a type by the text of --format, nil if there is none. The word json asks for what
// --json prints.
func (env Env) template(verb string, text *string, asJSON *bool, of any) (func(w io.Writer, obj any) error, error) {
	switch {
	case *text != "" && *asJSON:
		return nil, UsageError(verb, "--json and --format cannot be used together")
	case *text == formatJSON:
		*text, *asJSON = "", true
		return nil, nil
	case *text == "":
		return nil, nil
	}
	format, err := render.ParseFormat(*text, env.Now, of)
	if err != nil {
		return nil, UsageError(verb, "%v", err)
	}
	return func(w io.Writer, obj any) error {
		err := format.Write(w, obj)
		if bad, ok := errors.AsType[*render.FormatError](err); ok {
			return UsageError(verb, "%v", bad)
		}
		return err
	}, nil
}

// Show prints sessions in full: one, or all those of a process.
func (c *Call) Show(sessions []object.Session) error {
	for i := range sessions {
		if i > 0 && !c.JSON && c.Template == nil {
			fmt.Fprintln(c.Stdout)
		}
		var err error
		switch {
		case c.Template != nil:
			err = c.Template(c.Stdout, sessions[i])
		case c.JSON && len(sessions) > 1:
			err = render.JSONLine(c.Stdout, sessions[i])
		case c.JSON:
			err = render.JSON(c.Stdout, sessions[i])
		default:
			err = render.Details(c.Stdout, &sessions[i], c.Style)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// printResult prints a line for a result, unless --json prints all in one array.
func printResult[T any, P answer[T]](c *Call, r T, text func(P) (name, words string)) error {
	if c.Quiet || c.JSON {
		return nil
	}
	name, words := text(&r)
	_, err := fmt.Fprintf(c.Stdout, "%s  %s\n", render.Sanitize(name), render.Sanitize(words))
	return err
}

// printedResults prints the array of --json, unless nothing was done, and returns the error of the command.
func printedResults[T any](c *Call, results []T, failed error) error {
	if code := ExitCode(failed); c.JSON && (len(results) > 0 || code == ExitOK || code == ExitPartial) {
		if err := render.JSONArray(c.Stdout, results); err != nil {
			return err
		}
	}
	return failed
}
