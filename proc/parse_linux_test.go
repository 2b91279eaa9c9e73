package proc

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"agentctl/tests/must"
)

// statLine writes a line as the kernel does.
func statLine(s stat) string {
	flags := 4194560
	if s.forkNoExec {
		flags |= pfForkNoExec
	}
	return fmt.Sprintf("%d (%s) %c %d %d %d 34837 4042 %d 75172 4415 1 23 269 49 2 2 20 0 6 0 %d 75106791424 73741\n",
		s.pid, s.name, byte(s.state), s.parent, s.group, s.session, flags, s.ticks)
}

// FuzzStat: whatever the name, the line gives back what was written; and any bytes give a result or an error.
func FuzzStat(f *testing.F) {
	f.Add("claude", byte('S'), 4042, uint64(199670), []byte("1 (a) S"))
	f.Add(") R 1 9 (", byte('Z'), 1, uint64(0), []byte("4045 (claude) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19"))
	f.Add("two\nlines", byte('t'), -1, uint64(1<<63), []byte(")("))
	f.Fuzz(func(t *testing.T, name string, state byte, number int, ticks uint64, junk []byte) {
		if state <= ' ' || state > '~' || state == ')' {
			state = 'S'
		}
		want := stat{number, number + 1, number + 2, number + 3, State(state), name, ticks, 269 + 49, 6, ticks%3 == 1, unix.Mkdev(136, 21)}
		if got, err := parseStat(statLine(want)); err != nil || got != want {
			t.Errorf("got %+v, want %+v, %v", got, want, err)
		}
		if got, err := parseStat(string(junk)); err == nil && !bytes.Contains(junk, []byte("("+got.name+")")) {
			t.Errorf("from %q: %+v", junk, got)
		}
	})
}

// TestStatTornAnywhere: no truncated line is accepted.
func TestStatTornAnywhere(t *testing.T) {
	want := stat{4045, 4042, 4042, 4042, 'S', "cl) S 1 (aude", 199670, 269 + 49, 6, false, unix.Mkdev(136, 21)}
	line := statLine(want)
	for n := range strings.Index(line, "199670") {
		if got, err := parseStat(line[:n]); err == nil {
			t.Errorf("%q: %+v", line[:n], got)
		}
	}
}

// TestKilledProcessIsDeadAtOnce: a process that is releasing its memory is no zombie yet, but runs nothing any more.
func TestKilledProcessIsDeadAtOnce(t *testing.T) {
	line := strings.Replace(statLine(stat{state: 'R', name: "claude"}), "4194560", strconv.Itoa(4194560|pfExiting), 1)
	if got, err := parseStat(line); err != nil || got.state != 'X' {
		t.Errorf("%+v, %v", got, err)
	}
}

