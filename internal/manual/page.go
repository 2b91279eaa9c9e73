// Package manual makes the pages of the manual from docs/cli.md: sections of Markdown, of which a release makes man pages, and text.
//
// The Markdown is a subset: paragraphs, tables, lists, code blocks, one empty line before and after each; in texts code, bold and italic
// words, links and anchors.
package manual

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"agentctl/docs"
	"agentctl/internal/render"
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
	Name     string
	Sections []Section
}

// Section is a heading and the blocks of Markdown below it: terms with definitions instead of tables.
type Section struct {
	Title  string
	Blocks []string
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
	parsed := parse(docs.CommandLine, names)
	var pages []Page
	var list, seeAlso []string
	for _, c := range commands {
		if i := slices.IndexFunc(parsed, func(s Section) bool { return s.Title == c.Name }); i >= 0 {
			pages = append(pages, newPage(pageName(c.Name), c.Usage, arrange(slices.Concat(parsed[i].Blocks, sharedFlags(parsed, names, c.Flags)))))
		}
		list = append(list, "`"+c.Name+"`\n: "+c.Usage)
		seeAlso = append(seeAlso, pageReference(pageName(c.Name)))
	}
	program := arrange(parsed[0].Blocks)
	program = append(program, Section{"Commands", []string{strings.Join(list, "\n\n")}})
	for _, s := range parsed[1:] {
		if !slices.Contains(names, s.Title) {
			program = append(program, Section{s.Title, defineAll(s.Blocks)})
		}
	}
	program = append(program, Section{"See also", []string{strings.Join(seeAlso, ", ")}})
	return append([]Page{newPage(Program, usage, program)}, pages...)
}

func newPage(name, usage string, sections []Section) Page {
	return Page{name, append([]Section{{"Name", []string{name + " - " + usage}}}, sections...)}
}

func pageReference(page string) string { return "**" + page + "**(1)" }

// Find returns the page of a command; false if it has none.
func Find(pages []Page, command string) (Page, bool) {
	i := slices.IndexFunc(pages, func(p Page) bool { return p.Name == pageName(command) || p.Name == command })
	if i < 0 {
		return Page{}, false
	}
	return pages[i], true
}

// parse splits a document into its sections, and rewrites its links: one to the section of a command names its page. The first section
// has no title: it is what precedes the first heading of the second level.
func parse(document string, commands []string) []Section {
	pages := map[string]string{}
	for _, c := range commands {
		pages["#"+strings.ReplaceAll(c, " ", "-")] = pageName(c)
	}
	document = regexp.MustCompile(`<a id="[^"]*"></a>|</?kbd>`).ReplaceAllStringFunc(document, func(tag string) string {
		if strings.HasSuffix(tag, "kbd>") {
			return "**"
		}
		return ""
	})
	link := regexp.MustCompile(`\[([^\]]+)\]\(([^)]+)\)`)
	document = link.ReplaceAllStringFunc(document, func(text string) string {
		m := link.FindStringSubmatch(text)
		switch page := pages[m[2]]; {
		case page != "":
			return pageReference(page)
		case strings.HasPrefix(m[2], "https://"):
			return m[1] + " <" + m[2] + ">"
		}
		return m[1]
	})
	var sections []Section
	for text := range strings.SplitSeq(document, "\n## ") {
		title, rest, _ := strings.Cut(text, "\n")
		if strings.HasPrefix(title, "# ") {
			title = ""
		}
		sections = append(sections, Section{title, splitBlocks(rest)})
	}
	return sections
}

// splitBlocks splits a section at its empty lines, but for those in code.
func splitBlocks(text string) (blocks []string) {
	block, inCode := "", false
	for line := range strings.Lines(text + "\n\n") {
		if strings.HasPrefix(line, "```") {
			inCode = !inCode
		}
		if line != "\n" || inCode {
			block += line
		} else if block != "" {
			blocks, block = append(blocks, strings.TrimSuffix(block, "\n")), ""
		}
	}
	return blocks
}

const flagTable = "| flag |"

// sharedFlags returns the tables of those of a command's flags that a section about several commands has.
func sharedFlags(sections []Section, commands, flags []string) (tables []string) {
	for _, s := range sections {
		for _, block := range s.Blocks {
			if !strings.HasPrefix(block, flagTable) || slices.Contains(commands, s.Title) {
				continue
			}
			lines := strings.Split(block, "\n")
			rows := slices.DeleteFunc(lines[2:], func(row string) bool {
				name := strings.FieldsFunc(row, func(r rune) bool { return strings.ContainsRune("| `", r) })[0]
				return !slices.Contains(flags, name)
			})
			if len(rows) > 0 {
				tables = append(tables, strings.Join(append(lines[:2:2], rows...), "\n"))
			}
		}
	}
	return tables
}

// arrange puts the blocks of a command's section into the sections of a page: the first code block is the synopsis, tables of flags
// are the options, and what a shell can run are examples.
func arrange(blocks []string) (out []Section) {
	synopsis, description := Section{Title: "Synopsis"}, Section{Title: "Description"}
	options, examples := Section{Title: "Options"}, Section{Title: "Examples"}
	for _, b := range blocks {
		to := &description
		switch {
		case strings.HasPrefix(b, "Common flags: "): // they are among the options
			continue
		case strings.HasPrefix(b, "```\n") && synopsis.Blocks == nil:
			to = &synopsis
		case strings.HasPrefix(b, flagTable):
			to = &options
		case strings.HasPrefix(b, "```sh\n"):
			to = &examples
		}
		to.Blocks = append(to.Blocks, b)
	}
	for _, s := range []Section{synopsis, description, options, examples} {
		if len(s.Blocks) > 0 {
			out = append(out, Section{s.Title, defineAll(s.Blocks)})
		}
	}
	if synopsis.Blocks != nil {
		out = append(out, Section{"Exit status", []string{pageReference(Program) + " lists the exit codes of all commands."}})
	}
	return out
}

