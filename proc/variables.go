package proc

import (
	"maps"
	"slices"
)

// variables are those of a process's environment that were asked for so far. No others are kept: they may be secrets.
type variables struct {
	asked []string
	found map[string]string
	err   error
}

// get returns those of the named variables that there are, and asks for those alone that nobody has asked for before.
func (v *variables) get(keys []string, ask func(more []string) (map[string]string, error)) (map[string]string, error) {
	more := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return slices.Contains(v.asked, key) })
	if v.err == nil && len(more) > 0 {
		v.add(more, ask)
	}
	if v.err != nil {
		return nil, v.err
	}
	out := map[string]string{}
	for _, key := range keys {
		if value, ok := v.found[key]; ok {
			out[key] = value
		}
	}
	return out, nil
}

func (v *variables) add(more []string, ask func([]string) (map[string]string, error)) {
	found, err := ask(more)
	if v.err = err; err != nil {
		return
	}
	v.asked = append(v.asked, more...)
	if v.found == nil {
		v.found = map[string]string{}
	}
	maps.Copy(v.found, found)
}
