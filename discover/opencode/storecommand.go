package opencode

import (
	"agentctl/discover"
	"agentctl/launch"
)

// StoreCommand implements [launch.StoreManager]. `opencode session delete` also removes the session's sub-agents, from any
// directory (SEEN 1.18.33).
func (Adapter) StoreCommand(action launch.StoreAction, s discover.Session, host launch.Environment) (launch.Command, error) {
	switch {
	case action != launch.ActionRemove:
		return launch.Command{}, unsupported("has no command that archives or restores a session; only the API of its server has (PATCH /session/ID)")
	case s.Meta.Get("legacy") == true:
		return launch.Command{}, unsupported("has no command that deletes a session in JSON files of older versions")
	}
	p, err := findInstallation(host)
	if err != nil {
		return launch.Command{}, err
	}
	return launch.Command{
		Args: []string{p.path, "session", "delete", s.ID}, Env: storeEnv(&s, host), Dir: s.Home,
		Help: []string{p.path, "session", "delete", "--help"}, HelpHas: "opencode session delete ",
	}, nil
}
