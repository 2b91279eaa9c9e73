package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/internal/export"
	"agentctl/internal/object"
	"agentctl/internal/remote"
)

// PromptOptions has the flags that make up the prompt.
type PromptOptions struct {
	Prompt, PromptFile, Spec string
	files                    cli.StringSlice
	maxFileSize              int64
	// From names the session whose messages are put before the prompt; "" for none. quoted is that context block.
	From, quoted string
	// Literal: the prompt is an argument, so that "-" does not mean stdin.
	Literal bool
}

// defaultMaxFileSize bounds each context file, in bytes.
const defaultMaxFileSize = 51200

// promptLimit bounds the prompt, and each context file whatever --max-file-size says, in bytes. No model reads as much.
const promptLimit = 16 << 20

func (p *PromptOptions) Flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "prompt", Aliases: []string{"p"}, Usage: "the prompt `TEXT`; - reads it from stdin", Destination: &p.Prompt},
		&cli.StringFlag{Name: "prompt-file", Usage: "read the prompt from `FILE`", Destination: &p.PromptFile},
		&cli.StringFlag{Name: "spec", Usage: "put `FILE` before the prompt, as its specification", Destination: &p.Spec},
		ListFlag("file", "put `FILE` before the prompt, as context", &p.files),
		&cli.Int64Flag{Name: "max-file-size", Usage: "limit each --spec and --file to `BYTES`", Value: defaultMaxFileSize, Destination: &p.maxFileSize},
	}
}

// Text returns the prompt: the specification, the context files, the session of [PromptOptions.ReadFrom] and the request, in this
// order. Names of files are relative to dir.
func (p *PromptOptions) Text(ctx context.Context, env Env, verb, dir string) (string, error) {
	asked, err := p.read(ctx, env, verb)
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(asked) == "" {
		return "", UsageError(verb, "the prompt is empty")
	}
	var parts []string
	names := p.files.Value()
	if p.Spec != "" {
		names = append([]string{p.Spec}, names...)
	}
	for _, name := range names {
		block, err := p.block(verb, dir, name)
		if err != nil {
			return "", err
		}
		parts = append(parts, block)
	}
	if p.quoted != "" {
		parts = append(parts, p.quoted)
	}
	text := strings.Join(append(parts, asked), "\n\n")
	if i := strings.IndexByte(text, 0); i >= 0 {
		return "", UsageError(verb, "the prompt has a NUL byte, at offset %d: it must be text", i)
	}
	return text, nil
}

// None reports whether no flag gives a prompt.
func (p *PromptOptions) None() bool {
	return p.Prompt == "" && !p.Literal && p.PromptFile == "" && p.Spec == "" && len(p.files.Value()) == 0
}

// read reads the request from the argument, a file or stdin.
func (p *PromptOptions) read(ctx context.Context, env Env, verb string) (string, error) {
	switch {
	case p.Prompt != "" && p.PromptFile != "":
		return "", UsageError(verb, "--prompt and --prompt-file cannot be used together")
	case p.PromptFile != "":
		// The user's own file may be a pipe: bash makes one of <(command).
		text, err := storage.ReadStream(ctx, promptLimit, func() (io.ReadCloser, error) { return os.Open(p.PromptFile) })
		switch {
		case errors.Is(err, storage.ErrTooLarge):
			return "", UsageError(verb, "--prompt-file: %s has more than %d MiB: give a shorter prompt", p.PromptFile, promptLimit>>20)
		case err != nil && ctx.Err() == nil:
			return "", UsageError(verb, "--prompt-file: %v", err)
		}
		return string(text), err
	case p.Prompt == "-" && !p.Literal:
		return readStdin(ctx, env, verb, "prompt")
	case p.Prompt == "" && !p.Literal:
		return "", UsageError(verb, "no prompt given: use -p TEXT, -p - for stdin, or --prompt-file FILE")
	}
	return p.Prompt, nil
}

// readStdin returns the text of stdin, which is the prompt or message of a command.
func readStdin(ctx context.Context, env Env, verb, what string) (string, error) {
	text, err := storage.ReadStream(ctx, promptLimit, func() (io.ReadCloser, error) { return io.NopCloser(env.Stdin), nil })
	switch {
	case errors.Is(err, storage.ErrTooLarge):
		return "", UsageError(verb, "the %s on stdin has more than %d MiB: give a shorter one", what, promptLimit>>20)
	case err != nil && ctx.Err() == nil:
		return "", fmt.Errorf("reading the %s from stdin: %w", what, err)
	}
	return string(text), err
}

// block returns a context file with its name around it.
func (p *PromptOptions) block(verb, dir, name string) (string, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", UsageError(verb, "%v", err)
	}
	if !info.Mode().IsRegular() {
		return "", UsageError(verb, "%s is not a regular file", path)
	}
	if info.Size() > p.maxFileSize {
		return "", UsageError(verb, "%s has %d bytes, more than --max-file-size %d", path, info.Size(), p.maxFileSize)
	}
	text, err := storage.ReadFile(path, min(p.maxFileSize, promptLimit))
	switch {
	case errors.Is(err, storage.ErrTooLarge):
		return "", UsageError(verb, "%s has more than %d bytes: give a shorter file", path, min(p.maxFileSize, promptLimit))
	case err != nil:
		return "", UsageError(verb, "%v", err)
	}
	if shown, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(shown) {
		name = shown
	}
	return discover.FormatContextFile(name, string(text)), nil
}

// ReadFrom sets the context block of --from: what was said in another session of any agent, on this machine or another one, without secrets, within
// --max-file-size.
func (p *PromptOptions) ReadFrom(ctx context.Context, c *Call, verb string) error {
	var calls []HostCall
	if _, _, ok := remote.SplitID(p.From); ok { // also with --host, an ID alone is of this machine
		var err error
		if calls, err = c.HostCalls([]string{p.From}, nil, false); err != nil {
			return err
		}
		calls[0].Flags = []string{"export", "--json", "--tools=" + toolsBrief}
	}
	limit := int(min(p.maxFileSize, math.MaxInt32))
	left := limit
	o := &exportOptions{tools: toolsBrief, enough: func(m object.Message) bool { left -= len(export.QuoteMessage(m)); return left < 0 }}
	exports, after, err := Collect(ctx, c, calls, func(ctx context.Context) ([]object.Export, []*discover.Warning, error) {
		return readExports(ctx, c, []string{p.From}, o)
	})
	if err == nil {
		err = after()
	}
	switch partial := errors.Is(err, ErrPartial); {
	case err != nil && (!partial || len(exports) == 0): // what could be read goes into the prompt
		return err
	case len(exports) != 1:
		sessions := make([]object.Session, len(exports))
		for i, e := range exports {
			sessions[i] = e.Session
		}
		return ambiguousOf(p.From, sessions)
	}
	name, quoted := exports[0].Session.Name(), export.Quote(exports[0], limit)
	if quoted == "" {
		return UsageError(verb, "--from: nothing was said in %s", name)
	}
	p.quoted = discover.FormatContextFile("session "+name, quoted)
	return nil
}
