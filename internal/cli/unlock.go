package cli

import (
	"context"
	"errors"
	"io/fs"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/lock"
)

type unlockOptions struct {
	repo  string
	by    string
	force bool
}

func newUnlock(env Env) *cli.Command {
	o := &unlockOptions{}
	return &cli.Command{
		Usage:     "remove a declared lock",
		UsageText: "agentctl unlock [FLAGS] DIR\nagentctl unlock [FLAGS] --repo DIR",
		ArgsUsage: "DIR",
		Flags: []cli.Flag{
			lockRepoFlag(&o.repo),
			&cli.StringFlag{Name: "by", Usage: "remove `WHO`'s lock (default: yours)", Destination: &o.by},
			&cli.BoolFlag{Name: "force", Usage: "remove the lock even if someone else has declared it", Destination: &o.force},
		},
		Action: func(c *cli.Context) error {
			if o.repo != "" {
				if _, err := arguments(c, 0, ""); err != nil {
					return err
				}
				return env.unlockRepository(c.Context, o)
			}
			args, err := arguments(c, 1, "a directory")
			if err != nil {
				return err
			}
			return env.unlock(c.Context, args[0], o)
		},
	}
}

func (env Env) unlock(ctx context.Context, dir string, o *unlockOptions) error {
	s, err := env.settings(false)
	if err != nil {
		return err
	}
	place, err := lock.At(dir)
	if errors.Is(err, fs.ErrNotExist) {
		place, err = lock.Gone(dir) // what it was locked for has gone with it
	}
	if err != nil {
		return badUsage("unlock", "%v", err)
	}
	return env.unlockPlaces(ctx, s, []*lock.Place{place}, place.Top, o)
}

// unlockRepository takes back the locks on all worktrees of a repository.
func (env Env) unlockRepository(ctx context.Context, o *unlockOptions) error {
	s, err := env.settings(false)
	if err != nil {
		return err
	}
	places, err := env.lockPlaces(ctx, "unlock", "", o.repo)
	if err != nil {
		return err
	}
	return env.unlockPlaces(ctx, s, places, "any worktree of "+o.repo, o)
}

// unlockPlaces takes back all locks on the places, or none. name is what an error calls them if they have none.
func (env Env) unlockPlaces(ctx context.Context, s settings, places []*lock.Place, name string, o *unlockOptions) error {
	store := lock.StoreIn(env.Getenv)
	var all []lock.Declared
	var unread error
	for _, place := range places {
		locks, err := store.On(place, env.Now())
		if errors.Is(err, lock.ErrNoStore) {
			return err
		}
		if err != nil && unread == nil { // it is the store's, and the same for each place
			unread = err
			env.say("warning", err.Error())
		}
		if !o.force && len(locks) > 0 {
			if err := env.ownLocks(ctx, s, place, locks, o.by); err != nil {
				return err
			}
		}
		all = append(all, locks...)
	}
	if len(all) == 0 {
		return errors.Join(&failure{ending{exitNotFound, "not_found"}, "no declared lock on " + name, ""}, unread)
	}
	return store.Remove(ctx, env.Now(), all...)
}

// ownLocks is an error if one of the locks is another's than by's, or than ours if that is "".
func (env Env) ownLocks(ctx context.Context, s settings, place *lock.Place, locks []lock.Declared, by string) error {
	if by == "" {
		working, done := env.look(ctx, "looking for the current session")
		defer done()
		world := env.world(s.Homes)
		r, err := world.List(working, discover.Select{Children: true})
		if err != nil {
			return err
		}
		by = env.signature(r, world.Inside(r, env.PID, env.Getenv))
	}
	for _, d := range locks {
		if d.Damage != nil || d.By != by {
			return conflict(whoLocks(lock.Lock{Kind: lock.Stated, Dir: place.Top, Declared: &d}), "--force removes it all the same")
		}
	}
	return nil
}
