package cli

import (
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
)

// UserFlags has the flags --home and --all-users, which add homes and users to those of the environment and the
// configuration. All commands that find sessions take them; see [Verb].
type UserFlags struct {
	verb     string
	homes    cli.StringSlice
	allUsers bool
}

func (u *UserFlags) flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "home", Usage: "also read the agent's home `DIR`, and trust it; needed to act on sessions of a home that only a process names (may be repeated)", Destination: &u.homes},
		&cli.BoolFlag{Name: "all-users", Usage: "include other users' sessions, as far as they can be read; agentctl never acts on them", Destination: &u.allUsers},
	}
}

// addHomes adds the homes of --home to those of the configuration. A directory may be any agent's; a file belongs to the
// agents that store their sessions in such a file.
func (u *UserFlags) addHomes(adapters []discover.Adapter, configured map[string][]string) (map[string][]string, error) {
	if u == nil || len(u.homes.Value()) == 0 {
		return configured, nil
	}
	all := map[string][]string{}
	for _, home := range u.homes.Value() {
		path, err := filepath.Abs(home)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, UsageError(u.verb, "--home: %v", err)
		}
		taken := false
		for _, a := range adapters {
			if info.IsDir() || info.Mode().IsRegular() && a.IsStoreFile(path) {
				all[string(a.Name())] = append(all[string(a.Name())], path)
				taken = true
			}
		}
		if !taken {
			return nil, UsageError(u.verb, "--home: %s is neither a directory nor a database of an agent", home)
		}
	}
	for name, homes := range configured {
		all[name] = append(all[name], homes...)
	}
	return all, nil
}

// trustHint says how to trust the home of a session that a command refuses to act on; "" if that is impossible.
func trustHint(e *discover.UntrustedError) string {
	if e.Session.Trust != discover.TrustSeen {
		return ""
	}
	return "if you trust what is stored there: --home " + e.Home() + ", or homes." + string(e.Session.Agent) + " in the configuration"
}
