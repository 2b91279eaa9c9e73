package proc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"
)

// Layout of macOS's struct kinfo_proc on 64 bits, in bytes (XNU bsd/sys/sysctl.h and bsd/sys/proc.h). It is read by
// offset so that it can be tested on any system. The macOS build checks the offsets against the structure of
// golang.org/x/sys/unix.
const (
	kinfoSeconds = 0   // p_starttime.tv_sec, int64
	kinfoMicros  = 8   // p_starttime.tv_usec, int32
	kinfoState   = 36  // p_stat, int8
	kinfoPID     = 40  // p_pid, int32
	kinfoName    = 243 // p_comm, NUL-terminated
	kinfoNameEnd = 260
	kinfoUser    = 420 // e_ucred.cr_uid, uint32
	kinfoParent  = 560 // e_ppid, int32
	kinfoGroup   = 564 // e_pgid, int32
	kinfoTTY     = 572 // e_tdev, int32; -1 is none
	kinfoSize    = 648
)

// parseKinfos parses the result of the sysctls kern.proc.all and kern.proc.pid.
func parseKinfos(raw []byte) ([]Process, error) {
	if len(raw)%kinfoSize != 0 {
		return nil, fmt.Errorf("%d bytes of process table, no multiple of %d", len(raw), kinfoSize)
	}
	list := make([]Process, 0, len(raw)/kinfoSize)
	for ; len(raw) > 0; raw = raw[kinfoSize:] {
		list = append(list, parseKinfo(raw[:kinfoSize]))
	}
	return list, nil
}

func parseKinfo(raw []byte) Process {
	le := binary.LittleEndian
	number := func(at int) int { return int(int32(le.Uint32(raw[at:]))) }
	seconds, micros := int64(le.Uint64(raw[kinfoSeconds:])), number(kinfoMicros)
	p := Process{
		ID:      ID{PID: number(kinfoPID), Birth: fmt.Sprintf("%d.%06d", seconds, micros)},
		Parent:  number(kinfoParent),
		Group:   number(kinfoGroup),
		UID:     int(le.Uint32(raw[kinfoUser:])),
		State:   kinfoStateLetter(raw[kinfoState]),
		Name:    cString(raw[kinfoName:kinfoNameEnd]),
		Started: time.Unix(seconds, int64(micros)*1000).UTC(),
	}
	if device := number(kinfoTTY); device > 0 {
		p.TTYDevice = uint64(device)
	}
	return p
}

// kinfoStateLetter translates p_stat (SIDL to SZOMB, bsd/sys/proc.h) to the letters of [State].
func kinfoStateLetter(stat byte) State {
	const letters = "\x00IRSTZ"
	if int(stat) < len(letters) {
		return State(letters[stat])
	}
	return 0
}

// cString returns the bytes of a character array before its first NUL.
func cString(array []byte) string {
	text, _, _ := bytes.Cut(array, []byte{0})
	return string(text)
}
