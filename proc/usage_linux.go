package proc

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"time"
)

func (f *procfs) usage(p Process) (Usage, error) {
	return ask(f, p, func(d pidDir) (Usage, error) {
		buf := make([]byte, bufferSize)
		s, err := d.stat("stat", buf)
		if err != nil {
			return Usage{}, err
		}
		memory, err := d.resident(buf)
		return Usage{CPU: time.Duration(s.used) * (time.Second / clockTicks), Memory: memory}, err
	})
}

// resident is the process's resident memory in bytes. The kernel shows none for a main thread that has ended: what the
// other threads go on with is asked of them.
func (d pidDir) resident(buf []byte) (int64, error) {
	n, err := d.statm("statm", buf)
	if err != nil || n > 0 {
		return n, err
	}
	threads, err := d.numbers("task")
	if err != nil {
		return 0, orGone(err)
	}
	for _, id := range threads {
		if n, err := d.statm("task/"+strconv.Itoa(id)+"/statm", buf); err == nil && n > 0 {
			return n, nil
		}
	}
	return 0, nil // a kernel thread has none
}

func (d pidDir) statm(name string, buf []byte) (int64, error) {
	raw, err := d.record(name, buf)
	if err != nil {
		return 0, orGone(err)
	}
	pages, err := parseStatm(raw)
	if err != nil {
		return 0, fail("parse", string(d)+name, err)
	}
	return pages * int64(os.Getpagesize()), nil
}

// parseStatm reads the resident pages, the second number of proc_pid_statm(5).
func parseStatm(raw []byte) (int64, error) {
	_, rest, ok := bytes.Cut(raw, []byte{' '})
	resident, _, more := bytes.Cut(rest, []byte{' '})
	if !ok || !more {
		return 0, errors.New("no resident pages in it")
	}
	return strconv.ParseInt(string(resident), 10, 64)
}
