package codex

import (
	"slices"

	"agentctl/discover"
	"agentctl/launch"
)

// StoreCommand implements [launch.Adapter]. `codex delete` also removes the session's sub-agents; without a terminal it needs
// --force (SEEN 0.169; 0.104 has none of these commands).
func (Adapter) StoreCommand(action launch.StoreAction, s discover.Session, host launch.Environment) (launch.Command, error) {
	p, err := findInstallation(host)
	if err != nil {
		return launch.Command{}, err
	}
	words := map[launch.StoreAction][]string{
		launch.ActionRemove: {"delete", "--force"}, launch.ActionArchive: {"archive"}, launch.ActionUnarchive: {"unarchive"},
	}[action]
	return launch.Command{
		Args: slices.Concat([]string{p.path}, words, []string{s.ID}), Env: slices.Concat(p.env, homeEnv(s, host)), Dir: s.Home,
		Help: []string{p.path, words[0], "--help"}, HelpHas: "codex " + words[0] + " ",
	}, nil
}
