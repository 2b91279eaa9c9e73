package proc

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// Major numbers of terminals, from the kernel's Documentation/admin-guide/devices.txt.
const (
	ttyMajor     = 4   // virtual consoles, and serial ports from minor 64 on
	ptyMajor     = 136 // the first of the pseudoterminals' numbers
	ptyMajors    = 8
	ptysPerMajor = 256
	firstSerial  = 64
)

// ttyDevice converts field 7 of /proc/PID/stat, in which the kernel encodes a device number in 32 bits (new_encode_dev), to
// the device number that stat(2) returns.
func ttyDevice(encoded uint32) uint64 {
	if encoded == 0 {
		return 0
	}
	return unix.Mkdev(encoded>>8&0xfff, encoded&0xff|encoded>>12&0xfff00)
}

// ttyName returns the usual path of a terminal; "" for a kind of terminal that is not known.
func ttyName(device uint64) string {
	major, minor := unix.Major(device), unix.Minor(device)
	switch {
	case major >= ptyMajor && major < ptyMajor+ptyMajors:
		return "/dev/pts/" + strconv.FormatUint(uint64(major-ptyMajor)*ptysPerMajor+uint64(minor), 10)
	case major == ttyMajor && minor < firstSerial:
		return "/dev/tty" + strconv.FormatUint(uint64(minor), 10)
	case major == ttyMajor:
		return "/dev/ttyS" + strconv.FormatUint(uint64(minor-firstSerial), 10)
	}
	return ""
}

// tty: see [Process.TTY].
func (f *procfs) tty(p Process) (string, error) {
	name := ttyName(p.TTYDevice)
	if name == "" {
		return "", ErrUnsupported
	}
	shared, err := f.sharesRoot(p)
	if err != nil {
		return "", err
	}
	var here unix.Stat_t
	if !shared || unix.Stat(name, &here) != nil || here.Mode&unix.S_IFMT != unix.S_IFCHR || here.Rdev != p.TTYDevice {
		return "", ErrPathDiffers
	}
	return name, nil
}
