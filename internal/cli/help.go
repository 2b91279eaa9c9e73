package cli

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// HelpTemplate is the template of a command's help, which ends with examples.
func HelpTemplate(examples ...string) string {
	return withExamples(cli.CommandHelpTemplate, examples)
}

// GroupHelpTemplate is [HelpTemplate] for a command with subcommands.
func GroupHelpTemplate(examples ...string) string {
	return withExamples(cli.SubcommandHelpTemplate, examples)
}

// withExamples adds a section of examples to a template of help.
func withExamples(template string, examples []string) string {
	return strings.TrimRight(template, "\n") + "\n\nEXAMPLES:\n   " + strings.Join(examples, "\n   ") + "\n"
}
