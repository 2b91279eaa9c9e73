package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// players is how many sessions live where live ones are measured.
const players = 10

// cast are this program's processes that play them.
type cast struct {
	ids []string
	// running are the processes, and alive the pipes at whose end they end.
	running []*exec.Cmd
	alive   []io.Closer
}

// startPlayers starts this program under the names of agents in turn, each with a session of its own that has begun when
// this returns. Their homes lie below live; their processes name them, so that they are found from any other home.
// A quiet one writes no more than the beginning.
func startPlayers(work, live string, quiet bool, agents ...string) (*cast, error) {
	if quiet {
		return startCast(players, work, live, quietKey+"=1", agents...)
	}
	return startCast(players, work, live, "", agents...)
}

// startCast is [startPlayers] of another number, with a variable that says how they write; "" for none.
func startCast(n int, work, live, how string, agents ...string) (*cast, error) {
	env := []string{
		"HOME=" + live, "CLAUDE_CONFIG_DIR=" + filepath.Join(live, ".claude"), "CODEX_HOME=" + filepath.Join(live, ".codex"),
		"XDG_DATA_HOME=" + filepath.Join(live, ".local", "share"),
	}
	if how != "" {
		env = append(env, how)
	}
	c := &cast{}
	for i := range n {
		if err := c.add(work, agents[i%len(agents)], env); err != nil {
			return nil, errors.Join(err, c.stop())
		}
	}
	return c, nil
}

func (c *cast) add(work, agent string, env []string) error {
	path := filepath.Join(work, agent)
	if err := copySelf(path); err != nil {
		return err
	}
	cmd := exec.Command(path)
	cmd.Env, cmd.Dir, cmd.Stderr = env, work, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	alive, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.running, c.alive = append(c.running, cmd), append(c.alive, alive)
	var id string
	if _, err := fmt.Fscanln(out, &id); err != nil {
		return fmt.Errorf("%s begins no session: %w", agent, err)
	}
	c.ids = append(c.ids, id)
	return nil
}

// stop ends them and waits until they are gone.
func (c *cast) stop() (err error) {
	for i, cmd := range c.running {
		err = errors.Join(err, c.alive[i].Close(), cmd.Wait())
	}
	return err
}

// copySelf puts this program at path, unless it is there: what runs tells by its file's name which agent it is.
func copySelf(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o700)
}
