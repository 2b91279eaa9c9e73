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

// listDatabases lists the databases of a home, by the paths that records bear. A home that is missing holds none.
func listDatabases(ctx context.Context, home discover.Home) ([]string, error) {
	all, err := findDatabases(ctx, home)
	errs := []error{err}
	all = slices.DeleteFunc(slices.Clone(all), func(path string) bool {
		leaves := home.CheckPath(path)
		if leaves != nil {
			errs = append(errs, newWarning(path, leaves))
		}
		return leaves != nil
	})
	return all, errors.Join(errs...)
}

// findDatabases is databasesOf with those that a link leads out of the home to.
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
