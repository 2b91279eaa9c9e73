package launch

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"

	"agentctl/proc"
)

// KillTree kills the process and all that it has started, and returns when none of it is left.
func (x *Execution) KillTree(ctx context.Context) error {
	for {
		table, err := proc.ReadTable(ctx)
		if err != nil {
			return err
		}
		left := 0
		for p := range table.All() {
			if p.Alive() && x.isDescendant(table, p) {
				left++
				err = errors.Join(err, killProcess(ctx, p.ID))
			}
		}
		if left == 0 || err != nil {
			return err
		}
	}
}

// killProcess kills one process and waits until it is gone.
func killProcess(ctx context.Context, id proc.ID) error {
	h, err := proc.Open(id)
	if err == nil {
		err = h.Signal(unix.SIGKILL)
	}
	if err == nil {
		err = h.Wait(ctx)
	}
	if h != nil {
		err = errors.Join(err, h.Close())
	}
	if errors.Is(err, proc.ErrGone) {
		return nil
	}
	return err
}
