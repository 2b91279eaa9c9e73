package proc

import (
	"errors"
	"io"
	"maps"
	"strings"
	"testing"
	"testing/iotest"
)

// FuzzSelectEnv: a named variable is returned as it was written, whatever is around it and however it is read.
func FuzzSelectEnv(f *testing.F) {
	f.Add("CLAUDE_CONFIG_DIR", "/home/me/.claude", "SECRET=x", "CODEX_HOME=")
	f.Add("A", "b=c\nd", "A", "AA=A=1")
	f.Add("HOME", "", "", "=")
	f.Fuzz(func(t *testing.T, key, value, before, after string) {
		key = strings.NewReplacer("\x00", "", "=", "").Replace(key)
		value, _, _ = strings.Cut(value, "\x00")
		if strings.HasPrefix(before, key+"=") || strings.Contains(before, "\x00"+key+"=") {
			return // it would be the first of two
		}
		environ := before + "\x00" + key + "=" + value + "\x00" + after
		for name, r := range map[string]io.Reader{
			"whole":    strings.NewReader(environ),
			"bytewise": iotest.OneByteReader(strings.NewReader(environ)),
		} {
			if got, err := selectEnv(r, []string{key}); err != nil || !maps.Equal(got, map[string]string{key: value}) {
				t.Errorf("%s: %q gives %q, %v", name, environ, got, err)
			}
		}
	})
}

func TestSelectEnvIsBounded(t *testing.T) {
	endless := io.MultiReader(strings.NewReader("A=1\x00"), endlessly{})
	if got, err := selectEnv(endless, []string{"A"}); err != nil || got["A"] != "1" {
		t.Errorf("endless environment: %v, %v", got, err)
	}
	if got, err := selectEnv(iotest.ErrReader(io.ErrUnexpectedEOF), []string{"A"}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("unreadable: %v, %v", got, err)
	}
}

func TestSelectEnvTakesTheFirstOfTwo(t *testing.T) {
	if got, err := selectEnv(strings.NewReader("A=1\x00A=2\x00"), []string{"A"}); err != nil || got["A"] != "1" {
		t.Errorf("%v, %v", got, err)
	}
}

// endlessly is an input of variables that has no end.
type endlessly struct{}

func (endlessly) Read(p []byte) (int, error) {
	return copy(p, "B="+strings.Repeat("x", 4000)+"\x00"), nil
}
