package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
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

func (o *PromptOptions) Flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "prompt", Aliases: []string{"p"}, Usage: "the prompt `TEXT`; - reads it from stdin", Destination: &o.Prompt},
		&cli.StringFlag{Name: "prompt-file", Usage: "read the prompt from `FILE`", Destination: &o.PromptFile},
		&cli.StringFlag{Name: "spec", Usage: "put `FILE` before the prompt, as its specification", Destination: &o.Spec},
		&cli.StringSliceFlag{Name: "file", Usage: "put `FILE` before the prompt, as context (may be repeated)", Destination: &o.files},
		&cli.Int64Flag{Name: "max-file-size", Usage: "limit each --spec and --file to `BYTES`", Value: defaultMaxFileSize, Destination: &o.maxFileSize},
	}
}

// Text returns the prompt: the specification, the context files, the session of [PromptOptions.ReadFrom] and the request, in this
// order. Names of files are relative to dir.
func (o *PromptOptions) Text(ctx context.Context, f Factory, verb, dir string) (string, error) {
	asked, err := o.read(ctx, f, verb)
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(asked) == "" {
		return "", UsageError(verb, "the prompt is empty")
	}
	var parts []string
	names := o.files.Value()
	if o.Spec != "" {
		names = append([]string{o.Spec}, names...)
	}
	for _, name := range names {
		block, err := o.block(verb, dir, name)
		if err != nil {
			return "", err
		}
		parts = append(parts, block)
	}
	if o.quoted != "" {
		parts = append(parts, o.quoted)
	}
	text := strings.Join(append(parts, asked), "\n\n")
	if i := strings.IndexByte(text, 0); i >= 0 {
		return "", UsageError(verb, "the prompt has a NUL byte, at offset %d: it must be text", i)
	}
	return text, nil
}

// None reports whether no flag gives a prompt.
func (o *PromptOptions) None() bool {
	return o.Prompt == "" && !o.Literal && o.PromptFile == "" && o.Spec == "" && len(o.files.Value()) == 0
}

// read reads the request from the argument, a file or stdin.
func (o *PromptOptions) read(ctx context.Context, f Factory, verb string) (string, error) {
	switch {
	case o.Prompt != "" && o.PromptFile != "":
		return "", UsageError(verb, "--prompt and --prompt-file cannot be used together")
	case o.PromptFile != "":
		// The user's own file may be a pipe: bash makes one of <(command).
		text, err := fsread.ReadStream(ctx, promptLimit, func() (io.ReadCloser, error) { return os.Open(o.PromptFile) })
		switch {
		case errors.Is(err, fsread.ErrTooLarge):
			return "", UsageError(verb, "--prompt-file: %s has more than %d MiB: give a shorter prompt", o.PromptFile, promptLimit>>20)
		case err != nil && ctx.Err() == nil:
			return "", UsageError(verb, "--prompt-file: %v", err)
		}
		return string(text), err
	case o.Prompt == "-" && !o.Literal:
		text, err := fsread.ReadStream(ctx, promptLimit, func() (io.ReadCloser, error) { return io.NopCloser(f.Stdin), nil })
		switch {
		case errors.Is(err, fsread.ErrTooLarge):
			return "", UsageError(verb, "the prompt on stdin has more than %d MiB: give a shorter one", promptLimit>>20)
		case err != nil && ctx.Err() == nil:
			return "", fmt.Errorf("reading the prompt from stdin: %w", err)
		}
		return string(text), err
	case o.Prompt == "" && !o.Literal:
		return "", UsageError(verb, "no prompt given: use -p TEXT, -p - for stdin, or --prompt-file FILE")
	}
	return o.Prompt, nil
}

// block returns a context file with its name around it.
func (o *PromptOptions) block(verb, dir, name string) (string, error) {
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
	if info.Size() > o.maxFileSize {
		return "", UsageError(verb, "%s has %d bytes, more than --max-file-size %d", path, info.Size(), o.maxFileSize)
	}
	text, err := fsread.ReadFile(path, min(o.maxFileSize, promptLimit))
	switch {
	case errors.Is(err, fsread.ErrTooLarge):
		return "", UsageError(verb, "%s has more than %d bytes: give a shorter file", path, min(o.maxFileSize, promptLimit))
	case err != nil:
		return "", UsageError(verb, "%v", err)
	}
	if shown, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(shown) {
		name = shown
	}
	return discover.FormatContextFile(name, string(text)), nil
}
