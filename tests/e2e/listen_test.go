package e2e_test

import (
	"fmt"
	"net"
	"os"
)

// listen is the program of a server that a tool starts: it listens on a port, says in a file on which, and lives on.
func listen(file string) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return printError(err)
	}
	draft := file + ".draft" // whoever waits for the file finds it whole
	if err := os.WriteFile(draft, fmt.Appendln(nil, l.Addr().(*net.TCPAddr).Port), 0o600); err != nil {
		return printError(err)
	}
	if err := os.Rename(draft, file); err != nil {
		return printError(err)
	}
	for {
		if _, err := l.Accept(); err != nil {
			return printError(err)
		}
	}
}
