package config

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// decodeTable decodes a table key by key, so that the error about a key knows the key's place. A key that is none of keys is
// an error.
func decodeTable(md *toml.MetaData, prefix string, table map[string]toml.Primitive, keys map[string]any) *Error {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		to, ok := keys[name]
		if !ok {
			to = reject("no such key; valid keys: " + strings.Join(slices.Sorted(maps.Keys(keys)), ", "))
		}
		if err := md.PrimitiveDecode(table[name], to); err != nil {
			return newError(prefix+name, err)
		}
	}
	return nil
}

// decoder takes the value of a key. Its error gets the value's place in the file, which an error about a wrong type, as
// the library finds it, has not.
type decoder func(value any) error

// UnmarshalTOML implements [toml.Unmarshaler].
func (d decoder) UnmarshalTOML(value any) error { return d(value) }

// reject takes no value.
func reject(text string) decoder {
	return func(any) error { return errors.New(text) }
}

// boolValue takes a boolean.
func boolValue(to *bool) decoder {
	return func(value any) (err error) {
		var ok bool
		if *to, ok = value.(bool); !ok {
			err = fmt.Errorf("%s must be true or false", quote(value))
		}
		return err
	}
}

// stringValue takes a text that is not empty.
func stringValue(to *string) decoder {
	return func(value any) error {
		s, ok := value.(string)
		if !ok || s == "" {
			return fmt.Errorf("%s is not text", quote(value))
		}
		*to = s
		return nil
	}
}

// stringList takes a text or a list of them.
func stringList(to *[]string) decoder {
	return func(value any) error {
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		*to = make([]string, len(list))
		for i, v := range list {
			if err := stringValue(&(*to)[i])(v); err != nil {
				return err
			}
		}
		return nil
	}
}

// oneOf takes one of several words.
func oneOf(to *string, words []string) decoder {
	return func(value any) error {
		s, ok := value.(string)
		if !ok || !slices.Contains(words, s) {
			return fmt.Errorf("must be %s, not %s", strings.Join(words, " or "), quote(value))
		}
		*to = s
		return nil
	}
}

// dirList takes a list of absolute directories.
func dirList(to func([]string)) decoder {
	return func(value any) error {
		list, ok := value.([]any)
		if !ok {
			return errors.New(`want a list of directories, as in ["/srv/agents/home"]`)
		}
		dirs := []string{}
		for _, v := range list {
			s, ok := v.(string)
			if _, tilde := cutTilde(s); !ok || !tilde && !filepath.IsAbs(s) {
				return fmt.Errorf("%s is not an absolute directory (a leading ~/ is your home)", quote(v))
			}
			dirs = append(dirs, s)
		}
		to(dirs)
		return nil
	}
}

func quote(v any) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprint(v)
}
