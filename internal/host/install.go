package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
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
	marker := newMarker()
	words, err := s.shell(ctx, destination, marker, "echo; echo "+marker+" $(uname -sm)", nil, answerTime)
	if err != nil {
		return "", err
	}
	if strings.IndexFunc(words, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 || words == "" {
		return "", &CutError{"uname says nothing that is known"}
	}
	return Platform(words), nil
}

// Install writes a program of so many bytes to ~/.local/bin/agentctl of a host. It is complete and has run under another name before it takes its
// place.
func (s SSH) Install(ctx context.Context, destination string, program *os.File, size int64) error {
	marker := newMarker()
	script := "umask 022; d=$HOME/.local/bin; t=$d/." + marker + "; mkdir -p \"$d\" \"$t\" && cat > \"$t/agentctl\" && " +
		"test \"$(wc -c < \"$t/agentctl\")\" -eq " + strconv.FormatInt(size, 10) + " && chmod 755 \"$t/agentctl\" && \"$t/agentctl\" version >/dev/null && " +
		"mv -f \"$t/agentctl\" \"$d/agentctl\" && r=done; rm -rf \"$t\"; echo; echo " + marker + " $r"
	result, err := s.shell(ctx, destination, marker, script, program, installTime)
	if err == nil && result != "done" {
		return errors.New("the program could not be written to ~/.local/bin there, or does not run")
	}
	return err
}

// shell runs a script of sh on a host and returns what follows the marker. The script has neither single quotes nor line breaks, and reads stdin if
// that is not nil.
func (s SSH) shell(ctx context.Context, destination, marker, script string, stdin *os.File, within time.Duration) (string, error) {
	p, err := s.start(destination, "exec sh -c '"+script+"'", stdin)
	if err != nil {
		return "", err
	}
	if stdin == nil {
		_ = p.stdin.Close()
	}
	defer context.AfterFunc(ctx, p.end)()
	alarm := time.AfterFunc(within, p.end)
	answer, found := "", false
	lines := bufio.NewScanner(io.LimitReader(p.stdout, maxBanner))
	for !found && lines.Scan() {
		answer, found = strings.CutPrefix(lines.Text(), marker)
	}
	late := !alarm.Stop()
	ended := p.finish()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case !found && late:
		return "", ErrSilent
	case !found && lines.Err() != nil:
		return "", &CutError{fmt.Sprintf("its answer is not understood: %v", lines.Err())}
	case !found:
		return "", &UnreachableError{p.reason(ended)}
	}
	return strings.TrimSpace(answer), nil
}
