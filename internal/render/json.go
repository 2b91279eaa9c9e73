package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"unicode"
	"unicode/utf8"
)

// JSON writes one value, indented, and a line break. Bytes that are no UTF-8 become U+FFFD; whatever a terminal
// would act upon is escaped, so the value is unchanged.
func JSON(w io.Writer, v any) error {
	b, err := marshal(v, "")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// JSONLine writes one value on one line.
func JSONLine(w io.Writer, v any) error {
	b, err := marshal(v, "")
	if err != nil {
		return err
	}
	var line bytes.Buffer
	if err := json.Compact(&line, b); err != nil {
		return err
	}
	_, err = w.Write(append(line.Bytes(), '\n'))
	return err
}

// JSONArray writes the values as one array, each as soon as it is there.
func JSONArray[T any](w io.Writer, values iter.Seq[T]) error {
	start, end := "[\n  ", "[]\n"
	for v := range values {
		b, err := marshal(v, "  ")
		if err != nil {
			return err
		}
		if _, err := w.Write(append([]byte(start), b...)); err != nil {
			return err
		}
		start, end = ",\n  ", "\n]\n"
	}
	_, err := io.WriteString(w, end)
	return err
}

// marshal indents v; prefix stands before every line but the first.
func marshal(v any, prefix string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, "  ")
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return escape(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// escape writes as \u what a terminal would act upon. Outside of strings JSON has only printable ASCII and the line
// breaks and blanks of the indentation; inside of them encoding/json has escaped C0 already.
func escape(text []byte) []byte {
	ascii := func(r rune) bool { return r < utf8.RuneSelf && r != 0x7f }
	if bytes.IndexFunc(text, func(r rune) bool { return !ascii(r) }) < 0 {
		return text
	}
	out := make([]byte, 0, len(text)+16)
	for _, r := range string(text) {
		switch {
		case ascii(r), !acts(r):
			out = utf8.AppendRune(out, r)
		case r <= 0xffff:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			hi, lo := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		}
	}
	return out
}

// acts reports whether a character does something to the text around it instead of showing.
func acts(r rune) bool {
	return hazardous(r) && !joiner(r) && !unicode.Is(unicode.Variation_Selector, r)
}
