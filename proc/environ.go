package proc

import (
	"bytes"
	"slices"
)

// selectEnv returns the named variables of an environment, which is NUL-terminated "KEY=value" strings. The first of two
// equal keys counts, as for getenv(3).
func selectEnv(environ []byte, keys []string) map[string]string {
	found := map[string]string{}
	for variable := range bytes.SplitSeq(environ, []byte{0}) {
		key, value, ok := bytes.Cut(variable, []byte{'='})
		if _, twice := found[string(key)]; ok && !twice && slices.Contains(keys, string(key)) {
			found[string(key)] = string(value)
		}
	}
	return found
}
