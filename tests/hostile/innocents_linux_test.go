package hostile

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// innocents are processes that are no agents, and that nobody may signal.
type innocents []*innocent

type innocent struct {
	cmd   *exec.Cmd
	stdin io.Closer
	ended chan struct{}
}

// startInnocents starts some: each lives until its stdin ends, in a session of its own.
func startInnocents() (list innocents, err error) {
	for range 3 {
		cmd := exec.Command("cat")
		stdin, err := cmd.StdinPipe()
		if err != nil {
			return list, err
		}
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			return list, err
		}
		i := &innocent{cmd, stdin, make(chan struct{})}
		go func() {
			defer close(i.ended)
			_ = cmd.Wait()
		}()
		list = append(list, i)
	}
	return list, nil
}

// dead are those that have ended.
func (list innocents) dead() (out []string) {
	for _, i := range list {
		select {
		case <-i.ended:
			out = append(out, fmt.Sprintf("pid %d: %v", i.cmd.Process.Pid, i.cmd.ProcessState))
		default:
		}
	}
	return out
}

func (list innocents) end() {
	for _, i := range list {
		_ = i.stdin.Close()
		<-i.ended
	}
}
