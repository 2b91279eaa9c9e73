package discover

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Facts are an agent's own extra facts of one session or process: each name once, in the order of the names, as they are
// printed. A session has up to half a dozen, and a list is told of thousands: a map would take several times the memory. A
// list that was made is never changed, so that sessions and claims may share it. The zero value has no facts.
type Facts []Fact

// Fact is one of [Facts]; its value marshals to JSON. It is a type without a name so that facts are written as briefly as
// the members of a map: Facts{{"slug", slug}, {"variant", variant}}.
type Fact = struct {
	Name  string
	Value any
}

// Get returns the value of that name; nil if there is none.
func (f Facts) Get(name string) any {
	for _, fact := range f {
		if fact.Name == name {
			return fact.Value
		}
	}
	return nil
}

// WithoutEmpty returns a copy without empty values, which are "" and nil, in order. Of several facts with one name the last
// counts.
func (f Facts) WithoutEmpty() Facts {
	n := 0
	for _, fact := range f {
		if known(fact.Value) {
			n++
		}
	}
	out := make(Facts, 0, n)
	for _, fact := range f {
		if known(fact.Value) {
			out = out.put(fact)
		}
	}
	return out
}

// With returns the facts with one more, or with another value of that name. An empty value adds nothing.
func (f Facts) With(name string, value any) Facts {
	if !known(value) {
		return f
	}
	out := make(Facts, len(f), len(f)+1)
	copy(out, f)
	return out.put(Fact{name, value})
}

func known(value any) bool { return value != nil && value != "" }

// put inserts the fact in order, in place if there is room.
func (f Facts) put(fact Fact) Facts {
	if len(f) == 0 || f[len(f)-1].Name < fact.Name { // as nearly always
		return append(f, fact)
	}
	at, found := slices.BinarySearchFunc(f, fact.Name, func(f Fact, name string) int { return strings.Compare(f.Name, name) })
	if found {
		f[at] = fact
		return f
	}
	return slices.Insert(f, at, fact)
}

// MarshalJSON writes an object, as of a map with these facts: {} if there are none. What HTML would take for markup is left
// to the encoder that asks for it.
func (f Facts) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.Grow(256) // suffices for most
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	for i := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(&f[i].Name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(f[i].Value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Facts) UnmarshalJSON(text []byte) error {
	var members map[string]any
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	*f = make(Facts, 0, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		*f = append(*f, Fact{name, members[name]})
	}
	return nil
}
