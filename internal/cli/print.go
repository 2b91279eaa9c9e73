package cli

import (
	"errors"
	"fmt"
	"io"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/lock"
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
func (f Factory) template(verb string, text *string, asJSON *bool, of any) (func(w io.Writer, obj any) error, error) {
	switch {
	case *text != "" && *asJSON:
		return nil, UsageError(verb, "--json and --format cannot be used together")
	case *text == formatJSON:
		*text, *asJSON = "", true
		return nil, nil
	case *text == "":
		return nil, nil
	}
	format, err := render.ParseFormat(*text, f.Now, of)
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

// SessionObjects converts sessions to their JSON objects.
func SessionObjects(sessions []discover.Session) []object.Session {
	out := make([]object.Session, len(sessions))
	for i, s := range sessions {
		out[i] = object.NewSession(s)
	}
	return out
}

func (c *Call) PrintLocks(list []lock.Lock) error {
	objects := make([]object.Lock, 0, len(list))
	for _, l := range list {
		objects = append(objects, lockObject(l))
	}
	return PrintRows(c, objects, render.LockTable)
}

func lockObject(l lock.Lock) object.Lock {
	out := object.Lock{Directory: l.Dir, Kind: string(l.Kind), Since: object.Timestamp(l.Since())}
	switch {
	case l.Session != nil:
		session := object.NewSession(*l.Session)
		out.Adapter, out.SessionID, out.PID = session.Adapter, session.ID, session.PID
		out.Status = session.Status
	case len(l.Holders) > 0:
		out.PID, out.LockedBy, out.Shared = l.Holders[0].ID.PID, l.Holders[0].Name, l.Shared
	case l.Declared != nil && l.Declared.ReadErr != nil:
		out.Reason = l.Declared.ReadErr.Error()
	case l.Declared != nil:
		out.LockedBy, out.Reason, out.Until = l.Declared.By, l.Declared.Reason, object.Timestamp(l.Declared.Until)
	}
	return out
}
