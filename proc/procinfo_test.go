package proc

import (
	"bytes"
	"encoding/binary"
	"net/netip"
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

func TestFDs(t *testing.T) {
	raw := slices.Concat(structure(8, field{0, int32(3)}, field{4, uint32(1)}), structure(8, field{0, int32(20)}, field{4, uint32(2)}))
	if got := parseFDs(raw); !slices.Equal(got, []fd{{3, fdVnode}, {20, fdSocket}}) {
		t.Errorf("%+v", got)
	}
	if got := parseFDs(raw[:15]); len(got) != 1 {
		t.Errorf("of a torn list: %+v", got)
	}
}

func TestCwd(t *testing.T) {
	if got, err := parseCwd(structure(2352, field{152, "/Users/me/w"})); err != nil || got != "/Users/me/w" {
		t.Errorf("%q, %v", got, err)
	}
	longest := strings.Repeat("x", 1024) // without room for its NUL
	if got, err := parseCwd(structure(2352, field{152, longest})); err != nil || got != longest {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if got, err := parseCwd(make([]byte, 2351)); err == nil {
		t.Errorf("of a torn answer: %q", got)
	}
}

func TestFile(t *testing.T) {
	for flags, writable := range map[uint32]bool{1: false, 2: true, 3: true, 1 | 8: false, 3 | 8: true} { // 8 is O_APPEND
		raw := structure(1200, field{0, flags}, field{8, int64(35952)}, field{176, "/Users/me/log"})
		want := OpenFile{FD: 7, Path: "/Users/me/log", Writable: writable, Offset: 35952}
		if got, err := parseFile(7, raw); err != nil || got != want {
			t.Errorf("flags %d: %+v, %v", flags, got, err)
		}
	}
	if got, err := parseFile(7, make([]byte, 1199)); err == nil {
		t.Errorf("of a torn answer: %+v", got)
	}
}

func TestSocket(t *testing.T) {
	for _, c := range []struct {
		kind, state int32
		ok          bool
	}{{2, 1, true}, {2, 4, false}, {1, 1, false}, {3, 1, false}} {
		raw := structure(792, field{256, c.kind}, field{268, [2]byte{0x10, 0x01}}, field{344, c.state})
		port, ok, err := parseSocket(raw)
		if err != nil || ok != c.ok || ok && port != 0x1001 {
			t.Errorf("%+v: %d, %v, %v", c, port, ok, err)
		}
	}
	if _, _, err := parseSocket(make([]byte, 791)); err == nil {
		t.Error("a torn answer is no error")
	}
}

// TestTask: hours of ticks make hours, on both time bases there are.
func TestTask(t *testing.T) {
	raw := structure(96, field{8, int64(3 << 30)}, field{16, uint64(24e6 * 3600)}, field{24, uint64(12e6)})
	want := Usage{CPU: time.Hour + 500*time.Millisecond, Memory: 3 << 30}
	if got, err := parseTask(raw, 24e6); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	raw = structure(96, field{8, int64(4096)}, field{16, uint64(1_000_000_007)}, field{24, uint64(0)})
	if got, err := parseTask(raw, 1e9); err != nil || got != (Usage{CPU: 1_000_000_007, Memory: 4096}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := parseTask(raw, 0); err == nil {
		t.Errorf("without a time base: %+v", got)
	}
	if got, err := parseTask(raw[:95], 1e9); err == nil {
		t.Errorf("of a torn answer: %+v", got)
	}
}

// FuzzProcinfo: any answer of the kernel gives a result or an error, and paths and ports that can be.
func FuzzProcinfo(f *testing.F) {
	f.Add([]byte{})
	f.Add(structure(2352, field{152, "/x"}))
	f.Add(structure(792, field{256, int32(2)}, field{344, int32(1)}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got := parseFDs(raw); len(got) != len(raw)/8 {
			t.Errorf("%d descriptors in %d bytes", len(got), len(raw))
		}
		if got, err := parseCwd(raw); (err != nil) != (len(raw) < 2352) || strings.ContainsRune(got, 0) {
			t.Errorf("%q, %v", got, err)
		}
		if got, err := parseFile(0, raw); (err != nil) != (len(raw) < 1200) || strings.ContainsRune(got.Path, 0) {
			t.Errorf("%+v, %v", got, err)
		}
		if port, _, err := parseSocket(raw); (err != nil) != (len(raw) < 792) || port < 0 || port > 65535 {
			t.Errorf("%d, %v", port, err)
		}
	})
}

// TestEnds: both ends of a connection, of a server for IPv4 alone, and of one that takes IPv4 on a socket of IPv6.
func TestEnds(t *testing.T) {
	ours, theirs := netip.MustParseAddrPort("127.0.0.1:4097"), netip.MustParseAddrPort("127.0.0.1:50000")
	v4, mapped := [16]byte{12: 127, 15: 1}, [16]byte{10: 0xff, 11: 0xff, 12: 127, 15: 1}
	for name, c := range map[string]struct {
		kind    int32
		flags   byte
		address [16]byte
		want    bool
	}{
		"IPv4": {2, 1, v4, true}, "IPv4 on IPv6": {2, 3, mapped, true}, "mapped": {2, 2, mapped, true},
		"IPv6": {2, 2, [16]byte{15: 1}, false}, "UDP": {1, 1, v4, false},
	} {
		raw := structure(792, field{256, c.kind}, field{264, [2]byte{0xc3, 0x50}}, field{268, [2]byte{0x10, 0x01}}, field{288, c.flags},
			field{296, c.address}, field{312, c.address})
		local, remote, err := parseEnds(raw)
		if got := local == ours && remote == theirs; err != nil || got != c.want {
			t.Errorf("%s: %v, %v, %v", name, local, remote, err)
		}
	}
	if _, _, err := parseEnds(make([]byte, 791)); err == nil {
		t.Error("a torn answer is no error")
	}
}

// procargs2 writes a block as macOS does.
func procargs2(exec string, padding int, args, environ []string) []byte {
	raw := binary.LittleEndian.AppendUint32(nil, uint32(len(args)))
	raw = append(raw, exec+"\x00"+strings.Repeat("\x00", padding)...)
	for _, s := range slices.Concat(args, environ) {
		raw = append(raw, s+"\x00"...)
	}
	return append(raw, "\x00executable_path=/x\x00ptr_munge=\x00"...)
}

func TestProcargs(t *testing.T) {
	for _, c := range []struct {
		exec    string
		padding int
		args    []string
		environ []string
	}{
		{"/opt/agents/bin/claude", 5, []string{"claude", "-p", "", "two words"}, []string{"HOME=/Users/me", "CLAUDE_CONFIG_DIR=/x"}},
		{"./claude", 0, []string{"claude"}, []string{"A=1"}},
		{"/bin/launchd", 3, []string{"launchd"}, nil}, // the environment is withheld
		{"/bin/x", 1, nil, nil},
	} {
		got, err := parseProcargs(procargs2(c.exec, c.padding, c.args, c.environ))
		environ := ""
		for _, s := range c.environ {
			environ += s + "\x00"
		}
		if err != nil || got.exec != c.exec || !slices.Equal(got.args, c.args) || c.args != nil && string(got.environ) != environ {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
}

// FuzzProcargs: the arguments written are read, a torn block never gives more than was in it.
func FuzzProcargs(f *testing.F) {
	f.Add("/bin/claude", 3, "claude", "-p", "HOME=/x", 20, []byte{255, 255, 255, 255, 0})
	f.Add("", 0, "a", "", "", 5, []byte{1, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, exec string, padding int, first, second, variable string, cut int, junk []byte) {
		for _, s := range []*string{&exec, &first, &second, &variable} {
			*s, _, _ = strings.Cut(*s, "\x00")
		}
		if first == "" || variable == "" {
			return // an empty first argument passes for padding, an empty variable for the end
		}
		raw := procargs2(exec, padding&15, []string{first, second}, []string{variable})
		got, err := parseProcargs(raw)
		if err != nil || got.exec != exec || !slices.Equal(got.args, []string{first, second}) || string(got.environ) != variable+"\x00" {
			t.Errorf("%q: %+v, %v", raw, got, err)
		}
		if cut >= 0 && cut < len(raw) {
			if torn, err := parseProcargs(raw[:cut]); err == nil && (torn.exec != exec || !slices.Equal(torn.args, got.args)) {
				t.Errorf("torn at %d: %+v", cut, torn)
			}
		}
		if got, err := parseProcargs(junk); err == nil && len(got.args) > len(junk) {
			t.Errorf("from %q: %+v", junk, got)
		}
	})
}
