package manual

import (
	"slices"
	"strings"

	"agentctl/docs"
)

// Program is the name of the program, and of its first page.
const Program = "agentctl"

// Command is a command that has a page.
type Command struct {
	// Name is "hooks install", Usage what it does in a few words.
	Name, Usage string
	// Flags are its flags as they are typed ("--all", "-a").
	Flags []string
}

// Page is a page of the manual.
type Page struct {
	// Name is the page's name: agentctl, agentctl-launch, agentctl-hooks-install.
	Name string
	// usage says in a few words what the command does.
	usage    string
	sections []section
	markup
}

// pageName is the name of a command's page.
func pageName(command string) string {
	return Program + "-" + strings.ReplaceAll(command, " ", "-")
}

// Pages returns the manual: the page of the program, whose commands these are, and one for each command that has a section in
// docs/cli.md.
func Pages(usage string, commands []Command) []Page {
	var names []string
	for _, c := range commands {
		names = append(names, c.Name)
	}
	m := newMarkup(names)
	program := Page{Name: Program, usage: usage, markup: m}
	var pages []Page
	list := section{title: "Commands"}
	parsed := parse(docs.CommandLine)
	for _, c := range commands {
		if i := slices.IndexFunc(parsed, func(s section) bool { return s.title == c.Name }); i >= 0 {
			shared := sharedFlags(parsed, names, c.Flags)
			pages = append(pages, Page{pageName(c.Name), c.Usage, arrange(slices.Concat(parsed[i].blocks, shared)), m})
		}
		list.blocks = append(list.blocks, block{kind: table, rows: [][]string{{"`" + c.Name + "`", c.Usage}}})
	}
	for _, s := range parsed {
		switch {
		case s.title == "":
			program.sections = append(program.sections, arrange(s.blocks)...)
			program.sections = append(program.sections, list)
		case !slices.Contains(names, s.title):
			program.sections = append(program.sections, s)
		}
	}
	program.sections = append(program.sections, seeAlso(names...))
	return append([]Page{program}, pages...)
}

// Find returns the page of a command; false if it has none.
func Find(pages []Page, command string) (Page, bool) {
	i := slices.IndexFunc(pages, func(p Page) bool { return p.Name == pageName(command) || p.Name == command })
	if i < 0 {
		return Page{}, false
	}
	return pages[i], true
}

// sharedFlags returns the tables of those of a command's flags that a section about several commands has.
func sharedFlags(sections []section, commands, flags []string) (tables []block) {
	for _, s := range sections {
		for _, b := range s.blocks {
			if b.kind != table || b.head[0] != "flag" || slices.Contains(commands, s.title) {
				continue
			}
			b.rows = slices.DeleteFunc(slices.Clone(b.rows), func(row []string) bool {
				name, _, _ := strings.Cut(strings.Trim(row[0], "`"), " ")
				return !slices.Contains(flags, name)
			})
			if len(b.rows) > 0 {
				tables = append(tables, b)
			}
		}
	}
	return tables
}

// arrange puts the blocks of a command's section into the sections of a page: the first code block is the synopsis, tables of flags
// are the options, and what a shell can run are examples.
func arrange(blocks []block) (out []section) {
	synopsis, description := section{title: "Synopsis"}, section{title: "Description"}
	options, examples := section{title: "Options"}, section{title: "Examples"}
	for _, b := range blocks {
		switch {
		case b.kind == code && b.language == "" && len(synopsis.blocks) == 0:
			synopsis.blocks = append(synopsis.blocks, b)
		case b.kind == table && b.head[0] == "flag":
			options.blocks = append(options.blocks, b)
		case b.kind == code && b.language == "sh":
			examples.blocks = append(examples.blocks, b)
		default:
			description.blocks = append(description.blocks, b)
		}
	}
	for _, s := range []section{synopsis, description, options, examples} {
		if len(s.blocks) > 0 {
			out = append(out, s)
		}
	}
	if synopsis.blocks == nil {
		return out
	}
	return append(out, section{title: "Exit status", blocks: []block{{text: "**" + Program + "**(1) lists the exit codes of all commands."}}})
}

// seeAlso names the pages of commands.
func seeAlso(commands ...string) section {
	var names []string
	for _, c := range commands {
		names = append(names, "["+c+"](#"+strings.ReplaceAll(c, " ", "-")+")")
	}
	return section{title: "See also", blocks: []block{{text: strings.Join(names, ", ")}}}
}
