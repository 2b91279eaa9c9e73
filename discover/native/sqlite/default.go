package sqlite

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// defaultOf reads the value after DEFAULT. Columns can be added only with a literal, so that nothing else has to be known
// for rows that are older than a column; where it is another expression, only those rows cannot be read.
func (p *parser) defaultOf(c *column) {
	whole := p.list
	group := p.accept("(")
	minus := false
	for p.peek().is("+", "-") {
		minus = minus != p.next().is("-")
	}
	t := p.next()
	v, ok := literal(t, minus, c.affinity)
	if group && !p.accept(")") {
		ok = false
	}
	if c.initial = v; ok {
		return
	}
	if c.badDefault = t.text; group {
		p.list = whole
		p.skipGroup()
	}
}

func errDefault(table string, c *column) error {
	return fmt.Errorf("table %s: the default of column %s (%s) is no literal", table, c.name, c.badDefault)
}

// literal is the value that a column of an affinity has by default.
func literal(t token, minus bool, a affinity) (v value, ok bool) {
	switch {
	case t.kind == numberToken:
		return numberLiteral(t.text, minus, a)
	case minus:
		return value{}, false
	case t.kind == stringToken || t.kind == nameToken:
		return a.apply(text(t.text)), true
	case t.kind == blobToken:
		b, err := hex.DecodeString(t.text)
		return value{kind: blobKind, bytes: b, size: int64(len(b))}, err == nil
	case t.is("NULL"):
		return value{}, true
	case t.is("TRUE"):
		return a.apply(integer(1)), true
	case t.is("FALSE"):
		return a.apply(integer(0)), true
	case t.kind == wordToken && !t.is("CURRENT_TIME", "CURRENT_DATE", "CURRENT_TIMESTAMP"):
		return a.apply(text(t.text)), true // a word without quotes is a text here
	}
	return value{}, false
}

// numberLiteral keeps a number for a text column as it is spelt.
func numberLiteral(s string, minus bool, a affinity) (value, bool) {
	s = strings.ReplaceAll(s, "_", "")
	if digits, ok := strings.CutPrefix(strings.ToLower(s), "0x"); ok {
		n, err := strconv.ParseUint(digits, 16, 64)
		if minus {
			n = -n
		}
		return a.apply(integer(int64(n))), err == nil
	}
	if minus {
		s = "-" + s
	}
	if a == noAffinity {
		return numeric(text(s)), true
	}
	return a.apply(text(s)), true
}
