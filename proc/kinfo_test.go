package proc

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"
)

// field is bytes at an offset of a structure of the kernel.
type field struct {
	at    int
	value any // of fixed size, little-endian; or a string
}

// structure makes a structure of the given size, filled with a byte that is not zero where no field is.
func structure(size int, fields ...field) []byte {
	raw := bytes.Repeat([]byte{0xEE}, size)
	for _, f := range fields {
		if text, ok := f.value.(string); ok {
			copy(raw[f.at:], text+"\x00")
			continue
		}
		value, err := binary.Append(nil, binary.LittleEndian, f.value)
		if err != nil {
			panic(err)
		}
		copy(raw[f.at:], value)
	}
	return raw
}

// kinfoProc is a process whose controlling terminal is the device 16,3. The offsets are written out here a second time: XNU's own, not
// this package's constants.

func kinfoProc(pid, parent, group int32, uid uint32, state byte, name string, seconds int64, micros int32) []byte {
	return structure(648, field{0, seconds}, field{8, micros}, field{36, state}, field{40, pid},
		field{243, name}, field{420, uid}, field{560, parent}, field{564, group}, field{572, int32(16<<24 | 3)})
}

func TestKinfo(t *testing.T) {
	raw := slices.Concat(
		kinfoProc(501, 1, 500, 502, 2, "claude", 1795201065, 42),
		kinfoProc(502, 501, 500, 502, 5, "0123456789abcdef", 1795201066, 999_999),
	)
	got, err := parseKinfos(raw)
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	want := Process{
		ID: ID{501, "1795201065.000042"}, Parent: 1, Group: 500, UID: 502, TTYDevice: 16<<24 | 3, State: 'R', Name: "claude",
		Started: time.Unix(1795201065, 42_000).UTC(),
	}
	if got[0] != want {
		t.Errorf("got %+v, want %+v", got[0], want)
	}
	if zombie := got[1]; zombie.Alive() || zombie.Name != "0123456789abcdef" || zombie.ID.Birth != "1795201066.999999" {
		t.Errorf("%+v", zombie)
	}
	for stat, want := range map[byte]State{1: 'I', 2: 'R', 3: 'S', 4: 'T', 5: 'Z', 6: 0, 0: 0} {
		if got := kinfoStateLetter(stat); got != want {
			t.Errorf("p_stat %d: %q, want %q", stat, got, want)
		}
	}
}

// FuzzKinfo: what is written is read; a torn table is an error.
func FuzzKinfo(f *testing.F) {
	f.Add(int32(1), int32(0), uint32(501), byte(5), "launchd", int64(1), int32(999_999), 1)
	f.Add(int32(-1), int32(-1), uint32(1<<32-1), byte(255), strings.Repeat("x", 40), int64(-1), int32(-1), 647)
	f.Fuzz(func(t *testing.T, pid, parent int32, uid uint32, state byte, name string, seconds int64, micros int32, cut int) {
		name, _, _ = strings.Cut(name, "\x00")
		name = name[:min(len(name), 16)]
		raw := kinfoProc(pid, parent, pid, uid, state, name, seconds, micros)
		list, err := parseKinfos(slices.Concat(raw, raw))
		if err != nil || len(list) != 2 || list[0] != list[1] {
			t.Fatalf("%+v, %v", list, err)
		}
		if p := list[0]; p.ID.PID != int(pid) || p.Parent != int(parent) || p.UID != int(uid) || p.Name != name {
			t.Errorf("%+v", p)
		}
		if cut > 0 && cut < len(raw) {
			if list, err := parseKinfos(raw[:cut]); err == nil {
				t.Errorf("of %d bytes: %+v", cut, list)
			}
		}
	})
}
