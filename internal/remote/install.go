package remote

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
)

// Platform is what uname says of a host, such as "Linux x86_64".
type Platform string

// Go returns the name that Go has for the platform, such as linux/amd64; of another one what uname says.
func (p Platform) Go() string {
	names := map[Platform]string{
		"Linux x86_64": "linux/amd64", "Linux aarch64": "linux/arm64", "Linux arm64": "linux/arm64", "Darwin x86_64": "darwin/amd64", "Darwin arm64": "darwin/arm64",
	}
	if name, ok := names[p]; ok {
		return name
	}
	return string(p)
}

// Platform asks a host for its platform.
func (s SSH) Platform(ctx context.Context, destination string) (Platform, error) {
	words, err := s.shell(ctx, destination, "r=$(uname -sm)", nil)
	if err == nil && (words == "" || strings.ContainsFunc(words, func(r rune) bool { return r < ' ' || r > '~' })) {
		err = &Error{Shell, "uname says nothing that is known"}
	}
	return Platform(words), err
}

// Install writes a program of so many bytes to ~/.local/bin/agentctl of a host. It is complete and has run under another name before it takes its
// place.
func (s SSH) Install(ctx context.Context, destination string, program *os.File, size int64) error {
	s.silence = installTime
	script := "umask 022; d=$HOME/.local/bin; t=$d/." + newMarker() + "; mkdir -p \"$d\" \"$t\" && cat > \"$t/agentctl\" && " +
		"test \"$(wc -c < \"$t/agentctl\")\" -eq " + strconv.FormatInt(size, 10) + " && chmod 755 \"$t/agentctl\" && \"$t/agentctl\" version >/dev/null && " +
		"mv -f \"$t/agentctl\" \"$d/agentctl\" && r=done; rm -rf \"$t\""
	result, err := s.shell(ctx, destination, script, program)
	if err == nil && result != "done" {
		return errors.New("the program could not be written to ~/.local/bin there, or does not run")
	}
	return err
}

// shell runs a script of sh on a host and returns its variable r. The script reads stdin if that is not nil.
func (s SSH) shell(ctx context.Context, destination, script string, stdin *os.File) (string, error) {
	marker := newMarker()
	p, err := s.start(destination, inShell(script+"; echo; echo "+marker+" $r"), stdin, io.Discard)
	if err != nil {
		return "", err
	}
	defer context.AfterFunc(ctx, func() { p.end(nil) })()
	var banner tail
	result, err := skipBanner(p.stdout, marker, &banner)
	return result, p.finish(ctx, err, &banner)
}