// FuzzStatus: the numbers written are the numbers read, and a name can add none.
func FuzzStatus(f *testing.F) {
	f.Add("claude", 4045, 1, []byte("Tgid:\t1\nNSpid:\t1\t2\n"))
	f.Add("NSpid:\t7", 1, 2, []byte("Tgid: x\n"))
	f.Fuzz(func(t *testing.T, name string, outer, inner int, junk []byte) {
		if outer == 0 {
			outer = 1
		}
		name = strings.NewReplacer("\n", `\n`, `\`, `\\`).Replace(name) // as the kernel does
		raw := fmt.Sprintf("Name:\t%s\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t%d\nNgid:\t0\nPid:\t%d\nNSpid:\t%d\t%d\n", name, outer, outer, outer, inner)
		if got, err := parseStatus([]byte(raw)); err != nil || got.group != outer || !slices.Equal(got.nsPIDs, []int{outer, inner}) {
			t.Errorf("%q: %+v, %v", raw, got, err)
		}
		if got, err := parseStatus(junk); err == nil && got.group == 0 {
			t.Errorf("from %q: %+v", junk, got)
		}
	})
}

// FuzzFdinfo: flags and position are read exactly, and only a held flock counts as one, of its kind.
func FuzzFdinfo(f *testing.F) {
	f.Add(int64(35952), uint32(0o2102002), "FLOCK", "WRITE", []byte("pos:\t0\nflags:\t02\nlock:\t1: FLOCK\n"))
	f.Add(int64(0), uint32(0), "POSIX", "WRITE", []byte("pos: -1\nflags: 09\n"))
	f.Add(int64(1), uint32(0o100001), "FLOCK", "READ", []byte("flags: 02\n"))
	f.Add(int64(1), uint32(0o100001), "-> FLOCK", "WRITE", []byte("lock: WRITE\n"))
	f.Fuzz(func(t *testing.T, pos int64, flags uint32, kind, mode string, junk []byte) {
		kind, mode = strings.Join(strings.Fields(kind), " "), strings.Join(strings.Fields(mode), " ")
		raw := fmt.Sprintf("pos:\t%d\nflags:\t0%o\nmnt_id:\t24\nino:\t3\nlock:\t1: %s  ADVISORY  %s 12783 fe:00:10225579 0 EOF\n", pos, flags, kind, mode)
		want := fdinfo{pos, flags&3 != 0, kind == "FLOCK" && mode == "WRITE", kind == "FLOCK" && mode == "READ"}
		got, err := parseFdinfo([]byte(raw))
		if plain := kind == "FLOCK" || kind == "POSIX" || kind == "-> FLOCK"; !plain {
			want.writeLocked, want.readLocked = got.writeLocked, got.readLocked // words of a lock that the kernel does not write
		}
		if err != nil || got != want {
			t.Errorf("%q: got %+v, want %+v, %v", raw, got, want, err)
		}
		if got, err := parseFdinfo(junk); err == nil && (!bytes.Contains(junk, []byte("pos")) || !bytes.Contains(junk, []byte("flags"))) {
			t.Errorf("from %q: %+v", junk, got)
		}
	})
}

// FuzzTCPSocket: a line gives the ends, the inode and whether the socket listens.
func FuzzTCPSocket(f *testing.F) {
	f.Add(uint16(4096), byte(0x0A), uint64(31497), []byte("  sl  local_address rem_address   st"))
	f.Add(uint16(80), byte(0x01), uint64(1), []byte("0: : : 0A : : 0 0 0 1"))
	f.Fuzz(func(t *testing.T, port uint16, state byte, inode uint64, junk []byte) {
		line := fmt.Sprintf("   0: 0100007F:%04X 00000000:0000 %02X 00000000:00000000 00:00000000 00000000  1000        0 %d 1 0", port, state, inode)
		want := tcpSocket{netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port), netip.MustParseAddrPort("0.0.0.0:0"), state == 0x0A, inode}
		if got, ok := parseTCPSocket([]byte(line)); !ok || got != want {
			t.Errorf("%q: %+v, %v", line, got, ok)
		}
		if s, ok := parseTCPSocket(junk); ok && !s.local.IsValid() {
			t.Errorf("from %q: %+v", junk, s)
		}
	})
}

// TestTCPSockets: the files below /proc/PID/net are read, those of IPv6 too if there are any.
func TestTCPSockets(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(dir, "7", "net"), 0o755))
	lines := "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n" +
		"   0: 0100007F:1000 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 7 1 0\n" +
		"   2: 0100007F:1002 0100007F:1000 01 00000000:00000000 00:00000000 00000000  1000        0 9 1 0\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "7", "net", "tcp"), []byte(lines), 0o600))
	var got []uint64
	for s, err := range pidDir(dir + "/7/").tcpSockets() {
		if got = append(got, s.inode); err != nil || s.listens != (s.inode == 7) {
			t.Errorf("%+v, %v", s, err)
		}
	}
	if !slices.Equal(got, []uint64{7, 9}) {
		t.Errorf("%v", got)
	}
}

func TestParseBootTime(t *testing.T) {
	if got, err := parseBootTime([]byte("cpu  1 2\nbtime 1795201065\nprocesses 3\n")); err != nil || got.Unix() != 1795201065 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := parseBootTime([]byte("btime soon\n")); err == nil {
		t.Errorf("%v", got)
	}
}