// defineAll replaces tables: each row becomes a term and its definition. The last cell is the definition if it is the meaning of the
// others; else all cells but the first one are, each with its heading.
func defineAll(blocks []string) (out []string) {
	for _, block := range blocks {
		if strings.HasPrefix(block, "|") {
			lines := strings.Split(block, "\n")
			head := cellsOf(lines[0])
			var definitions []string
			for _, line := range lines[2:] {
				definitions = append(definitions, definition(head, cellsOf(line)))
			}
			block = strings.Join(definitions, "\n\n")
		}
		out = append(out, block)
	}
	return out
}

func definition(head, row []string) string {
	term, last := row[0], len(row)-1
	if last == 1 || head[last] == "meaning" {
		for _, cell := range row[1:last] {
			if cell != "" {
				term += " (" + cell + ")"
			}
		}
		return term + "\n: " + row[last]
	}
	var parts []string
	for i, cell := range row[1:] {
		parts = append(parts, "*"+head[i+1]+"* "+cell)
	}
	return term + "\n: " + strings.Join(parts, "; ")
}

// cellsOf splits a row. A | in a cell has a backslash before it.
func cellsOf(row string) []string {
	const escaped = "\x00"
	cells := strings.Split(strings.ReplaceAll(strings.Trim(row, "| "), `\|`, escaped), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(strings.ReplaceAll(cells[i], escaped, "|"))
	}
	return cells
}

// Columns of a page as text.
const (
	indent    = 4
	termWidth = 8 // a shorter term has its definition on the same line
	itemWidth = 3
	minWidth  = 40
)

// textWriter writes lines of at most width columns.
type textWriter struct {
	strings.Builder
	width        int
	bold, markup *regexp.Regexp // markup: of code and italic words
}

// Text returns the page as text for a terminal of this width, in columns.
func (p Page) Text(width int) string {
	t := textWriter{width: max(width, minWidth), bold: regexp.MustCompile(`\*\*([^*]+)\*\*`), markup: regexp.MustCompile("`([^`]+)`|\\*([^*\\s][^*]*)\\*")}
	for i, s := range p.Sections {
		if i > 0 {
			t.WriteString("\n")
		}
		t.WriteString(strings.ToUpper(s.Title) + "\n")
		for i, block := range s.Blocks {
			if i > 0 {
				t.WriteString("\n")
			}
			t.block(block)
		}
	}
	return t.String()
}

func (t *textWriter) block(block string) {
	lines := strings.Split(block, "\n")
	if strings.HasPrefix(block, "```") {
		for _, line := range lines[1 : len(lines)-1] {
			t.WriteString(strings.TrimRight(strings.Repeat(" ", 2*indent)+line, " ") + "\n")
		}
		return
	}
	var depth int
	var marker string // of the item that the lines belong to
	var words []string
	end := func() {
		if len(words) > 0 {
			t.hanging(indent+depth*itemWidth, min(itemWidth*len(marker), itemWidth), marker, strings.Join(words, " "))
		}
		words = nil
	}
	for i, line := range lines {
		definition, ok := strings.CutPrefix(line, ": ")
		d, m, text, isItem := cutItem(line)
		switch {
		case ok:
			t.hanging(indent, termWidth, words[0], definition)
			words = nil
		case line == "":
			t.WriteString("\n")
		case isItem && (i == 0 || marker != ""):
			end()
			depth, marker, words = d, m, []string{text}
		default:
			words = append(words, strings.TrimSpace(line))
		}
	}
	end()
}

// cutItem splits the first line of an item of a list. Two blanks before the marker nest it in another item.
func cutItem(line string) (depth int, marker, text string, ok bool) {
	rest := strings.TrimLeft(line, " ")
	marker, text, ok = strings.Cut(rest, " ")
	number, isNumber := strings.CutSuffix(marker, ".")
	isNumber = isNumber && number != "" && strings.Trim(number, "0123456789") == ""
	return (len(line) - len(rest)) / 2, marker, text, ok && (marker == "-" || isNumber)
}

// plain returns a text without its markup.
func (t *textWriter) plain(text string) string {
	return t.markup.ReplaceAllString(t.bold.ReplaceAllString(text, "$1"), "$1$2")
}

// hanging writes a term, and its description some columns to the right: on the same line if the term leaves
// room for two blanks, and if it is the marker of an item.
func (t *textWriter) hanging(column, width int, term, text string) {
	term = t.plain(term)
	n := utf8.RuneCountInString(term)
	if n > len("1.") && n+1 >= width {
		t.hanging(column, 0, "", term)
		term, n = "", 0
	}
	lines := render.WrapPlain(strings.Repeat(" ", column+width)+t.plain(text), t.width)
	lines[0] = strings.Repeat(" ", column) + term + lines[0][column+n:]
	t.WriteString(strings.Join(lines, "\n") + "\n")
}
