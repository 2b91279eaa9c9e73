package opencode

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// listDatabases returns the paths of a home's databases. A home that does not exist has none. A database that a link outside of the home
// leads to is left out, with a warning, if the home's links may not be followed.
func listDatabases(ctx context.Context, home discover.Home) ([]string, error) {
	all, err := findDatabases(ctx, home)
	errs := []error{err}
	all = slices.DeleteFunc(slices.Clone(all), func(path string) bool {
		escapes := home.CheckPath(path)
		if escapes != nil {
			errs = append(errs, newWarning(path, escapes))
		}
		return escapes != nil
	})
	return all, errors.Join(errs...)
}

// findDatabases returns the paths of a home's databases, without checking links.
func findDatabases(ctx context.Context, home discover.Home) ([]string, error) {
	if home.FilesOnly {
		return home.Files, nil
	}
	var out []string
	names, err := fsread.ReadDir(ctx, home.Dir)
	if fsread.IsNotExist(err) {
		if err = nil; home.Explicit {
			err = newWarning(home.Dir, fs.ErrNotExist)
		}
	} else if err != nil {
		err = newWarning(home.Dir, err)
	}
	for _, e := range names {
		if isDatabaseName(e.Name()) {
			out = append(out, filepath.Join(home.Dir, e.Name()))
		}
	}
	slices.Sort(out)
	return append(out, home.Files...), err
}
