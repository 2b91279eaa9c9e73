package render

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/clipperhouse/displaywidth"

	"agentctl/discover"
)

// Format is a user's template: text/template over the fields of a JSON object, such as {{.id}} or {{.tokens.in}}.
// A missing fact is empty. Outside of {{ }}, `\t` and `\n` mean a tab and a line break.
type Format struct {
	template   *template.Template
	objectType reflect.Type
	own        []string // the verb-specific fields that the objects have
}

// ParseFormat parses a template for objects of the type of object, a struct of this package such as [Session]. A
// template with an unknown field is an error, which lists the valid fields. own are those of the verb-specific fields that the objects have.
func ParseFormat(text string, now func() time.Time, object any, own ...string) (*Format, error) {
	switch {
	case text == "table" || strings.HasPrefix(text, "table "):
		return nil, errors.New("--format: a template prints lines, not a table; leave out the word table")
	case !strings.Contains(text, "{{"):
		return nil, fmt.Errorf("--format: %q contains no field: use a Go template such as '{{.%s}}', or the word json", text, fieldNames(reflect.TypeOf(object), own)[0])
	}
	f := &Format{objectType: reflect.TypeOf(object), own: own}
	t, err := template.New("format").Option("missingkey=error").Funcs(template.FuncMap{
		"json":     jsonText,
		"age":      func(timestamp any) string { return ageText(timestamp, now()) },
		"truncate": func(n int, v any) string { return displaywidth.TruncateString(fmt.Sprint(v), n, "…") },
	}).Parse(expandEscapes(text))
	if err != nil {
		return nil, fmt.Errorf("--format: %s", strings.TrimPrefix(err.Error(), "template: "))
	}
	f.template = t
	if unknown, ok := errors.AsType[*unknownFieldError](f.execute(io.Discard, emptyData(f.objectType, f.own))); ok {
		return nil, unknown
	}
	return f, nil // the empty data may cause other errors
}

// expandEscapes replaces `\t` and `\n` with a tab and a line break. Inside of {{ }} they belong to Go strings and
// stay.
func expandEscapes(text string) string {
	return regexp.MustCompile(`(?s)\{\{.*?\}\}|\\[tn]`).ReplaceAllStringFunc(text, func(part string) string {
		return cmp.Or(map[string]string{`\t`: "\t", `\n`: "\n"}[part], part)
	})
}

// unknownFieldError reports a field that the object does not have.
type unknownFieldError struct {
	quoted string
	within string // the member that the field was looked for in, such as .tokens; "" for the object itself
	fields []string
}

func (e *unknownFieldError) Error() string {
	switch {
	case e.within != "" && len(e.fields) == 0: // the agents' own facts
		return fmt.Sprintf("--format: not every object has %s in %s; use {{index %[2]s %[1]s}}", e.quoted, e.within)
	case e.within != "":
		return fmt.Sprintf("--format: no field %s in %s; valid fields: %s", e.quoted, e.within, strings.Join(e.fields, ", "))
	}
	return fmt.Sprintf("--format: no field %s; valid fields: %s", e.quoted, strings.Join(e.fields, ", "))
}

// Write prints one object, followed by a line break. The object has the type given to [ParseFormat]. Its texts are
// sanitized.
func (f *Format) Write(w io.Writer, object any) error {
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var values map[string]any
	_ = dec.Decode(&values) // it was just encoded
	fields := emptyData(f.objectType, f.own)
	fields.fill(values)
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
	if at, field, ok := strings.Cut(err.Error(), ">: map has no entry for key "); ok {
		_, at, _ = strings.Cut(at, " at <")
		e := &unknownFieldError{quoted: field, fields: fieldNames(f.objectType, f.own)}
		if path := strings.Split(at, "."); len(path) == 3 && path[0] == "" && field == strconv.Quote(path[2]) {
			known, _ := fields[path[1]].(templateData)
			e.within, e.fields = "."+path[1], slices.DeleteFunc(slices.Sorted(maps.Keys(known)), func(name string) bool { return name == "" })
		}
		return e
	}
	return &FormatError{err}
}

// FormatError reports a template that fails on one object, such as a slice beyond the end of a text.
type FormatError struct{ err error }

func (e *FormatError) Error() string {
	return "--format: " + strings.TrimPrefix(e.err.Error(), "template: ")
}

// fieldNames returns the names of the fields that a template may use.
func fieldNames(t reflect.Type, own []string) []string {
	var out []string
	for _, f := range fieldsOf(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !isVerbSpecific(name) || slices.Contains(own, name) {
			out = append(out, name)
		}
	}
	return out
}

// fieldsOf returns the fields of a struct and of those that it embeds.
func fieldsOf(t reflect.Type) []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return f.Anonymous })
}

// isVerbSpecific reports whether a field is printed only by status --explain, by launch and resume with --wait, or by search.
func isVerbSpecific(name string) bool {
	return name == "explain" || name == "answer" || name == "matches"
}

// templateData is what a template sees of an object. Unknown facts are empty. The member without a name is the JSON object.
type templateData map[string]any

// emptyData has every field of a type, empty; of the verb-specific ones, those in own.
func emptyData(t reflect.Type, own []string) templateData {
	m := templateData{}
	for _, field := range fieldsOf(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		inner := field.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case isVerbSpecific(name) && !slices.Contains(own, name):
		case inner == reflect.TypeFor[discover.Facts]():
			m[name] = map[string]any{}
		case inner.Kind() == reflect.Struct:
			m[name] = emptyData(inner, own)
		case inner.Kind() == reflect.Slice:
			m[name] = []any{}
		default:
			m[name] = ""
		}
	}
	return m
}

// fill replaces empty fields with the sanitized values that are known.
func (t templateData) fill(values map[string]any) {
	for name, v := range values {
		object, isObject := v.(map[string]any)
		inner, hasFields := t[name].(templateData)
		switch {
		case v == nil:
		case isObject && hasFields:
			inner.fill(object)
		default:
			t[name] = sanitizeValue(v)
		}
	}
	text, _ := marshal(values, "")
	t[""] = string(text) // for [jsonText]; a terminal interprets nothing of it
}

// sanitizeValue sanitizes every text in v, and makes numbers comparable in templates.
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

// jsonText returns v as --json prints it: of an object, only the fields that are known.
func jsonText(v any) (string, error) {
	if d, ok := v.(templateData); ok {
		if text, known := d[""].(string); known {
			return text, nil
		}
		v = nil
	}
	text, err := marshal(v, "")
	return string(text), err
}
