package render

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"agentctl/internal/object"
)

// JSON writes one value, indented, and a line break. It replaces bytes that are not UTF-8 with U+FFFD, and escapes
// every character that a terminal would interpret, which leaves the value unchanged.
func JSON(w io.Writer, v any) error { return encode(w, v, "  ") }

// JSONLine is [JSON] on one line.
func JSONLine(w io.Writer, v any) error { return encode(w, v, "") }

// JSONArray writes an array, each value on its own line.
func JSONArray[T any](w io.Writer, list []T) error {
	if len(list) == 0 {
		_, err := io.WriteString(w, "[]\n")
		return err
	}
	out := bufio.NewWriter(w)
	separator := "[\n"
	for i := range list {
		out.WriteString(separator)
		if err := writeValue(out, &list[i]); err != nil {
			return err
		}
		separator = ",\n"
	}
	out.WriteString("\n]\n")
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

// escape replaces each character that a terminal would interpret with its \u escape, and what is no character with U+FFFD: bytes that are
// not UTF-8, and the escape of half a surrogate pair, which jq refuses. Outside of strings, JSON consists of printable ASCII, line breaks and
// blanks; inside of strings, encoding/json has escaped C0 already.
func escape(text []byte) []byte {
	var out []byte
	begin := 0 // of the text that is not yet in out
	for i := 0; i < len(text); {
		if text[i] < 0x7f && text[i] != '\\' {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if r == '\\' {
			r, size = decodeEscape(text[i:])
		}
		switch {
		case isUnsafe(r) && !isJoiner(r) && !unicode.Is(unicode.Variation_Selector, r): // it affects the text around it
			out = append(out, text[begin:i]...)
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
			begin = i + size
		case r == utf8.RuneError: // also from a json.RawMessage, which the encoder copies unchanged
			out = utf8.AppendRune(append(out, text[begin:i]...), r)
			begin = i + size
		}
		i += size
	}
	if begin == 0 { // most texts
		return text
	}
	return append(out, text[begin:]...)
}

// decodeEscape returns the size of the escape that a text begins with: a surrogate pair is one. The character is that of half a pair,
// [utf8.RuneError], or else the backslash.
func decodeEscape(text []byte) (r rune, size int) {
	const unit, pair = len(`\ud83d`), len(`\ud83d\ude00`)
	if len(text) < unit || text[1] != 'u' {
		return '\\', 2
	}
	var halves [2]rune
	for i := range halves {
		if at := i * unit; len(text) >= at+unit && text[at] == '\\' && text[at+1] == 'u' {
			n, _ := strconv.ParseUint(string(text[at+2:at+unit]), 16, 16) // valid JSON has four digits
			halves[i] = rune(n)
		}
	}
	switch {
	case !utf16.IsSurrogate(halves[0]):
		return '\\', unit
	case utf16.DecodeRune(halves[0], halves[1]) != utf8.RuneError:
		return '\\', pair
	}
	return utf8.RuneError, unit
}

// ExportJSON writes each session as one object: a single one with a line for each message, several with a line for each session.
// It writes one message after the other, because a session may take up a hundred megabytes.
func ExportJSON(w io.Writer, sessions []object.Export) error {
	b := bufio.NewWriterSize(w, 64<<10)
	lineBreak := "\n"
	if len(sessions) > 1 {
		lineBreak = ""
	}
	for _, e := range sessions {
		if err := writeExport(b, e, lineBreak); err != nil {
			return err
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}

func writeExport(b *bufio.Writer, e object.Export, lineBreak string) error {
	b.WriteString(`{"session":`)
	err := writeValue(b, e.Session)
	list := func(n int, element func(i int) error) {
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(lineBreak)
			err = cmp.Or(err, element(i))
		}
		if n > 0 {
			b.WriteString(lineBreak)
		}
		b.WriteByte(']')
	}
	b.WriteString("," + lineBreak + `"messages":[`)
	list(len(e.Messages), func(i int) error { return writeValue(b, e.Messages[i]) })
	if len(e.Missing) > 0 {
		b.WriteString("," + lineBreak + `"missing":`)
		err = cmp.Or(err, writeValue(b, e.Missing))
	}
	if len(e.Children) > 0 {
		b.WriteString("," + lineBreak + `"children":[`)
		list(len(e.Children), func(i int) error { return writeExport(b, e.Children[i], lineBreak) })
	}
	b.WriteByte('}')
	return err
}

func writeValue(b *bufio.Writer, v any) error {
	text, err := marshal(v, "")
	b.Write(text)
	return err
}
