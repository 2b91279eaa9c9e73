package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/export"
	"agentctl/internal/object"
	"agentctl/internal/redact"
	"agentctl/internal/render"
	"agentctl/lock"
	"agentctl/proc"
)

type exportOptions struct {
	CommonFlags
	as, file, tools    string
	children, noRedact bool
	// enough reports after a message, the newest first, whether older ones are left out; nil: none are.
	enough func(object.Message) bool
}

func exportCommand(env Env) *cli.Command {
	o := &exportOptions{}
	return &cli.Command{
		Usage: "write sessions as Markdown, JSON or one HTML page, to read, keep or share",
		Description: "export writes the messages of a session, the oldest first. What looks like a key, a token or a password becomes\n" +
			"[redacted]; still, review an export before you publish it.",
		ArgsUsage: "ID…",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "as", Usage: "the `FORMAT`: markdown, json (as --json) or html (default: by the name of the -o file, else markdown)", Destination: &o.as},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write `FILE` instead of stdout, readable for you only", Destination: &o.file},
			&cli.StringFlag{Name: "tools", Usage: "the `LEVEL` of detail of tool calls: none, brief (name, summary, state) or full (default: brief in Markdown, else full)", Destination: &o.tools},
			&cli.BoolFlag{Name: "children", Usage: "include sub-agents' sessions", Destination: &o.children},
			&cli.BoolFlag{Name: "no-redact", Usage: "leave keys, tokens and passwords in", Destination: &o.noRedact},
			AdapterFlag(&o.AdapterNames),
			JSONFlag(&o.JSON),
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
			return runExport(c.Context, env, args, o)
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

func runExport(ctx context.Context, env Env, args []string, o *exportOptions) error {
	c, calls, err := env.NewHostCall("export", &o.CommonFlags, nil, args)
	if err != nil {
		return err
	}
	for i := range calls { // each host redacts its own; the document is written on this machine
		calls[i] = calls[i].WithoutFlags("as", "output", "tools").WithFlags("--tools=" + o.tools)
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
	if err := writeExports(ctx, c, exports, o); err != nil {
		return err
	}
	return after()
}

// writeExports writes the exports to the file or stdout, and reports those without messages.
func writeExports(ctx context.Context, c *Call, exports []object.Export, o *exportOptions) (err error) {
	if o.file != "" && o.file != "-" {
		working, done := c.StartWork(ctx, "writing "+render.Sanitize(o.file))
		err = replaceFile(working, o.file, 0o600, func(w io.Writer) error { return writeAs(w, exports, o.as) })
		done()
	} else {
		err = writeAs(c.Stdout, exports, o.as)
	}
	if err != nil {
		return err
	}
	for _, e := range exports {
		if len(e.Messages) == 0 && len(e.Missing) == 0 {
			c.Report.Note(e.Session.Name() + " has no messages")
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
	r := &exportReader{Call: c, options: o, left: maxExport}
	if !o.noRedact {
		r.redactor = redact.New()
	}
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

func ExportFormats() []string { return []string{asMarkdown, asJSON, asHTML} }

func ExportTools() []string { return []string{toolsNone, toolsBrief, toolsFull} }

// The values of --tools.
const (
	toolsNone  = "none"
	toolsBrief = "brief"
	toolsFull  = "full"
)

// maxExport bounds the texts of all messages of an export in memory, in bytes. Transcripts are read from their end and written from
// their beginning.
const maxExport = 96 << 20

// minSession is how much of maxExport must be left for a session to be read, in bytes.
const minSession = 1 << 20

// exportReader reads sessions with their messages.
type exportReader struct {
	*Call
	options *exportOptions
	// redactor is nil with --no-redact.
	redactor *redact.Redactor
	// left is how much of maxExport is left.
	left     int
	warnings []*discover.Warning
}

// read reads the messages of sessions, with --children also of their sub-agents. An error is ctx's or one of redaction.
func (er *exportReader) read(ctx context.Context, sessions []discover.Session) ([]object.Export, error) {
	var exports []object.Export
	for _, s := range sessions {
		family := []discover.Session{s}
		if er.options.children && s.Path != "" {
			var err error
			if family, err = er.family(ctx, s); err != nil {
				return nil, err
			}
		}
		all := make([]object.Export, len(family))
		for i, s := range family {
			var err error
			if all[i], err = er.session(ctx, s); cmp.Or(ctx.Err(), err) != nil {
				return nil, cmp.Or(ctx.Err(), err)
			}
		}
		exports = append(exports, nest(family, all, 0, make([]bool, len(family))))
	}
	return exports, nil
}

// family returns a session followed by its sub-agents at all levels, each with its status.
func (er *exportReader) family(ctx context.Context, s discover.Session) ([]discover.Session, error) {
	all, warnings, err := er.Scanner.TrackSubagents().Update(ctx, []discover.Session{s})
	er.warnings = append(er.warnings, warnings...)
	if err != nil || len(all) == 1 {
		return all, err
	}
	w := watch.NewWatcher(er.Scanner, all)
	defer w.Close()
	found, err := w.Next(ctx)
	er.warnings = append(er.warnings, found.Warnings...)
	return found.Sessions, err
}

// nest returns a session with its sub-agents' sessions, each below the one that started it, in the order in which they began.
// Stored parents may form a circle: a session that is placed already is left out.
func nest(family []discover.Session, all []object.Export, i int, placed []bool) object.Export {
	placed[i] = true
	e := all[i]
	for n, s := range family {
		if !placed[n] && s.IsSubagent() && s.Parent == family[i].ID {
			e.Children = append(e.Children, nest(family, all, n, placed))
		}
	}
	slices.SortStableFunc(e.Children, func(a, b object.Export) int { return cmp.Compare(a.Session.StartedAt, b.Session.StartedAt) })
	return e
}

// session reads one session. What cannot be read is a warning, which the export repeats.
func (er *exportReader) session(ctx context.Context, s discover.Session) (e object.Export, err error) {
	if e.Session, err = redact.Value(er.redactor, object.NewSession(s)); err != nil {
		return e, err
	}
	e.Messages = []object.Message{}
	if er.left < minSession && s.Path != "" {
		err := fmt.Errorf("its messages are left out: the export has %d MB already", maxExport>>20)
		er.miss(&e, &discover.Warning{Agent: s.Agent, Path: s.Path, Err: err})
		return e, nil
	}
	for m, err := range er.Scanner.MessagesWithin(ctx, s, er.left) {
		if err != nil {
			er.miss(&e, UnreadWarning(s, err))
			continue
		}
		er.left = max(0, er.left-m.Size())
		out, ok := er.options.message(m, s)
		if !ok {
			continue
		}
		if out, err = redact.Value(er.redactor, out); err != nil {
			return e, err
		}
		e.Messages = append(e.Messages, out)
		if er.options.enough != nil && er.options.enough(out) {
			break
		}
	}
	slices.Reverse(e.Messages)
	return e, nil
}

// miss reports on stderr and in the export what is missing from it.
func (er *exportReader) miss(e *object.Export, w *discover.Warning) {
	er.warnings = append(er.warnings, w)
	e.Missing = append(e.Missing, ErrorText(w))
}

// message converts a message, with as much of a tool call as --tools says.
func (e *exportOptions) message(m discover.Message, s discover.Session) (object.Message, bool) {
	if m.Session == s.ID {
		m.Session = ""
	}
	out := object.NewMessage(m, s)
	if out.Tool != nil && e.tools != toolsFull {
		out.Tool.Input, out.Tool.Output = nil, nil
	}
	return out, out.Tool == nil || e.tools != toolsNone
}

// checkTarget refuses a file that must not be written: anything but a regular file, and what is below an agent's home or is a
// session's own file.
func checkTarget(ctx context.Context, c *Call, file string, sessions []discover.Session) error {
	if file == "-" {
		return nil
	}
	refuse := func(why string) error { return UsageError("export", "-o %s: %s", file, why) }
	info, err := os.Stat(file)
	switch {
	case err == nil && info.IsDir():
		return refuse("it is a directory")
	case err == nil && !info.Mode().IsRegular():
		return refuse("it is not a regular file")
	}
	for _, s := range sessions {
		if stored, err := os.Stat(s.Path); err == nil && info != nil && os.SameFile(stored, info) {
			return refuse("the agent stores the session there")
		}
	}
	dir := filepath.Dir(file)
	if CheckDirectory(dir) != nil {
		return refuse("there is no directory " + dir)
	}
	store, err := storeAround(ctx, c, file, sessions)
	if err == nil && store != "" {
		err = refuse("it is below " + store + ", where an agent stores its sessions")
	}
	return err
}

// storeAround returns the directory of the agent's home that a file is below, by whatever name: a home of any agent, or of these sessions; "" if
// it is below none.
func storeAround(ctx context.Context, c *Call, file string, sessions []discover.Session) (string, error) {
	abs, err := lock.Abs(filepath.Dir(file))
	if err != nil {
		return "", err
	}
	homes, err := agentHomes(ctx, c, sessions)
	if err != nil {
		return "", err
	}
	for dir := lock.Resolve(abs); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil && slices.ContainsFunc(homes, func(home fs.FileInfo) bool { return os.SameFile(info, home) }) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", nil
		}
	}
}

// agentHomes returns the directories of all agents' homes, and of the homes of these sessions. Where the process table cannot be read, as in a
// sandbox, those that only processes name are missing.
func agentHomes(ctx context.Context, c *Call, sessions []discover.Session) (homes []fs.FileInfo, err error) {
	table, err := c.ReadTable(ctx, false)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	} else if err != nil {
		table = proc.EmptyTable()
	}
	add := func(dir string) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			homes = append(homes, info)
		}
	}
	for _, a := range c.Scanner.Adapters {
		for _, h := range c.Scanner.Homes(a, table) {
			add(h.Dir)
		}
	}
	for _, s := range sessions {
		add(s.Home)
	}
	return homes, nil
}

// replaceFile writes a file completely or not at all: it writes a hidden file in the same directory, and renames it. An interrupt removes the hidden
// file.
func replaceFile(ctx context.Context, name string, mode fs.FileMode, write func(io.Writer) error) error {
	draft, err := os.CreateTemp(filepath.Dir(name), ".agentctl-*")
	if err != nil {
		return err
	}
	err = errors.Join(write(ContextWriter{Context: ctx, Out: draft}), draft.Chmod(mode), draft.Sync(), draft.Close())
	if err == nil {
		err = os.Rename(draft.Name(), name)
	}
	if err != nil {
		_ = os.Remove(draft.Name()) // best effort
	}
	return err
}
