package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/clipperhouse/displaywidth"

	"agentctl/discover"
)

// Format is a template of the person's own, in the syntax of text/template over the names of an object of the JSON contract:
// {{.id}}, {{.tokens.in}}. A fact that is absent is empty. `\t` and `\n` in it stand for a tab and a line break.
type Format struct {
	template   *template.Template
	objectType reflect.Type
	// jsonObjects are the parts of the value that is printed, as JSON has them, by the addresses of their maps.
	jsonObjects map[uintptr]any
}

// ParseFormat reads a template for objects of one type of this package, such as [Session]. Unknown field names are an error that
// lists the valid ones.
func ParseFormat(text string, now func() time.Time, of any) (*Format, error) {
	switch {
	case text == "table" || strings.HasPrefix(text, "table "):
		return nil, errors.New("--format: a template prints lines, not a table; leave out the word table")
	case !strings.Contains(text, "{{"):
		return nil, fmt.Errorf("--format: %q contains no field: use a Go template such as '{{.%s}}', or the word json", text, fieldNames(reflect.TypeOf(of))[0])
	}
	f := &Format{objectType: reflect.TypeOf(of), jsonObjects: map[uintptr]any{}}
	t, err := template.New("format").Option("missingkey=error").Funcs(template.FuncMap{
		"json":     f.jsonText,
		"age":      func(stamp any) string { return ageText(stamp, now()) },
		"truncate": func(n int, v any) string { return displaywidth.TruncateString(fmt.Sprint(v), n, "…") },
	}).Parse(expandEscapes(text))
	if err != nil {
		return nil, fmt.Errorf("--format: %s", strings.TrimPrefix(err.Error(), "template: "))
	}
	f.template = t
	if unknown, ok := errors.AsType[*unknownFieldError](f.execute(io.Discard, emptyData(f.objectType))); ok {
		return nil, unknown
	}
	return f, nil // other errors may be due to the blank
}

// expandEscapes makes tabs and line breaks of `\t` and `\n`. Inside of {{ }} these stand in Go's own strings.
func expandEscapes(text string) string {
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
type unknownFieldError struct {
	quoted string
	fields []string
}

func (e *unknownFieldError) Error() string {
	return fmt.Sprintf("--format: no field %s; valid fields: %s", e.quoted, strings.Join(e.fields, ", "))
}

// Write prints one object, which has the type of the format, and a line break. Its texts are cleaned as in tables.
func (f *Format) Write(w io.Writer, object any) error {
	clear(f.jsonObjects)
	fields, err := f.newTemplateData(object)
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

func (f *Format) execute(w io.Writer, fields templateData) error {
	err := f.template.Execute(w, fields)
	if err == nil {
		return nil
	}
	if _, field, ok := strings.Cut(err.Error(), "map has no entry for key "); ok {
		return &unknownFieldError{field, fieldNames(f.objectType)}
	}
	return &FormatError{err}
}

// FormatError is what a template asks of a session that cannot be done, as a slice beyond a text's end.
type FormatError struct{ err error }

func (e *FormatError) Error() string {
	return "--format: " + strings.TrimPrefix(e.err.Error(), "template: ")
}

// SessionFields are the names of the session object, in their order.
func SessionFields() []string {
	return fieldNames(reflect.TypeFor[Session]())
}

// fieldNames are the names of the fields that a format may use.
func fieldNames(t reflect.Type) []string {
	var out []string
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !isVerbSpecific(name) {
			out = append(out, name)
		}
	}
	return out
}

// isVerbSpecific reports whether only one way of asking prints the field: status --explain, or launch and resume with --wait.
func isVerbSpecific(name string) bool { return name == "explain" || name == "answer" }

// templateData is an object; what is not known is empty.
type templateData map[string]any

// emptyData has every field of a type, empty.
func emptyData(t reflect.Type) templateData {
	m := templateData{}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		inner := field.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case isVerbSpecific(name):
		case inner == reflect.TypeFor[discover.Facts]():
			m[name] = map[string]any{}
		case inner.Kind() == reflect.Struct:
			m[name] = emptyData(inner)
		case inner.Kind() == reflect.Slice:
			m[name] = []any{}
		default:
			m[name] = ""
		}
	}
	return m
}

// newTemplateData turns an object into the template's data: what JSON would say, cleaned, over a blank, and so the objects in it.
func (f *Format) newTemplateData(object any) (templateData, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var have map[string]any
	if err := dec.Decode(&have); err != nil {
		return nil, err
	}
	m := emptyData(f.objectType)
	f.fill(m, have)
	return m, nil
}

// fill puts what is known into a blank.
func (f *Format) fill(m templateData, have map[string]any) {
	f.jsonObjects[reflect.ValueOf(m).Pointer()] = have
	for name, v := range have {
		object, isObject := v.(map[string]any)
		inner, hasFields := m[name].(templateData)
		switch {
		case v == nil:
		case isObject && hasFields:
			f.fill(inner, object)
		default:
			m[name] = sanitizeValue(v)
		}
	}
}

// sanitizeValue cleans every text inside v, and makes numbers comparable.
func sanitizeValue(v any) any {
	switch v := v.(type) {
	case string:
		return Sanitize(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = sanitizeValue(out[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k := range v {
			out[Sanitize(k)] = sanitizeValue(v[k])
		}
		return out
	}
	return v
}

// jsonText is what --json would print: of an object only what is known of it.
func (f *Format) jsonText(v any) (string, error) {
	if m, ok := v.(templateData); ok {
		v = f.jsonObjects[reflect.ValueOf(m).Pointer()]
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
