package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON writes one value, indented, and a line break. Bytes that are no UTF-8 become U+FFFD; whatever a terminal
// would act upon is escaped, so the value is unchanged.
func JSON(w io.Writer, v any) error { return encode(w, v, "  ") }

// JSONLine writes one value on one line.
func JSONLine(w io.Writer, v any) error { return encode(w, v, "") }

// appender is a value that writes its JSON without reflection.
type appender interface {
	appendJSON(b []byte) ([]byte, error)
}

// appendLine appends the value that v points to.
func appendLine(b []byte, v any) ([]byte, error) {
	if a, ok := v.(appender); ok {
		return a.appendJSON(b)
	}
	text, err := marshal(v, "")
	return append(b, text...), err
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
		default:
			out = appendEscape(out, r)
		}
	}
	return out
}

func appendEscape(b []byte, r rune) []byte {
	if r <= 0xffff {
		return fmt.Appendf(b, `\u%04x`, r)
	}
	hi, lo := utf16.EncodeRune(r)
	return fmt.Appendf(b, `\u%04x\u%04x`, hi, lo)
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
