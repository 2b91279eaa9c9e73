package sqlite

import (
	"errors"
	"slices"
	"strings"
)

// column is what a CREATE TABLE statement says of a column.
type column struct {
	name       string
	declared   string // its type
	affinity   affinity
	collation  string // "" for the usual one, byte by byte
	initial    value  // of rows written before the column was added
	badDefault string // why initial is not known
	rowid      bool   // INTEGER PRIMARY KEY
}

// tableDef is what a CREATE TABLE statement says.
type tableDef struct {
	columns     []column
	keys        [][]string // the columns of PRIMARY KEY and UNIQUE that have an index of their own, in order
	rowidColumn int        // -1 for none
}

var (
	errVirtual      = errors.New("virtual tables are not read")
	errWithoutRowid = errors.New("tables without rowid are not read")
	errGenerated    = errors.New("tables with generated columns are not read")
	errStatement    = errors.New("its CREATE statement is not understood")
)

// unsorted stands for the columns of an index that is there, but not to be searched in.
const unsorted = ""

// parser goes through the tokens of a statement.
type parser struct {
	list []token
	def  tableDef
}

func (p *parser) peek() token {
	if len(p.list) == 0 {
		return token{}
	}
	return p.list[0]
}

func (p *parser) next() token {
	t := p.peek()
	p.list = p.list[min(1, len(p.list)):]
	return t
}

// accept takes the next token if it is one of these.
func (p *parser) accept(words ...string) bool {
	ok := p.peek().is(words...)
	if ok {
		p.next()
	}
	return ok
}

// skipGroup skips what stands in parentheses, if a group begins here.
func (p *parser) skipGroup() {
	for depth := 0; ; {
		switch t := p.peek(); {
		case t.is("("):
			depth++
		case depth == 0 || t.kind == endToken:
			return
		case t.is(")"):
			depth--
		}
		if p.next(); depth == 0 {
			return
		}
	}
}

// parseTable reads a CREATE TABLE statement as SQLite stores it: with one name, and columns in parentheses.
func parseTable(sql string) (tableDef, error) {
	list, err := tokens(sql)
	if err != nil {
		return tableDef{}, err
	}
	p := &parser{list: list, def: tableDef{rowidColumn: -1}}
	p.accept("CREATE")
	if p.peek().is("VIRTUAL") {
		return p.def, errVirtual
	}
	if !p.accept("TABLE") || !p.next().isName() || !p.accept("(") {
		return p.def, errStatement
	}
	for again := true; again; again = p.accept(",") {
		if err := p.item(); err != nil {
			return p.def, err
		}
	}
	if !p.accept(")") || len(p.def.columns) == 0 {
		return p.def, errStatement
	}
	return p.def, p.options()
}

// options reads what follows the columns.
func (p *parser) options() error {
	strict := false
	for t := p.next(); t.kind != endToken; t = p.next() {
		if t.is("WITHOUT") {
			return errWithoutRowid
		}
		strict = strict || t.is("STRICT")
	}
	for i := range p.def.columns {
		if c := &p.def.columns[i]; strict && strings.EqualFold(c.declared, "ANY") {
			c.affinity = noAffinity
		}
		if p.def.columns[i].rowid {
			p.def.rowidColumn = i
		}
	}
	return nil
}

// item reads a column, or constraints of the table.
func (p *parser) item() error {
	if p.peek().is("CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN") {
		return p.tableConstraints()
	}
	name := p.next()
	if !name.isName() {
		return errStatement
	}
	c := column{name: name.text}
	var words []string
	for p.peek().isName() && !p.peek().is("CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE",
		"REFERENCES", "GENERATED", "AS", "ON", "DEFERRABLE", "INITIALLY") {
		words = append(words, p.next().text)
	}
	p.skipGroup()
	c.declared = strings.Join(words, " ")
	c.affinity = affinityOf(c.declared)
	err := p.columnConstraints(&c)
	p.def.columns = append(p.def.columns, c)
	return err
}

