package cli

import (
	"context"
	"fmt"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
)

// Calls returns what each host is asked that the flags or the IDs name, as [Factory.HostCalls] does; nil for this machine alone.
func (c *Call) Calls(ids, rest []string, anyHost bool) ([]HostCall, error) {
	if !c.OnHosts(ids...) {
		return nil, nil
	}
	return c.HostCalls(c.Config, ids, rest, anyHost)
}

// Collect returns the objects of a command: those of this machine by local, or those of the calls, in the order of the hosts. Once they are
// printed, after reports what could not be read, and returns the error of the command.
func Collect[T any, P answer[T]](
	ctx context.Context, c *Call, calls []HostCall, local func(context.Context) ([]T, []*discover.Warning, error),
) (objects []T, after func() error, err error) {
	if calls == nil {
		objects, warnings, err := local(ctx)
		return objects, func() error { return c.ReportWarnings(warnings) }, err
	}
	byHost := map[string][]T{}
	failed := c.gather(ctx, calls, func(ctx context.Context) error {
		return eachHost[T, P](ctx, c.Factory, calls, func(host string, obj T) error {
			byHost[host] = append(byHost[host], obj)
			return nil
		})
	})
	for _, call := range calls {
		objects = append(objects, byHost[call.Target.Name]...)
	}
	if failed != nil && len(objects) == 0 && !c.JSON {
		return nil, nil, failed // that there are none is not known
	}
	return objects, func() error { return failed }, nil
}

// PrintSessions prints sessions as the flags say: as a JSON array, by --format, their names, or else by text.
func (c *Call) PrintSessions(sessions []object.Session, text func() error) error {
	switch {
	case c.JSON:
		return render.JSONArray(c.Stdout, sessions)
	case c.Quiet:
		return PrintEach(sessions, func(s object.Session) error {
			_, err := fmt.Fprintln(c.Stdout, render.Sanitize(s.Name()))
			return err
		})
	case c.Template != nil:
		return PrintEach(sessions, func(s object.Session) error { return c.Template(c.Stdout, s) })
	}
	return text()
}
