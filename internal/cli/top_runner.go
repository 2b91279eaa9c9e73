package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"

	"agentctl/internal/render"
	"agentctl/internal/terminal"
	"agentctl/lock/githooks"
	"agentctl/proc"
)

// runner runs commands of this program.
type runner struct {
	verb    TopVerb
	factory Factory
	// arguments are added to each command line.
	arguments []string
	// hosts are the flags that name the hosts of the table; commands about no session take them.
	hosts []string
	// colorless: the commands print no colours.
	colorless bool
}

// complete adds the arguments that all commands have, before a -- that ends the flags.
func (r runner) complete(args []string) []string {
	end := slices.Index(args, "--")
	if end < 0 {
		end = len(args)
	}
	return slices.Concat(args[:end], r.arguments, args[end:])
}

// commandLine is how a command line is shown, such that a shell understands it.
func (r runner) commandLine(args []string) string {
	words := []string{Program}
	for _, arg := range r.complete(args) {
		words = append(words, quoted(arg))
	}
	return render.Sanitize(strings.Join(words, " "))
}

// quoted quotes a word for a shell if it needs to be.
func quoted(word string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:@=,+~", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return githooks.ShellQuote(word)
}

// capture runs a command in this process and returns what it prints for a terminal of this width, and its exit code. Nobody can
// type anything into it.
func (r runner) capture(ctx context.Context, width int, args []string) (lines []string, exit int) {
	var out bytes.Buffer
	f := r.factory
	const noPager = 1 << 30 // lines of the terminal: more than any text has
	f.Stdin, f.Stdout, f.Stderr = strings.NewReader(""), &out, &out
	f.Width, f.Height, f.Interactive, f.Terminal = width, noPager, false, false
	if r.colorless {
		getenv := f.Getenv
		f.Getenv = func(key string) string {
			if key == "NO_COLOR" {
				return "1"
			}
			return getenv(key)
		}
	}
	exit = r.verb(ctx, f, r.complete(args)...)
	text := strings.TrimRight(out.String(), "\n")
	if text == "" {
		return nil, exit
	}
	return strings.Split(text, "\n"), exit
}

// foreground runs a command as a process of its own, which has the terminal. If it fails, the user can read why.
func (r runner) foreground(ctx context.Context, args []string) {
	in, out := r.factory.Stdin.(*os.File), r.factory.Stdout.(*os.File) //nolint:forcetypeassert // top has checked it
	path, err := r.factory.Executable()
	if err == nil {
		cmd := exec.Command(path, r.complete(args)...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = in, out, r.factory.Stderr, r.factory.Environ
		err = proc.RunJob(ctx, cmd, false, GracePeriod)
	}
	if err != nil && ctx.Err() == nil {
		const end = "; Enter returns to agentctl top "
		text := r.commandLine(args) + ": " + ErrorText(err)
		_, _ = out.WriteString("\n")
		terminal.WaitEnter(ctx, in, out, func(columns int) string { return render.Truncate(text, max(0, columns-len(end))) + end })
	}
}
