package launch

import (
	"os"
	"syscall"
)

// Exec replaces this process by the agent's program, in our terminal. The kernel lock of a plan ends with this program's
// image. Exec returns only if it fails.
func Exec(spec Spec, host Environment) error {
	if err := os.Chdir(spec.Dir); err != nil {
		return err
	}
	if err := syscall.Exec(spec.Args[0], spec.Args, spec.environ(host)); err != nil {
		return &os.PathError{Op: "exec", Path: spec.Args[0], Err: err}
	}
	return nil
}

// environ is the whole environment of the agent. It is told its directory, too: some believe that more than the kernel.
func (s Spec) environ(host Environment) []string {
	env := append([]string(nil), host.Environ...)
	return append(append(env, s.Env...), "PWD="+s.Dir)
}
