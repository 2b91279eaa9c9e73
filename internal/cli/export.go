package cli

import (
	"cmp"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/export"
	"agentctl/internal/object"
	"agentctl/internal/render"
)

type exportOptions struct {
	CommonFlags
	as, file, tools    string
	children, noRedact bool
}

func exportCommand(f Env) *cli.Command {
	o := &exportOptions{}
	return &cli.Command{
		Usage:     "write sessions as Markdown, JSON or one HTML page, to read, keep or share",
		UsageText: "agentctl export [FLAGS] ID…",
		Description: "export writes the messages of a session, the oldest first. What looks like a key, a token or a password becomes\n" +
			"[redacted]; still, review an export before you publish it.",
		ArgsUsage: "ID…",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "as", Usage: "the `FORMAT`: markdown, json or html (default: by the name of the -o file, else markdown)", Destination: &o.as},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write `FILE` instead of stdout, readable for you only", Destination: &o.file},
			&cli.StringFlag{Name: "tools", Usage: "the `LEVEL` of detail of tool calls: none, brief (name, summary, state) or full (default: brief in Markdown, else full)", Destination: &o.tools},
			&cli.BoolFlag{Name: "children", Usage: "include sub-agents' sessions", Destination: &o.children},
			&cli.BoolFlag{Name: "no-redact", Usage: "leave keys, tokens and passwords in", Destination: &o.noRedact},
			AdapterFlag(&o.AdapterNames),
			&cli.BoolFlag{Name: "json", Usage: "is --as json, also for errors on stderr", Destination: &o.JSON},
		},
		CustomHelpTemplate: HelpTemplate(
			"agentctl export 88d1d394 > session.md", "agentctl export -o session.html --children devbox:88d1d394", "agentctl export 88d1d394 --json | jq -r '.messages[].text'",
		),
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if len(args) == 0 {
				return UsageError("export", "export needs the ID of a session")
			}
			if err := o.complete(); err != nil {
				return err
			}
			return runExport(c.Context, f, args, o)
		},
	}
}

// The formats.
const (
	asMarkdown = "markdown"
	asJSON     = "json"
	asHTML     = "html"
)

// complete checks the flags, and sets the defaults that depend on other flags.
func (e *exportOptions) complete() error {
	if e.JSON && e.as != "" && e.as != asJSON {
		return UsageError("export", "--json and --as %s cannot be used together", e.as)
	}
	if e.JSON {
		e.as = asJSON
	}
	if e.as == "" {
		if e.as = formatOf(e.file); e.as == "" {
			return UsageError("export", "no format has the ending %s; use .md, .json or .html, or name the format by --as", filepath.Ext(e.file))
		}
	}
	if !slices.Contains(ExportFormats(), e.as) {
		return UnknownWord("format", e.as, ExportFormats())
	}
	if e.tools == "" {
		e.tools = toolsFull
		if e.as == asMarkdown {
			e.tools = toolsBrief
		}
	}
	if !slices.Contains(ExportTools(), e.tools) {
		return UnknownWord("value of --tools", e.tools, ExportTools())
	}
	return nil
}

// formatOf is the format that the name of a file stands for; "" if none is known by it.
func formatOf(file string) string {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".json":
		return asJSON
	case ".html", ".htm":
		return asHTML
	case "", ".md", ".markdown", ".txt":
		return asMarkdown
	}
	return ""
}

func runExport(ctx context.Context, f Env, args []string, o *exportOptions) error {
	c, calls, err := f.NewHostCall("export", &o.CommonFlags, nil, args)
	if err != nil {
		return err
	}
	for i := range calls { // each host redacts its own; the document is written on this machine
		calls[i] = calls[i].WithoutFlags("as", "output", "o", "tools").WithFlags("--tools=" + o.tools)
	}
	if o.file != "" && calls != nil {
		if err := checkTarget(ctx, c, o.file, nil); err != nil {
			return err
		}
	}
	exports, after, err := Collect(ctx, c, calls, func(ctx context.Context) ([]object.Export, []*discover.Warning, error) {
		return readExports(ctx, c, args, o)
	})
	if err != nil {
		return err
	}
	if calls != nil {
		if failed := after(); len(exports) == 0 || failed != nil && ExitCode(failed) != ExitPartial {
			return failed
		}
	}
	if err := write(ctx, c, exports, o); err != nil {
		return err
	}
	return after()
}

// write writes the exports to the file or stdout, and reports those without messages.
func write(ctx context.Context, c *Call, exports []object.Export, o *exportOptions) (err error) {
	if o.file != "" && o.file != "-" {
		working, done := c.StartWork(ctx, "writing "+render.Sanitize(o.file))
		err = writeFile(working, o.file, func(w io.Writer) error { return writeAs(w, exports, o.as) })
		done()
	} else {
		err = writeAs(c.Stdout, exports, o.as)
	}
	if err != nil {
		return err
	}
	for _, e := range exports {
		if len(e.Messages) == 0 && len(e.Missing) == 0 {
			name := "the session"
			if e.Session.ID != nil {
				name = object.HostPrefix(e.Session.Host) + *e.Session.ID
			}
			c.Report.Note(name + " has no messages")
		}
	}
	return nil
}

// readExports reads the sessions of this machine that the arguments mean. If it fails, it reports the warnings, which may be the reason.
func readExports(ctx context.Context, c *Call, args []string, o *exportOptions) (exports []object.Export, warnings []*discover.Warning, err error) {
	working, done := c.StartWork(ctx, "reading "+render.Sanitize(strings.Join(args, " ")))
	defer done()
	found, err := c.FindAll(working, args)
	if err == nil && o.file != "" {
		err = checkTarget(working, c, o.file, found.Sessions)
	}
	r := newReader(c, o)
	if r.warnings = found.Warnings; err == nil {
		exports, err = r.read(working, found.Sessions)
	}
	if err = cmp.Or(working.Err(), err); err != nil {
		_ = c.ReportWarnings(r.warnings)
	}
	return exports, r.warnings, err
}

func writeAs(w io.Writer, exports []object.Export, as string) error {
	switch as {
	case asJSON:
		return render.ExportJSON(w, exports)
	case asHTML:
		return export.HTML(w, exports)
	}
	return export.Markdown(w, exports)
}

func ExportFormats() []string { return []string{"markdown", "json", "html"} }

func ExportTools() []string { return []string{"none", "brief", "full"} }
