package claudecode

import "bytes"

// form is how a record was written: what stands around the values that vary from one record to the next. The records of a
// session are mostly alike, so that the next one need only be compared with it. Whatever fits is what the record was, since
// the way through an object does not depend on the values in it, but on where they end.
type form struct {
	text  []byte // the record without what varies
	parts []part
	open  bool // what follows the form is not looked at
	side  bool // IsSidechain, which does not vary
}

// part is a piece of the text of this length, and the value that follows it.
type part struct {
	length int
	value  value
}

// value is one that varies.
type value int

const (
	anyValue value = iota
	idValue
	requestValue
	timeValue
	usageValue
)

// span is where a value stands in a record.
type span struct {
	from, to int
	value    value
}

// learn takes the form of a record that was gone over until to.
func (f *form) learn(raw []byte, to int, varies []span, side bool) {
	f.text, f.parts, f.side = f.text[:0], f.parts[:0], side
	at := 0
	for _, v := range varies {
		f.text = append(f.text, raw[at:v.from]...)
		f.parts = append(f.parts, part{v.from - at, v.value})
		at = v.to
	}
	f.text, f.open = append(f.text, raw[at:to]...), to < len(raw)
}

// fits reports whether a record has the form, and what it tells then.
func (f *form) fits(raw []byte, s *skim) (r skimmed, ok bool) {
	if len(f.parts) == 0 {
		return r, false
	}
	c, text := compact{raw: raw}, f.text
	r.IsSidechain = f.side
	for _, p := range f.parts {
		if !bytes.HasPrefix(raw[c.at:], text[:p.length]) {
			return r, false
		}
		c.at += p.length
		text = text[p.length:]
		s.take(&c, &r, p.value)
	}
	rest := raw[c.at:]
	return r, !c.bad && bytes.HasPrefix(rest, text) && (f.open || len(rest) == len(text))
}
