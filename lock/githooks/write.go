package githooks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// newMode marks a hook that is made: its mode is what the umask leaves of 0777.
const newMode fs.FileMode = 0

// draftPrefix begins the names of files that are being written. Git looks for no hook of such a name.
const draftPrefix = ".agentctl-draft-"

// replaceFile puts a text in the place of a file, all of it or nothing, whenever we are killed.
func replaceFile(path, text string, mode fs.FileMode) error {
	draft := filepath.Join(filepath.Dir(path), draftPrefix+filepath.Base(path))
	f, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o777)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(draft) }() // it is gone, if all went well
	_, err = f.WriteString(text)
	if mode != newMode {
		err = errors.Join(err, f.Chmod(mode))
	}
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(draft, path)
}

// removeDrafts removes drafts that were left. Nobody is writing one: the directory is held.
func removeDrafts(dir string) error {
	for _, name := range Names() {
		err := os.Remove(filepath.Join(dir, draftPrefix+name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
