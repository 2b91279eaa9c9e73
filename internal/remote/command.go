// Package remote runs agentctl on other machines by OpenSSH: the arguments are in the command line there, input goes over stdin, and what the
// program prints comes back as it is. It listens nowhere and stores nothing.
package remote

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"
)

// CallerVariable is the environment variable by which an agentctl on another machine passes its request. Its value is
//
//	MARKER SCHEMA ARGS INPUT OFFSET ZONE
//
// The command prints MARKER and what it is, its answer, and MARKER with its exit code. If it does not print the JSON of SCHEMA, it does nothing. On stdin it
// first reads ARGS bytes of further arguments, each terminated by NUL, then INPUT bytes of input, then one byte. Anything that follows, also the end, cancels the command. Times
// are those of ZONE or, if the host does not know that zone, those OFFSET seconds east of UTC.
const CallerVariable = "AGENTCTL_CALLER"

// Request says what a host is to run.
type Request struct {
	// Schema is the $id of the JSON that the caller understands. A program that prints another one runs nothing.
	Schema string
	// Args are the arguments, without the program's name.
	Args []string
	// Stdin is what the program reads there.
	Stdin []byte
	// Zone is the name of the caller's time zone, "" if it is not known, and Offset is its distance from UTC in seconds.
	Zone   string
	Offset int
}

// Location returns the time zone of the caller.
func (r Request) Location() *time.Location {
	if zone, err := time.LoadLocation(r.Zone); err == nil && r.Zone != "" {
		return zone
	}
	return time.FixedZone("", r.Offset)
}

// Hello describes a program. It is printed before the program runs anything.
type Hello struct{ Schema, OS, Arch, Version string }

const (
	// maxWords bounds the arguments in a command line, in bytes: csh takes no long words.
	maxWords = 2048
	// maxInput bounds the arguments and the input on stdin, in bytes: a prompt of the greatest length.
	maxInput = 96 << 20
	// remotePath sets the PATH in which agentctl is found. A shell that is neither interactive nor a login shell seldom has ~/.local/bin there.
	remotePath = "PATH=$PATH:$HOME/.local/bin; export PATH; "
	// unlessFound begins the commands for a host without agentctl.
	unlessFound = "command -v agentctl >/dev/null 2>&1 || "
)

// newMarker returns a word that no login shell prints. It begins the lines before and after an answer.
func newMarker() string { return "agentctl-" + rand.Text() }

// command returns the command for a host's login shell that runs the request there, and its stdin. All users of a host can read its command lines, so that
// input goes by stdin; so do the arguments behind the verb if they are long.
func (r Request) command(marker string) (command string, stdin []byte) {
	args, long := append([]string{askedFlag}, r.Args...), ""
	words := spell(args)
	if len(words) > maxWords {
		words, long = spell(args[:2]), strings.Join(r.Args[1:], "\x00")+"\x00"
	}
	zone := r.Zone
	if strings.ContainsFunc(zone, isUnsafe) {
		zone = ""
	}
	caller := fmt.Sprint(marker, " ", r.Schema, " ", len(long), " ", len(r.Stdin), " ", r.Offset, " ", zone)
	command = inShell(unlessFound + "{ echo; echo " + marker + " $(uname -sm); exit 127; }; echo; echo " + marker +
		"; export " + CallerVariable + `="` + caller + `"; ` + words)
	return command, append(append([]byte(long), r.Stdin...), '\n')
}

// TerminalCommand returns the command line that runs a command on a host in the terminal of the caller, as if its user had typed it there. ssh may
// ask for what it needs, and its escape character works. A host without agentctl says so on stderr, and ends with the exit code missing.
func (s SSH) TerminalCommand(t Target, args []string, missing int) []string {
	command := inShell(fmt.Sprintf("%s{ echo \"agentctl: error: %s has no agentctl\" >&2; echo \"hint: agentctl host install %s copies this program there\" >&2; exit %d; }; %s",
		unlessFound, t.Name, t.Name, missing, spell(args)))
	return append(append([]string{s.Path, "-t"}, s.flags()...), "--", t.Destination, command)
}

// inShell returns a command that means the same in every login shell (sh, bash, zsh, fish, csh). The script has no single quote, line break, exclamation mark or double
// backslash.
func inShell(script string) string { return "exec sh -c '" + remotePath + script + "'" }

// spell returns the commands of sh that run agentctl with these arguments. What may mean something to a shell is an octal number for printf. The x keeps line breaks at
// the end.
func spell(args []string) string {
	var values, words strings.Builder
	for i, arg := range args {
		if arg != "" && !strings.ContainsFunc(arg, isUnsafe) {
			words.WriteString(" " + arg)
			continue
		}
		fmt.Fprintf(&values, `v%d=$(printf "`, i)
		for j, c := range []byte(arg) {
			if isUnsafe(rune(c)) || j == 0 { // a dash would begin a flag of printf
				fmt.Fprintf(&values, `\%03o`, c)
			} else {
				values.WriteByte(c)
			}
		}
		values.WriteString(`x"); `)
		fmt.Fprintf(&words, ` "${v%d%%x}"`, i)
	}
	return values.String() + "exec agentctl" + words.String()
}

