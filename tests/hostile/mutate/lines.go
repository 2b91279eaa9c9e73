package mutate

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
)

// Lines are the damages of a file of JSON values, one a line (or of one JSON value).
func Lines() []Func {
	return []Func{
		value, value, value, value, key, key, dropLine, repeatLine, swapLines, nest, huge, blank, notObject, times, times, torn, surrogates, duplicateKey,
	}
}

// line returns the bounds of one line, its end left out; the first and the last are taken more often.
func line(r *rand.Rand, raw []byte) (from, to int) {
	switch r.IntN(4) {
	case 0:
		from = 0
	case 1:
		from = bytes.LastIndexByte(bytes.TrimRight(raw, "\n"), '\n') + 1
	default:
		from, _ = span(r, raw, 1)
		from = bytes.LastIndexByte(raw[:from], '\n') + 1
	}
	if to = bytes.IndexByte(raw[from:], '\n'); to < 0 {
		return from, len(raw)
	}
	return from, from + to
}

// replaced is raw with another text in place of raw[from:to].
func replaced(raw []byte, from, to int, text []byte) []byte {
	return slices.Replace(raw, from, to, text...)
}

// object replaces one line by what change makes of the JSON value in it. A line that is no JSON gets noise.
func object(r *rand.Rand, raw []byte, change func(any) any) []byte {
	from, to := line(r, raw)
	var v any
	if json.Unmarshal(raw[from:to], &v) != nil {
		out, _ := flip(r, raw)
		return out
	}
	out, err := json.Marshal(change(v))
	if err != nil {
		return raw
	}
	return replaced(raw, from, to, out)
}

// value puts another value in a random place.
func value(r *rand.Rand, raw []byte) ([]byte, string) {
	return object(r, raw, func(v any) any { return inside(r, v, func(any) any { return other(r) }) }), "another JSON value"
}

// inside changes one value, at a random depth.
func inside(r *rand.Rand, v any, change func(any) any) any {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 || r.IntN(8) == 0 {
			return change(v)
		}
		k := pick(r, sortedKeys(v))
		v[k] = inside(r, v[k], change)
		return v
	case []any:
		if len(v) == 0 || r.IntN(8) == 0 {
			return change(v)
		}
		i := r.IntN(len(v))
		v[i] = inside(r, v[i], change)
		return v
	}
	return change(v)
}

