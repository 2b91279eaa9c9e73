package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/clipperhouse/displaywidth"

	"agentctl/discover"
)

// Format is a template of the person's own, in the syntax of text/template over the names of the JSON contract:
// {{.id}}, {{.tokens.in}}. A fact that is absent is empty. `\t` and `\n` in it stand for a tab and a line break.
type Format struct{ t *template.Template }

// ParseFormat reads a template. Unknown field names are an error that lists the valid ones.
func ParseFormat(text string, now time.Time) (*Format, error) {
	text = unescaped(text)
	t, err := template.New("format").Option("missingkey=error").Funcs(template.FuncMap{
		"json":     jsonText,
		"age":      func(stamp any) string { return ageText(stamp, now) },
		"truncate": func(n int, v any) string { return displaywidth.TruncateString(fmt.Sprint(v), n, "…") },
	}).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("--format: %s", strings.TrimPrefix(err.Error(), "template: "))
	}
	f := &Format{t}
	if unknown, ok := errors.AsType[*unknownFieldError](f.execute(io.Discard, blank())); ok {
		return nil, unknown
	}
	return f, nil // other errors may be due to the blank
}

// unescaped makes tabs and line breaks of `\t` and `\n`. Inside of {{ }} these stand in Go's own strings.
func unescaped(text string) string {
	escapes := strings.NewReplacer(`\t`, "\t", `\n`, "\n")
	var b strings.Builder
	for len(text) > 0 {
		plain, rest, _ := strings.Cut(text, "{{")
		action := text[len(plain) : len(text)-len(rest)]
		if i := strings.Index(rest, "}}"); i >= 0 {
			action, rest = action+rest[:i], rest[i:]
		}
		b.WriteString(escapes.Replace(plain))
		b.WriteString(action)
		text = rest
	}
	return b.String()
}

// unknownFieldError is a template's field that the contract does not have.
type unknownFieldError struct{ quoted string }

func (e *unknownFieldError) Error() string {
	return fmt.Sprintf("--format: no field %s; there are: %s", e.quoted, strings.Join(Fields(), ", "))
}

// Write prints one session and a line break. Its texts are cleaned as in tables.
func (f *Format) Write(w io.Writer, s discover.Session) error {
	fields, err := fieldsOf(Of(s))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := f.execute(&b, fields); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = w.Write(b.Bytes())
	return err
}

func (f *Format) execute(w io.Writer, fields map[string]any) error {
	err := f.t.Execute(w, fields)
	if err == nil {
		return nil
	}
	if _, field, ok := strings.Cut(err.Error(), "map has no entry for key "); ok {
		return &unknownFieldError{field}
	}
	return &FormatError{err}
}

// FormatError is what a template asks of a session that cannot be done, as a slice beyond a text's end.
type FormatError struct{ err error }

func (e *FormatError) Error() string {
	return "--format: " + strings.TrimPrefix(e.err.Error(), "template: ")
}

// Fields are the names of the session object, in their order.
func Fields() []string {
	return names(reflect.TypeFor[Session](), "explain")
}

func names(t reflect.Type, without string) []string {
	var out []string
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != without {
			out = append(out, name)
		}
	}
	return out
}

// facts is an object inside of the session's; what is not known is empty.
type facts map[string]any

// blank has every field, empty.
func blank() map[string]any {
	m := map[string]any{}
	for _, name := range Fields() {
		m[name] = ""
	}
	for name, t := range map[string]reflect.Type{
		"tokens": reflect.TypeFor[Tokens](), "evidence": reflect.TypeFor[Evidence](), "changes": reflect.TypeFor[Changes](),
	} {
		inner := facts{}
		for _, n := range names(t, "") {
			inner[n] = ""
		}
		m[name] = inner
	}
	m["pids"], m["meta"], m["quotas"], m["processes"] = []any{}, map[string]any{}, []any{}, []any{}
	return m
}

// fieldsOf turns the contract's object into the template's data: what JSON would say, cleaned, over a blank, and so the
// objects in it.
func fieldsOf(s Session) (map[string]any, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var have map[string]any
	if err := dec.Decode(&have); err != nil {
		return nil, err
	}
	m := blank()
	for k, v := range have {
		object, isObject := v.(map[string]any)
		known, hasFields := m[k].(facts)
		switch {
		case v == nil:
		case isObject && hasFields:
			for name := range object {
				known[name] = tidy(object[name])
			}
		default:
			m[k] = tidy(v)
		}
	}
	return m, nil
}

// tidy cleans every text inside v, and makes numbers comparable.
func tidy(v any) any {
	switch v := v.(type) {
	case string:
		return Clean(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = tidy(out[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k := range v {
			out[Clean(k)] = tidy(v[k])
		}
		return out
	}
	return v
}

// jsonText is what JSON would say: of an object without what is not known of it.
func jsonText(v any) (string, error) {
	if f, ok := v.(facts); ok {
		f = maps.Clone(f)
		maps.DeleteFunc(f, func(_ string, v any) bool { return v == "" })
		if v = f; len(f) == 0 {
			v = nil
		}
	}
	text, err := marshal(v, "")
	return string(text), err
}

// ageText is the age of a time as the contract writes it.
func ageText(stamp any, now time.Time) string {
	t, err := time.Parse(time.RFC3339, fmt.Sprint(stamp))
	if err != nil {
		return ""
	}
	return Age(t, now)
}