// isUnsafe reports whether a character may mean something to a shell.
func isUnsafe(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./,:=@+", r)
}

// askedFlag precedes the verb in the command line for a host. A program that does not know [CallerVariable] refuses the flag, and runs
// nothing.
const askedFlag = "--asked"

// errOtherContract means that the caller does not read the JSON of this program.
var errOtherContract = errors.New("the agentctl that asks reads the JSON of another version")

// Serve answers the agentctl of another machine. caller is the value of [CallerVariable], args are the arguments of the command line. It runs nothing if it
// returns an error.
func Serve(ctx context.Context, caller string, args []string, in io.Reader, out io.Writer, hello Hello, run func(context.Context, Request) int) (code int, err error) {
	if len(args) < 2 || args[0] != askedFlag {
		return 0, fmt.Errorf("%s is set, and no command is asked for", CallerVariable)
	}
	r := Request{Args: args[1:]}
	var marker string
	var long, input int64
	if n, err := fmt.Sscan(caller, &marker, &r.Schema, &long, &input, &r.Offset, &r.Zone); n < 5 || long < 0 || input < 0 || long+input > maxInput {
		return 0, fmt.Errorf("%s=%q is not understood: %w", CallerVariable, caller, err)
	}
	if _, err := fmt.Fprintln(out, marker, hello.Schema, hello.OS, hello.Arch, hello.Version); err != nil {
		return 0, err
	}
	if r.Schema != hello.Schema {
		return 0, errOtherContract
	}
	var text bytes.Buffer
	if _, err := io.CopyN(&text, in, long+input); err != nil {
		return 0, fmt.Errorf("reading the input: %w", err)
	}
	if long > 0 {
		r.Args = append(r.Args, strings.Split(strings.TrimSuffix(string(text.Next(int(long))), "\x00"), "\x00")...)
	}
	r.Stdin = text.Bytes()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		rest := bufio.NewReader(in)
		if _, err := rest.ReadByte(); err != nil {
			return // ssh passes no stdin on (StdinNull)
		}
		_, _ = rest.ReadByte()
		cancel(errors.Join(context.Canceled, syscall.EPIPE)) // the caller no longer reads
	}()
	code = run(ctx, r)
	_, err = fmt.Fprintf(out, "\n%s %d\n", marker, code)
	return code, err
}

// Local is the name of this machine among hosts.
const Local = "local"

// pidPrefix begins an argument that names a process, pid:4711.
const pidPrefix = "pid"

// Target is a machine.
type Target struct {
	// Name is what the user calls it; [Local] is this machine.
	Name string
	// ConnectTimeout is how long ssh may take to reach it, to the second.
	ConnectTimeout time.Duration
	// Destination is what ssh is given: a name of its configuration, user@host, or a URI.
	Destination string
}

func (t Target) IsLocal() bool { return t.Name == Local }

// maxName bounds the name of a host, in bytes.
const maxName = 255

// hasOnly reports whether a text is not empty, does not begin with a dash, which ssh would take for a flag, and has only letters, digits, dots, dashes,
// underscores and the characters of special. A shell, an ID or a list gives none of them another meaning.
func hasOnly(text, special string) bool {
	for _, r := range text {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-"+special, r) {
			return false
		}
	}
	return text != "" && text[0] != '-' && len(text) <= maxName
}

// CheckName returns an error unless name may be the name of a host.
func CheckName(name string) error {
	if !hasOnly(name, "@+") || name == pidPrefix || strings.HasPrefix(name, "@") || strings.HasSuffix(name, "@") {
		return fmt.Errorf("%q is not the name of a host: use a name of ~/.ssh/config, user@host, or a name of [hosts] in the configuration", name)
	}
	return nil
}

// CheckDestination returns an error unless text may be given to ssh as its destination.
func CheckDestination(text string) error {
	if !hasOnly(strings.TrimPrefix(text, "ssh://"), "@+:%[]") {
		return fmt.Errorf("%q is not a destination for ssh: use a name of ~/.ssh/config, user@host or ssh://user@host:port", text)
	}
	return nil
}

// SplitID splits an argument H:ID. ok is false for the argument of a session on this machine, such as an ID, pid:4711 or ID@/a:b.
func SplitID(arg string) (name, id string, ok bool) {
	name, id, ok = strings.Cut(arg, ":")
	if !ok || id == "" || CheckName(name) != nil {
		return "", arg, false
	}
	return name, id, true
}