func sortedKeys(v map[string]any) []string {
	keys := make([]string, 0, len(v))
	for k := range v {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// other is a JSON value of any kind.
func other(r *rand.Rand) any {
	switch r.IntN(6) {
	case 0:
		return pick(r, []any{nil, true, false, []any{}, map[string]any{}, []any{nil}, map[string]any{"": ""}})
	case 1:
		return json.Number(pick(r, []string{
			"0", "-1", "1e308", "-1e308", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "1e-400", "0.1", "4611686018427387904", "1" + strings.Repeat("0", 300),
		}))
	case 2:
		return pick(r, []any{[]any{"a", map[string]any{"type": "text", "text": Text(r)}}, map[string]any{"type": "tool_use", "id": Text(r), "input": nil}})
	default:
		return Text(r)
	}
}

// key removes or renames a member of an object.
func key(r *rand.Rand, raw []byte) ([]byte, string) {
	return object(r, raw, func(v any) any {
		at, ok := v.(map[string]any)
		for ok && len(at) > 0 {
			k := pick(r, sortedKeys(at))
			if below, more := at[k].(map[string]any); more && len(below) > 0 && r.IntN(2) == 0 {
				at = below
				continue
			}
			if r.IntN(2) == 0 {
				at[short(Text(r), 100)] = at[k]
			}
			delete(at, k)
			break
		}
		return v
	}), "a member gone or renamed"
}

// duplicateKey states a member twice, with different values.
func duplicateKey(r *rand.Rand, raw []byte) ([]byte, string) {
	from, to := line(r, raw)
	if from == to || raw[from] != '{' {
		return raw, "a member twice"
	}
	k := pick(r, []string{"type", "sessionId", "id", "cwd", "timestamp", "payload", "message", "uuid"})
	text, _ := json.Marshal(other(r))
	return slices.Insert(raw, from+1, slices.Concat([]byte(`"`+k+`":`), text, []byte(","))...), "a member twice"
}

func dropLine(r *rand.Rand, raw []byte) ([]byte, string) {
	from, to := line(r, raw)
	return slices.Delete(raw, from, min(to+1, len(raw))), "a line gone"
}

func repeatLine(r *rand.Rand, raw []byte) ([]byte, string) {
	from, to := line(r, raw)
	text := append(bytes.Clone(raw[from:to]), '\n')
	return slices.Insert(raw, from, bytes.Repeat(text, 1+r.IntN(min(2000, 1+(4<<20)/len(text))))...), "a line many times"
}

func swapLines(r *rand.Rand, raw []byte) ([]byte, string) {
	list := bytes.SplitAfter(raw, []byte("\n"))
	for range 1 + r.IntN(4) {
		i, j := r.IntN(len(list)), r.IntN(len(list))
		list[i], list[j] = list[j], list[i]
	}
	return slices.Concat(list...), "lines in another order"
}

// nest makes a value of great depth.
func nest(r *rand.Rand, raw []byte) ([]byte, string) {
	from, to := line(r, raw)
	depth := pick(r, []int{100, 9_999, 10_001, 200_000})
	pair := pick(r, [][2]string{{"[", "]"}, {`{"a":`, "}"}, {`{"message":{"content":[`, "]}}"}})
	text := strings.Repeat(pair[0], depth) + "1" + strings.Repeat(pair[1], depth)
	return replaced(raw, from, to, []byte(text)), "a deep value"
}

// huge makes a line of megabytes, with or without an end, or many short ones.
func huge(r *rand.Rand, raw []byte) ([]byte, string) {
	from, to := line(r, raw)
	n := 1 << pick(r, []int{16, 20, 23, 25})
	var text string
	switch r.IntN(4) {
	case 0:
		text = `{"type":"user","message":{"role":"user","content":"` + strings.Repeat("long ", n/5) + `"}}`
	case 1:
		text = `{"type":"user","message":{"role":"user","content":"` + strings.Repeat(`\u00e9`, n/6)
	case 2:
		text = strings.Repeat(" ", n)
	default:
		text = strings.Repeat("{}\n", min(n, 1<<20)/3)
	}
	return replaced(raw, from, to, []byte(text)), "a huge line"
}

func blank(r *rand.Rand, raw []byte) ([]byte, string) {
	from, _ := line(r, raw)
	return slices.Insert(raw, from, []byte(pick(r, []string{"\n\n\n", "\r\n", "   \n", "\x00\x00\n", "\t\n", "//\n"}))...), "blank lines"
}

func notObject(r *rand.Rand, raw []byte) ([]byte, string) {
	from, to := line(r, raw)
	return replaced(raw, from, to, []byte(pick(r, []string{"null", "[]", `""`, "0", "true", "{", "}", "nul", `{"type":}`, "{}{}", `{"a":1,}`, "NaN"}))), "no object"
}

// times changes years and days wherever a time stands: far past, far future, out of range.
func times(r *rand.Rand, raw []byte) ([]byte, string) {
	year := pick(r, []string{"0000", "0001", "9999", "1969", "2038", "2106", "-001"})
	if r.IntN(2) == 0 {
		return bytes.ReplaceAll(raw, []byte(`"2026-1`), []byte(`"`+year+`-`+pick(r, []string{"0", "1", "9"}))), "other years"
	}
	return bytes.ReplaceAll(raw, []byte(`Z"`), []byte(pick(r, []string{`+99:99"`, `"`, `-23:59"`, `Z "`, `z"`, `.9999999999999Z"`}))), "other times"
}

// torn ends the file in the middle of its last line, or of a character in it.
func torn(r *rand.Rand, raw []byte) ([]byte, string) {
	end := bytes.TrimRight(raw, "\n")
	from := bytes.LastIndexByte(end, '\n') + 1
	if from >= len(end) {
		return raw, "a torn end"
	}
	return append(raw[:from+r.IntN(len(end)-from)], pick(r, []string{"", "\xe2\x82", "\\", `\u00`, `"`})...), "a torn end"
}

// surrogates puts escapes into texts that are no characters.
func surrogates(r *rand.Rand, raw []byte) ([]byte, string) {
	bad := pick(r, []string{`\ud800`, `\udc00\ud800`, `\u0000`, `\u001b[2J`, `\u009b`, `\u202e`, `\x00`, `\u12`})
	return bytes.ReplaceAll(raw, []byte(pick(r, []string{"e ", "a", "th"})), []byte(bad)), "bad escapes"
}
