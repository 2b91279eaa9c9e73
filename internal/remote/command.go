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
	"strconv"
	"strings"
	"sync/atomic"
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
	if n, _ := fmt.Sscan(caller, &marker, &r.Schema, &long, &input, &r.Offset, &r.Zone); n < 5 || long < 0 || input < 0 || long+input > maxInput {
		return 0, fmt.Errorf("%s=%q is not understood", CallerVariable, caller)
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

// Error says why the answer of a host is missing or incomplete.
type Error struct {
	Kind Kind
	Text string
}

func (e *Error) Error() string { return e.Text }

// Kind is what can be done about an [Error].
type Kind int

const (
	Unreachable Kind = iota // ssh does not reach the host
	Shell                   // the login shell does not run the command
	Missing                 // there is no agentctl
	Version                 // its agentctl speaks another version of the JSON contract
	Silent                  // the host has stopped answering
	Cut                     // the connection, or the program there, has ended before the answer was complete
)

// Answer is how a request has ended.
type Answer struct {
	// Hello describes the program on the host, if it has sent its hello.
	Hello Hello
	// Code is its exit code.
	Code int
}

// maxBanner bounds what a login shell may print before the answer, in bytes.
const maxBanner = 256 << 10

// Run runs a request on a host, and returns when ssh has ended. When ctx ends, Run ends the command on the host, and passes on what it still prints.
// Errors: [Error]; those of the writers and of the context.
func (s SSH) Run(ctx context.Context, destination string, r Request, stdout, stderr io.Writer) (a Answer, err error) {
	marker := newMarker()
	command, stdin := r.command(marker)
	p, err := s.start(destination, command, nil, stderr)
	if err != nil {
		return a, err
	}
	var answered atomic.Bool
	defer context.AfterFunc(ctx, func() {
		if p.hangUp(); !answered.Load() {
			p.end(nil)
		}
	})()
	go func() { _, _ = p.stdin.Write(stdin) }() // an error shows in what comes back
	var banner tail
	a, err = receive(p.stdout, marker, r.Schema, &banner, stdout, func() { answered.Store(true) })
	return a, p.finish(ctx, err, &banner)
}

// receive reads an answer. An error without a text is explained by what ssh says. answered is called once the answer has begun.
func receive(in *bufio.Reader, marker, schema string, banner *tail, out io.Writer, answered func()) (a Answer, err error) {
	platform, err := skipBanner(in, marker, banner)
	if err != nil {
		return a, err
	}
	if platform != "" {
		return a, &Error{Missing, "it has no agentctl"}
	}
	line, err := in.ReadSlice('\n')
	words := strings.SplitN(strings.TrimSpace(string(line)), " ", 5)
	if err != nil || len(words) < 5 || words[0] != marker {
		return a, &Error{Version, "its agentctl is of a version that cannot be asked from here"}
	}
	if a.Hello = (Hello{words[1], words[2], words[3], words[4]}); a.Hello.Schema != schema {
		return a, &Error{Version, fmt.Sprintf("its agentctl %s prints %s, and this one reads %s", a.Hello.Version, a.Hello.Schema, schema)}
	}
	answered()
	end, err := copyUntil(out, in, marker)
	if err != nil {
		return a, err
	}
	code, err := strconv.ParseUint(end, 10, 8)
	if err != nil {
		return a, &Error{Kind: Cut}
	}
	a.Code = int(code)
	return a, nil
}

// skipBanner skips what a login shell prints, and returns what follows the marker.
func skipBanner(in *bufio.Reader, marker string, banner *tail) (string, error) {
	rest, err := copyUntil(writerFunc(func(text []byte) error {
		if banner.add(text) > maxBanner {
			return &Error{Shell, "its login shell prints more than can be an answer"}
		}
		return nil
	}), in, marker)
	if cut := (*Error)(nil); errors.As(err, &cut) && cut.Kind == Cut {
		err = &Error{Kind: Unreachable}
	}
	return rest, err
}

type writerFunc func([]byte) error

func (w writerFunc) Write(text []byte) (int, error) { return len(text), w(text) }

// copyUntil copies lines up to the one that begins with the marker, of which it returns the rest.
func copyUntil(out io.Writer, in *bufio.Reader, marker string) (rest string, err error) {
	for begins := true; ; {
		line, err := in.ReadSlice('\n')
		if text, ok := bytes.CutPrefix(line, []byte(marker)); ok && begins && err == nil {
			return string(bytes.TrimSpace(text)), nil
		}
		if _, err := out.Write(line); err != nil {
			return "", err
		}
		if begins = err == nil; err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return "", &Error{Kind: Cut}
		}
	}
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
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	return text != "" && text[0] != '-' && len(text) <= maxName && strings.Trim(text, plain+special) == ""
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
