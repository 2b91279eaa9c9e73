package proc

import (
	"maps"
	"strings"
	"testing"
)

// FuzzSelectEnv: a named variable is returned as it was written, whatever is around it.
func FuzzSelectEnv(f *testing.F) {
	f.Add("CLAUDE_CONFIG_DIR", "/home/me/.claude", "SECRET=x", "CODEX_HOME=")
	f.Add("A", "b=c\nd", "A", "AA=A=1")
	f.Add("A", "1", "B", "A=2")
	f.Add("HOME", "", "", "=")
	f.Fuzz(func(t *testing.T, key, value, before, after string) {
		key = strings.NewReplacer("\x00", "", "=", "").Replace(key)
		value, _, _ = strings.Cut(value, "\x00")
		if strings.HasPrefix(before, key+"=") || strings.Contains(before, "\x00"+key+"=") {
			return // it would be the first of two
		}
		environ := before + "\x00" + key + "=" + value + "\x00" + after
		if got := selectEnv([]byte(environ), []string{key}); !maps.Equal(got, map[string]string{key: value}) {
			t.Errorf("%q gives %q", environ, got)
		}
	})
}
