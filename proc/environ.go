package proc

import (
	"bytes"
	"slices"
)

// maxArguments is the most bytes that are read of a command line or an environment. Linux allows 6 MiB for both together
// (execve(2)), macOS 1 MiB (ARG_MAX). What is longer is not what the process was started with.
const maxArguments = 6 << 20

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
