package copilot

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
)

// Entries lists the sessions by the names of their folders. A folder without records is no session yet: nothing was ever asked in it. A
// full ID is looked up without listing the folder of all.
func (Adapter) Entries(ctx context.Context, homes []discover.Home, filter discover.EntryFilter) ([]discover.Entry, error) {
	list := discover.EntryList{Agent: agentName, Since: filter.Since}
	for _, home := range homes {
		list.Home = home.Dir
		ids, err := listIDs(ctx, home.Dir, filter)
		list.Warn(home.Dir, err)
		for _, id := range ids {
			if ctx.Err() != nil {
				break
			}
			path := eventsPath(home.Dir, id)
			info, err := storage.Stat(ctx, path)
			list.Add(discover.Entry{ID: id, Path: path}, info, err)
		}
	}
	return list.Found, errors.Join(append(list.Warnings, ctx.Err())...)
}

// listIDs returns the IDs in a home that the filter asks for. Sub-agents have no sessions of their own.
func listIDs(ctx context.Context, home string, filter discover.EntryFilter) (ids []string, err error) {
	switch {
	case filter.Parents != nil:
		return nil, nil
	case len(filter.Refs) > 0:
		for _, ref := range filter.Refs {
			if isUUID(ref.ID) && (ref.Path == "" || ref.Path == eventsPath(home, ref.ID)) {
				ids = append(ids, ref.ID)
			}
		}
		return ids, nil
	case isUUID(filter.ID):
		return []string{filter.ID}, nil
	case !storage.IsUUIDPrefix(filter.ID, true):
		return nil, nil
	}
	dir := filepath.Join(home, stateName)
	names, err := storage.ReadDir(ctx, dir)
	for _, n := range names {
		if isUUID(n.Name()) && strings.HasPrefix(n.Name(), filter.ID) {
			ids = append(ids, n.Name())
		}
	}
	return ids, warning(dir, err)
}

// StoreCommand implements [launch.Adapter]. A server that the agent starts for one client deletes a session, unless a process runs it (SEEN
// 1.0.82, 1.0.102). Rows of the session stay in the agent's database.
func (Adapter) StoreCommand(action launch.StoreAction, s discover.Session, host launch.Environment) (launch.Command, error) {
	if action != launch.ActionRemove {
		return launch.Command{}, unsupported("has no command that archives or restores a session")
	}
	program, err := findProgram(host)
	if err != nil {
		return launch.Command{}, err
	}
	return launch.Command{
		Args: []string{program, "--server", "--stdio"}, Env: homeVariables().Env(s.Home, host.Getenv), Dir: s.Home,
		Converse: func(server *launch.StdioServer) error { return deleteSession(server.Stdout, server.Stdin, s.ID) },
	}, nil
}

func deleteSession(in io.Reader, out io.Writer, id string) error {
	c, err := connect(in, out)
	if err == nil {
		_, err = c.Call("sessions.delete", map[string]string{"sessionId": id})
	}
	return err
}
