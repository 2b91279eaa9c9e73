package render

import (
	"bufio"
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
func JSON(w io.Writer, v any) error { return encode(w, v, "  ") }

// JSONLine writes one value on one line.
func JSONLine(w io.Writer, v any) error { return encode(w, v, "") }

// JSONArray writes the values as one array, each on a line of its own and as soon as it is there.
func JSONArray[T any](w io.Writer, values iter.Seq[T]) error {
	out := bufio.NewWriterSize(w, 64<<10)
	start, end := "[\n", "[]\n"
	for v := range values {
		text, err := marshal(v, "")
		if err != nil {
			return err
		}
		out.WriteString(start) // a failure stays, and Flush returns it
		out.Write(text)
		start, end = ",\n", "\n]\n"
	}
	out.WriteString(end)
	return out.Flush()
}

func encode(w io.Writer, v any, indent string) error {
	text, err := marshal(v, indent)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

func marshal(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return escape(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// escape writes as \u what a terminal would act upon. Outside of strings JSON has only printable ASCII and the line
// breaks and blanks of the indentation; inside of them encoding/json has escaped C0 already.
func escape(text []byte) []byte {
	if harmless(text) {
		return text
	}
	out := make([]byte, 0, len(text)+16)
	for _, r := range string(text) {
		switch {
		case r < 0x7f, !acts(r):
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

// harmless reports whether text is ASCII without DEL, as most is.
func harmless(text []byte) bool {
	for _, c := range text {
		if c >= 0x7f {
			return false
		}
	}
	return true
}

// acts reports whether a character does something to the text around it instead of showing.
func acts(r rune) bool {
	return hazardous(r) && !joiner(r) && !unicode.Is(unicode.Variation_Selector, r)
}
