package cli

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/internal/manual"
	"agentctl/internal/render"
)

func helpCommand(env Env) *cli.Command {
	var noPager bool
	return &cli.Command{
		Usage:              "show the manual of a command, or list the commands",
		ArgsUsage:          "[COMMAND]",
		CustomHelpTemplate: HelpTemplate("agentctl help launch", "agentctl help hooks install", "agentctl help agentctl"),
		Flags:              []cli.Flag{&cli.BoolFlag{Name: "no-pager", Usage: "do not use a pager", Destination: &noPager}},
		Action: func(c *cli.Context) error {
			text, err := textOf(c.Context, env, c.Args().Slice())
			if err != nil {
				return err
			}
			return env.Page(c.Context, text, noPager)
		},
	}
}

// Widths of a page in columns: of one that does not go to a terminal, and the largest, above which lines are hard to read.
const (
	plainWidth = 80
	maxWidth   = 100
)

func (env Env) helpWidth() int {
	if env.Width > 0 {
		return min(env.Width, maxWidth)
	}
	return plainWidth
}

// wrapHelp breaks the lines of a help text, but not those of examples. What is behind the name of a flag or a command stays in its column.
func (env Env) wrapHelp(text string) string {
	text, examples, found := strings.Cut(text, examplesTitle)
	named := regexp.MustCompile(`^   (\S.*?  +)?`)
	var b strings.Builder
	for line := range strings.Lines(text) {
		name := named.FindString(line)
		b.WriteString(render.WrapHanging(name, strings.TrimSuffix(line[len(name):], "\n"), env.helpWidth()) + "\n")
	}
	if found {
		b.WriteString(examplesTitle + examples)
	}
	return b.String()
}

// textOf returns what help prints for these words: the list of the commands if there are none.
func textOf(ctx context.Context, env Env, words []string) ([]byte, error) {
	app := NewApp(env)
	app.Commands = slices.DeleteFunc(app.Commands, func(c *cli.Command) bool { return c.Hidden })
	var b bytes.Buffer
	if len(words) == 0 {
		app.Writer = &b
		err := app.RunContext(ctx, []string{app.Name, "--help"})
		return []byte(env.wrapHelp(b.String())), err
	}
	names, err := pageNames(app, words)
	if err != nil {
		return nil, err
	}
	pages := Pages(app)
	for i, name := range names {
		if i > 0 {
			b.WriteString("\n")
		}
		p, _ := manual.Find(pages, name) // docs/cli.md has a section for each command
		b.WriteString(p.Text(env.helpWidth()))
	}
	return b.Bytes(), nil
}

// pageNames returns the pages for these words: that of a command, those of all commands below it, or that of the program.
func pageNames(app *cli.App, words []string) (_ []string, err error) {
	path, rest := []*cli.Command{{Name: manual.Program}}, words[1:]
	if words[0] != manual.Program {
		if path, rest, err = descend(app, words); err != nil {
			return nil, err
		}
	}
	command := path[len(path)-1]
	if len(rest) > 0 {
		return nil, UsageError("help", "%s has no command %q", CommandName(command), rest[0])
	}
	return convert(Leaves([]*cli.Command{command}), CommandName), nil
}

// Pages returns the manual of the commands of an application.
func Pages(app *cli.App) []manual.Page {
	return manual.Pages(app.Usage, convert(Leaves(app.Commands), func(c *cli.Command) manual.Command {
		return manual.Command{Name: CommandName(c), Usage: c.Usage, Flags: FlagNames(c)}
	}))
}
