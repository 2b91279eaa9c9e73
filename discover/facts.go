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

// WithoutEmpty returns the facts without empty values, which are "" and nil, in order. Of several facts with one name the last
// counts.
func (f Facts) WithoutEmpty() (out Facts) {
	for _, fact := range f {
		out = out.With(fact.Name, fact.Value)
	}
	return out
}

// With returns the facts with one more, or with another value of that name. An empty value adds nothing.
func (f Facts) With(name string, value any) Facts {
	if value == nil || value == "" {
		return f
	}
	out := slices.Clone(f)
	at, found := slices.BinarySearchFunc(out, name, func(f Fact, name string) int { return strings.Compare(f.Name, name) })
	if found {
		out[at].Value = value
		return out
	}
	return slices.Insert(out, at, Fact{name, value})
}

// MarshalJSON writes an object: {} if there are no facts. What HTML would take for markup is left to the encoder that asks for it.
func (f Facts) MarshalJSON() ([]byte, error) {
	members := make(map[string]any, len(f))
	for _, fact := range f {
		members[fact.Name] = fact.Value
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(members)
	return b.Bytes(), err
}

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
