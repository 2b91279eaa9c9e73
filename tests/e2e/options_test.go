package e2e_test

import "strings"

// options are a command line as the agents' parsers read it.
type options struct {
	set   map[string]string // by the name as it was written
	words []string          // what is no option: commands, the prompt
}

// parseOptions reads a command line; valued and plain are the options that there are, each with a blank before and
// after it. The first option that there is not is unknown.
func parseOptions(args []string, valued, plain string) (o options, unknown string) {
	o.set = map[string]string{}
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		switch {
		case args[i] == "--":
			o.words = append(o.words, args[i+1:]...)
			return o, ""
		case !strings.HasPrefix(name, "-") || name == "-":
			o.words = append(o.words, args[i])
		case strings.Contains(valued, " "+name+" ") && joined:
			o.set[name] = value
		case strings.Contains(valued, " "+name+" ") && i+1 < len(args):
			i++
			o.set[name] = args[i]
		case strings.Contains(plain, " "+name+" "):
			o.set[name] = name
		default:
			return o, args[i]
		}
	}
	return o, ""
}

// first is the value of the first of these names that is set, "" if none is.
func (o options) first(names ...string) string {
	for _, name := range names {
		if v := o.set[name]; v != "" {
			return v
		}
	}
	return ""
}
