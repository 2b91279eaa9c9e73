package discover

import (
	"maps"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// Whatever a store has in place of a text, a record holds a bounded part of it; this is checked for all its texts.
func TestRecordsAreBounded(t *testing.T) {
	long := strings.Repeat("ä", 1<<20)
	r := Record{Meta: Facts{"long": long, "number": 7}, Quotas: []Quota{{Name: long, Text: long}}}
	skipped := []string{"Agent", "ID", "Path", "Home"} // known from names, which systems bound
	fill(reflect.ValueOf(&r).Elem(), long, skipped)
	r.TruncateTexts()
	for name, text := range texts(reflect.ValueOf(r), "") {
		if len(text) > textLimit || len(text) < textLimit-utf8.UTFMax || !utf8.ValidString(text) {
			t.Errorf("%s has %d bytes", name, len(text))
		}
	}
	if len(r.Meta["long"].(string)) > textLimit || r.Meta["number"] != 7 {
		t.Errorf("meta: %d bytes, %v", len(r.Meta["long"].(string)), r.Meta["number"])
	}
	short := Record{Title: "a", Dir: "/x"}
	if short.TruncateTexts(); short.Title != "a" || short.Dir != "/x" {
		t.Errorf("%+v", short)
	}
}

// fill sets all texts of a struct, and of those within it, but for some.
func fill(v reflect.Value, text string, skipped []string) {
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case strings.Contains(strings.Join(skipped, " "), v.Type().Field(i).Name):
		case f.Kind() == reflect.String:
			f.SetString(text)
		case f.Kind() == reflect.Struct && f.Type().PkgPath() == v.Type().PkgPath():
			fill(f, text, skipped)
		}
	}
}

// texts are those of a struct that are not empty, by name.
func texts(v reflect.Value, prefix string) map[string]string {
	out := map[string]string{}
	for i := range v.NumField() {
		name := prefix + v.Type().Field(i).Name
		switch f := v.Field(i); {
		case f.Kind() == reflect.String && f.Len() > 0:
			out[name] = f.String()
		case f.Kind() == reflect.Struct && f.Type().PkgPath() == v.Type().PkgPath():
			maps.Copy(out, texts(f, name+"."))
		case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct && name == "Quotas":
			maps.Copy(out, texts(f.Index(0), name+"."))
		}
	}
	return out
}