// atEnd is where an item ends.
func (p *parser) atEnd() bool { return p.peek().kind == endToken || p.peek().is(",", ")") }

func (p *parser) columnConstraints(c *column) error {
	for !p.atEnd() {
		switch t := p.next(); {
		case t.is("("):
			return errStatement
		case t.is("GENERATED", "AS"):
			return errGenerated
		case t.is("CONSTRAINT", "REFERENCES", "SET", "CONFLICT"):
			p.next() // a name, or a word that means something else here
		case t.is("COLLATE"):
			if c.collation = p.next().text; strings.EqualFold(c.collation, "BINARY") {
				c.collation = ""
			}
		case t.is("DEFAULT"):
			p.defaultOf(c)
		case t.is("UNIQUE"):
			p.key([]string{c.name})
		case t.is("PRIMARY"):
			p.accept("KEY")
			switch down := p.accept("DESC"); {
			case down: // it makes no rowid: sqlite.org/lang_createtable.html, 5
				p.key([]string{unsorted})
			case strings.EqualFold(c.declared, "INTEGER"):
				c.rowid = true
			default:
				p.key([]string{c.name})
			}
		}
		p.skipGroup()
	}
	return nil
}

// tableConstraints reads those up to the next comma; there need not be one between two.
func (p *parser) tableConstraints() error {
	for !p.atEnd() {
		switch t := p.next(); {
		case t.is("CONSTRAINT", "SET", "CONFLICT"):
			p.next()
		case t.is("REFERENCES"):
			p.next()
			p.skipGroup()
		case t.is("UNIQUE", "PRIMARY"):
			p.accept("KEY")
			columns, sorted, ok := p.columnList()
			if !ok {
				return errStatement
			}
			p.tableKey(t, columns, sorted)
		default:
			p.skipGroup()
		}
	}
	return nil
}

func (p *parser) tableKey(t token, columns []string, sorted bool) {
	if t.is("PRIMARY") && len(columns) == 1 {
		i := slices.IndexFunc(p.def.columns, func(c column) bool { return strings.EqualFold(c.name, columns[0]) })
		if i >= 0 && strings.EqualFold(p.def.columns[i].declared, "INTEGER") {
			p.def.columns[i].rowid = true
			return
		}
	}
	if !sorted {
		columns = []string{unsorted}
	}
	p.key(columns)
}

// key adds an index of a constraint, unless there is one over the same columns.
func (p *parser) key(columns []string) {
	for _, k := range p.def.keys {
		if slices.EqualFunc(k, columns, strings.EqualFold) {
			return
		}
	}
	p.def.keys = append(p.def.keys, columns)
}

// columnList reads the columns of an index or a key; sorted tells whether they are sorted upwards and byte by byte.
func (p *parser) columnList() (columns []string, sorted, ok bool) {
	sorted = true
	if !p.accept("(") {
		return nil, false, false
	}
	for again := true; again; again = p.accept(",") {
		t := p.next()
		sorted = sorted && (t.kind == wordToken || t.kind == nameToken)
		columns = append(columns, t.text)
		for !p.atEnd() {
			switch t := p.next(); {
			case t.is("COLLATE") && strings.EqualFold(p.peek().text, "BINARY"):
				p.next()
			case !t.is("ASC"):
				sorted = false
			}
			p.skipGroup()
		}
	}
	return columns, sorted, p.accept(")")
}

// parseIndex reads a CREATE INDEX statement. It is false for an index that is not over plain columns of all rows.
func parseIndex(sql string) (columns []string, ok bool) {
	list, err := tokens(sql)
	if err != nil {
		return nil, false
	}
	p := &parser{list: list}
	p.accept("CREATE")
	p.accept("UNIQUE")
	if !p.accept("INDEX") || !p.next().isName() || !p.accept("ON") || !p.next().isName() {
		return nil, false
	}
	columns, sorted, ok := p.columnList()
	return columns, ok && sorted && p.peek().kind == endToken
}
