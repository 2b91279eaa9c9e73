package proc

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func (xnu) usage(p Process) (Usage, error) {
	return verified(p, func(pid int) (Usage, error) {
		frequency, err := unix.SysctlUint64("hw.tbfrequency") // 10⁹ on Intel, 24·10⁶ on Apple's own
		if err != nil {
			return Usage{}, fmt.Errorf("hw.tbfrequency: %w", err)
		}
		raw, err := procInfo(callPIDInfo, pid, flavorTask, 0, make([]byte, taskSize))
		if err != nil {
			return Usage{}, fmt.Errorf("usage of process %d: %w", pid, err)
		}
		return parseTask(raw, frequency)
	})
}
