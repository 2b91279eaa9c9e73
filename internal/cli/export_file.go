package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"agentctl/discover"
	"agentctl/lock"
)

// checkTarget refuses a file that must not be written: anything but a regular file, and what is below an agent's home or is a
// session's own file.
func checkTarget(ctx context.Context, c *Call, file string, sessions []discover.Session) error {
	if file == "-" {
		return nil
	}
	refuse := func(why string) error { return UsageError("export", "-o %s: %s", file, why) }
	info, err := os.Stat(file)
	switch {
	case err == nil && info.IsDir():
		return refuse("it is a directory")
	case err == nil && !info.Mode().IsRegular():
		return refuse("it is not a regular file")
	}
	for _, s := range sessions {
		if stored, err := os.Stat(s.Path); err == nil && info != nil && os.SameFile(stored, info) {
			return refuse("the agent stores the session there")
		}
	}
	dir := filepath.Dir(file)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return refuse("there is no directory " + dir)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	homes, err := agentHomes(ctx, c, sessions)
	if err != nil {
		return err
	}
	for dir := lock.Resolve(abs); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		for _, home := range homes {
			if err == nil && os.SameFile(info, home) {
				return refuse("it is below " + dir + ", where an agent stores its sessions")
			}
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// agentHomes returns the directories of all agents' homes, and of the homes and files of these sessions.
func agentHomes(ctx context.Context, c *Call, sessions []discover.Session) (homes []fs.FileInfo, err error) {
	table, err := c.ReadTable(ctx)
	if err != nil {
		return nil, err
	}
	add := func(dir string) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			homes = append(homes, info)
		}
	}
	for _, a := range c.Scanner.Adapters {
		for _, h := range c.Scanner.Homes(a, table) {
			add(h.Dir)
		}
	}
	for _, s := range sessions {
		add(s.Home)
	}
	return homes, nil
}

// writeFile writes a file that only its owner can read, whole or not at all: a file beside it takes its name once it is written.
// An interrupt leaves nothing behind.
func writeFile(ctx context.Context, name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".agentctl-export-*") // mode 0600
	if err != nil {
		return UsageError("export", "-o: %v", err)
	}
	err = write(ContextWriter{Context: ctx, Out: f})
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // best effort
	}
	return err
}
