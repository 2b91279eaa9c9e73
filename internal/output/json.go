package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON writes one value, indented, and a line break. Bytes that are no UTF-8 become U+FFFD; whatever a terminal
// would act upon is escaped, so the value is unchanged.
func JSON(w io.Writer, v any) error { return encode(w, v, "  ") }

// JSONLine writes one value on one line.
func JSONLine(w io.Writer, v any) error { return encode(w, v, "") }

// JSONArray writes the values as one array, each on a line of its own.
func JSONArray[T any](w io.Writer, list []T) error {
	return JSONArrayFunc(w, list, func(v T) T { return v })
}

// JSONArrayFunc is [JSONArray] of what of makes of each element. It encodes a batch of rows on each processor at the same time, which
// takes a tenth off list -a of 10,000 sessions, and writes the batches in order before it goes on, so that memory stays flat.
func JSONArrayFunc[S, T any](w io.Writer, list []S, of func(S) T) error {
	if len(list) == 0 {
		_, err := io.WriteString(w, "[]\n")
		return err
	}
	batches := make([]batch, runtime.GOMAXPROCS(0))
	separator := "[\n"
	for rows := range slices.Chunk(list, len(batches)*batchRows) {
		var encoding sync.WaitGroup
		used := 0
		for part := range slices.Chunk(rows, batchRows) {
			b := &batches[used]
			encoding.Go(func() { b.text, b.err = encodeRows(&b.buffer, part, of) })
			used++
		}
		encoding.Wait()
		for _, b := range batches[:used] {
			if b.err != nil {
				return b.err
			}
			if _, err := io.WriteString(w, separator); err != nil {
				return err
			}
			if _, err := w.Write(b.text); err != nil {
				return err
			}
			separator = rowSeparator
		}
	}
	_, err := io.WriteString(w, "\n]\n")
	return err
}

const (
	batchRows    = 128 // large enough that starting a goroutine costs nothing beside it
	rowSeparator = ",\n"
)

// batch is some rows of an array, encoded.
type batch struct {
	buffer bytes.Buffer // used again for the next rows
	text   []byte
	err    error
}

// encodeRows encodes rows with the separator between them.
func encodeRows[S, T any](b *bytes.Buffer, rows []S, of func(S) T) ([]byte, error) {
	b.Reset()
	enc := newEncoder(b)
	var value T
	for i, row := range rows {
		if i > 0 {
			b.Truncate(b.Len() - len("\n"))
			b.WriteString(rowSeparator)
		}
		value = of(row)
		if err := enc.Encode(&value); err != nil {
			return nil, err
		}
	}
	return escapedText(b), nil
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
	enc := newEncoder(&b)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return escapedText(&b), nil
}

func newEncoder(b *bytes.Buffer) *json.Encoder {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	return enc
}

// escapedText is what an encoder has written, without the last line break and escaped.
func escapedText(b *bytes.Buffer) []byte { return escape(bytes.TrimSuffix(b.Bytes(), []byte("\n"))) }

// escape writes as \u what a terminal would act upon, and bytes that are no UTF-8 as U+FFFD. Outside of strings JSON has only
// printable ASCII and the line breaks and blanks of the indentation; inside of them encoding/json has escaped C0 already.
func escape(text []byte) []byte {
	var out []byte
	begin := 0 // of what is not in out yet
	for i := 0; i < len(text); {
		if text[i] < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case needsEscape(r):
			out = appendEscape(append(out, text[begin:i]...), r)
			begin = i + size
		case r == utf8.RuneError: // also of an input that is JSON of the agent's, byte for byte
			out = utf8.AppendRune(append(out, text[begin:i]...), r)
			begin = i + size
		}
		i += size
	}
	if begin == 0 { // as in most texts
		return text
	}
	return append(out, text[begin:]...)
}

func appendEscape(b []byte, r rune) []byte {
	if r <= 0xffff {
		return fmt.Appendf(b, `\u%04x`, r)
	}
	hi, lo := utf16.EncodeRune(r)
	return fmt.Appendf(b, `\u%04x\u%04x`, hi, lo)
}

// needsEscape reports whether a character does something to the text around it instead of showing.
func needsEscape(r rune) bool {
	return isUnsafe(r) && !isJoiner(r) && !unicode.Is(unicode.Variation_Selector, r)
}
