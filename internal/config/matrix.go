package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// Matrix is a file that describes a group of launches.
type Matrix struct {
	// Prompt, Dir and Spec are as the flags --prompt, --cwd and --spec; "" where the file does not say.
	Prompt, Dir, Spec string
	Entries           []Entry
}

// Entry is one row of a matrix: a launch for each model, or one with the agent's own.
type Entry struct {
	Agent  string
	Models []string
	// Branch and Base name the branch to work on and where it starts; "" leaves both to the launch.
	Branch, Base string
}

// LoadMatrix reads a matrix file:
//
//	prompt = "make the tests pass"
//	cwd = "~/src/api"
//	spec = "spec.md"
//	[[matrix]]
//	adapter = "claude-code"
//	model = ["opus", "sonnet"]
//	base_branch = "main"
//
// agents are the names that adapter may have. A leading ~/ of cwd is home. Every error is an [*Error].
func LoadMatrix(path, home string, agents []string) (Matrix, error) {
	var m Matrix
	text, err := read(path)
	if err != nil {
		return m, unreadable(path, err)
	}
	if err := m.decode(string(text), agents); err != nil {
		return m, locate(path, err)
	}
	if _, tilde := cutHome(m.Dir); tilde {
		m.Dir = expand(m.Dir, home)
	}
	return m, nil
}

func (m *Matrix) decode(text string, agents []string) error {
	var doc map[string]toml.Primitive
	md, err := toml.Decode(text, &doc)
	if err != nil {
		return err
	}
	var rows []map[string]toml.Primitive
	keys := map[string]any{
		"prompt": (*word)(&m.Prompt), "cwd": (*word)(&m.Dir), "spec": (*word)(&m.Spec), "matrix": &rows,
	}
	if md.IsDefined("matrix") && md.Type("matrix") != "ArrayHash" {
		keys["matrix"] = &notRows{}
	}
	if err := fields(&md, "", doc, keys); err != nil {
		return err
	}
	if len(rows) == 0 {
		return keyed("matrix", errors.New("there is no [[matrix]] entry"))
	}
	for i, row := range rows {
		e := Entry{}
		name := fmt.Sprintf("matrix[%d].", i+1)
		if err := fields(&md, name, row, map[string]any{
			"adapter": &choice{&e.Agent, agents}, "model": (*words)(&e.Models),
			"branch": (*word)(&e.Branch), "base_branch": (*word)(&e.Base),
		}); err != nil {
			return err
		}
		if e.Agent == "" {
			return keyed(name+"adapter", errors.New("it is missing"))
		}
		m.Entries = append(m.Entries, e)
	}
	return nil
}

// fields decodes a table key by key, so that the error about a key knows the key's place. A key that is none of keys is
// an error.
func fields(md *toml.MetaData, prefix string, table map[string]toml.Primitive, keys map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		dst, ok := keys[name]
		if !ok {
			dst = &unknownKey{name, slices.Sorted(maps.Keys(keys))}
		}
		if err := md.PrimitiveDecode(table[name], dst); err != nil {
			return keyed(prefix+name, err)
		}
	}
	return nil
}

// word is a text that is not empty.
type word string

// UnmarshalTOML implements [toml.Unmarshaler].
func (w *word) UnmarshalTOML(value any) error {
	s, ok := value.(string)
	if !ok || s == "" {
		return fmt.Errorf("%s is not text", quote(value))
	}
	*w = word(s)
	return nil
}

// words is a text or a list of them.
type words []string

// UnmarshalTOML implements [toml.Unmarshaler].
func (l *words) UnmarshalTOML(value any) error {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	for _, v := range list {
		var w word
		if err := w.UnmarshalTOML(v); err != nil {
			return err
		}
		*l = append(*l, string(w))
	}
	return nil
}

// choice is one of several words.
type choice struct {
	to    *string
	words []string
}

// UnmarshalTOML implements [toml.Unmarshaler].
func (c *choice) UnmarshalTOML(value any) error {
	s, ok := value.(string)
	if !ok || !slices.Contains(c.words, s) {
		return fmt.Errorf("must be %s, not %s", strings.Join(c.words, " or "), quote(value))
	}
	*c.to = s
	return nil
}

// notRows stands where the entries [[matrix]] should be.
type notRows struct{}

// UnmarshalTOML implements [toml.Unmarshaler].
func (*notRows) UnmarshalTOML(any) error {
	return errors.New("want entries that begin with [[matrix]], one a launch")
}
