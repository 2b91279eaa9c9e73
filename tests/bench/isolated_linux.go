package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// inside is set in the environment of the copy of this program that runs in the namespace.
const inside = "AGENTCTL_BENCH_INSIDE"

// isolated runs f in a copy of this program that is the first process of a new pid namespace, beside as many idle
// processes as the options ask for. All of them end with it. Where no namespace may be made, f runs as it is.
func isolated(o options, f func(options) error) error {
	if os.Getenv(inside) != "" {
		if err := settle(o); err != nil {
			return err
		}
		return f(o)
	}
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN} // to mount /proc
	}
	err := cmd.Start()
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOSPC) {
		fmt.Printf("no namespace of its own (%v): agents that run on this machine are in the numbers\n\n", err)
		return f(o)
	}
	if err != nil {
		return err
	}
	return cmd.Wait() // it has said itself what is wrong
}

// settle shows the new namespace's processes at /proc, and adds the idle ones.
func settle(o options) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	for range o.processes {
		if err := exec.Command("sleep", "100000").Start(); err != nil {
			return err
		}
	}
	fmt.Printf("a pid namespace of its own, with %d idle processes\n\n", o.processes)
	return nil
}
