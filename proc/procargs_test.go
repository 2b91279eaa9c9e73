package proc

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

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
