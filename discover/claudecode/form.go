package claudecode

// form is how a record was written: what stands around the values that vary from one record to the next. The records of a
// session are mostly alike, so that the next one need only be compared with it. Whatever fits is what the record was, since
// the way through an object does not depend on the values in it, but on where they end.
type form struct {
	text  []byte // the record without what varies
	parts []part
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
	// In a usage.
	anyCount
	inCount
	outCount
	cacheReadCount
	cacheWriteCount
	reasoningCount
)

// span is where a value stands in a record.
type span struct {
	from, to int
	value    value
}

// learn takes the form of what was gone over from there on.
func (f *form) learn(c *compact, from int, varies []span) {
	f.text, f.parts = f.text[:0], f.parts[:0]
	for _, v := range varies {
		f.text = append(f.text, c.raw[from:v.from]...)
		f.parts = append(f.parts, part{v.from - from, v.value})
		from = v.to
	}
	f.text = append(f.text, c.raw[from:c.at]...)
}

// fits reports whether what comes next has the form, and passes it.
func (f *form) fits(c *compact, s *skim, r *skimmed) bool {
	if len(f.parts) == 0 {
		return false
	}
	text := f.text
	for _, p := range f.parts {
		if !c.passText(text[:p.length]) {
			return false
		}
		text = text[p.length:]
		s.take(c, r, p.value)
	}
	return c.passText(text)
}
