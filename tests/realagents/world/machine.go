package world

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"agentctl/tests/realagents/install"
	"agentctl/tests/sshd"
)

// Machine is a machine that the world is on, with some of its agents: its user owns all of the world, and the login shell has the agents' environment.
func (w *World) Machine(name string, uid int, agents ...Agent) sshd.Host {
	w.t.Helper()
	installed, err := install.Root()
	w.check(err)
	h := sshd.Host{Name: name, UID: uid, Home: w.Home, Shell: filepath.Join(w.base, "shell"), Mounts: map[string]string{installed: filepath.Join(w.base, "agents")}}
	bin := filepath.Join(w.base, "bin", "machine")
	w.check(os.MkdirAll(bin, 0o755))
	for _, a := range agents {
		path, err := filepath.Rel(installed, a.Native)
		w.check(errors.Join(err, os.Symlink(filepath.Join(h.Mounts[installed], path), filepath.Join(bin, a.command()))))
	}
	var shell strings.Builder
	shell.WriteString("#!/bin/sh\n")
	for _, variable := range w.env(w.Home) {
		key, value, _ := strings.Cut(variable, "=")
		if key == "PATH" {
			value = bin + ":" + value
		}
		fmt.Fprintf(&shell, "export %s='%s'\n", key, value)
	}
	shell.WriteString("exec /bin/sh \"$@\"\n")
	w.check(errors.Join(os.WriteFile(h.Shell, []byte(shell.String()), 0o755), os.Chmod(w.base, 0o711)))
	if os.Geteuid() == 0 {
		w.check(filepath.WalkDir(w.base, func(path string, _ fs.DirEntry, err error) error { return errors.Join(err, os.Lchown(path, uid, uid)) }))
	}
	return h
}
