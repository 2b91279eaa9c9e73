package proc

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"time"
)

func (f *procfs) usage(p Process) (Usage, error) {
	return verified(f, p, func(d pidDir) (Usage, error) {
		s, err := d.stat("stat")
		if err != nil {
			return Usage{}, err
		}
		memory, err := d.resident()
		return Usage{CPU: time.Duration(s.cpuTicks) * (time.Second / clockTicks), Memory: memory}, err
	})
}

// resident returns the resident memory in bytes.
func (d pidDir) resident() (int64, error) {
	raw, err := d.read("statm")
	if err != nil {
		return 0, orGone(err)
	}
	pages, err := parseStatm(raw)
	if err != nil {
		return 0, pathError("parse", string(d)+"statm", err)
	}
	return pages * int64(os.Getpagesize()), nil
}

// parseStatm returns the resident pages, the second number of proc_pid_statm(5).
func parseStatm(raw []byte) (int64, error) {
	_, rest, ok := bytes.Cut(raw, []byte{' '})
	resident, _, more := bytes.Cut(rest, []byte{' '})
	if !ok || !more {
		return 0, errors.New("no resident pages in it")
	}
	return strconv.ParseInt(string(resident), 10, 64)
}
