package config

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"agentctl/internal/host"
)

// decodeTable decodes a table key by key, so that an error can name the position of its key. A key that is not in
// keys is an error.
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

// decoder decodes the value of a key. The TOML library adds the position of the value to an error of a decoder,
// but not to its own errors about wrong types.
type decoder func(value any) error

func (d decoder) UnmarshalTOML(value any) error { return d(value) }

// reject returns a decoder that fails with a message.
func reject(text string) decoder {
	return func(any) error { return errors.New(text) }
}

// boolValue decodes a boolean.
func boolValue(to *bool) decoder {
	return func(value any) (err error) {
		var ok bool
		if *to, ok = value.(bool); !ok {
			err = fmt.Errorf("%s must be true or false", quote(value))
		}
		return err
	}
}

// stringValue decodes a string that is not empty.
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

// oneOf decodes one of several strings.
func oneOf(to *string, valid []string) decoder {
	return func(value any) error {
		s, ok := value.(string)
		if !ok || !slices.Contains(valid, s) {
			return fmt.Errorf("must be %s, not %s", strings.Join(valid, " or "), quote(value))
		}
		*to = s
		return nil
	}
}

// dirList decodes a list of absolute directories.
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

func hostValue(name string, to func(destination string)) decoder {
	return func(value any) error {
		var destination string
		if err := stringValue(&destination)(value); err != nil {
			return err
		}
		if name == host.Local {
			return errors.New(`"local" is this machine: use another name`)
		}
		if err := errors.Join(host.CheckName(name), host.CheckDestination(destination)); err != nil {
			return err
		}
		to(destination)
		return nil
	}
}

func quote(v any) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprint(v)
}
