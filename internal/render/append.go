package render

import (
	"math"
	"strconv"
	"unicode/utf8"

	"agentctl/discover"
)

// appendJSON appends the object as encoding/json would write it by the tags of its fields, with what a terminal would
// act upon escaped. A list of ten thousand sessions takes reflection longer than the reading of the stores.
func (s *Session) appendJSON(b []byte) ([]byte, error) {
	b = append(b, `{"id":`...)
	if s.ID == nil {
		b = append(b, "null"...)
	} else {
		b = appendText(b, *s.ID)
	}
	for _, m := range [...]struct{ name, value string }{{"adapter", s.Adapter}, {"status", s.Status}} {
		b = appendText(appendName(b, m.name), m.value)
	}
	b = appendTexts(b, []member{{"outcome", s.Outcome}, {"waitingFor", s.WaitingFor}, {"error", s.Error}})
	b = s.appendPIDs(b)
	b = appendTexts(b, []member{
		{"processStartedAt", s.ProcessStartedAt},
		{"startedAt", s.StartedAt},
		{"lastActivityAt", s.LastActivityAt},
		{"stoppedAt", s.StoppedAt},
		{"cwd", s.CWD},
		{"title", s.Title},
		{"prompt", s.Prompt},
		{"model", s.Model},
		{"branch", s.Branch},
		{"version", s.Version},
		{"source", s.Source},
	})
	b, err := s.appendCounts(b)
	if err != nil {
		return nil, err
	}
	b = appendTexts(b, []member{
		{"group", s.Group}, {"parentId", s.ParentID}, {"forkedFrom", s.ForkedFrom}, {"path", s.Path}, {"home", s.Home},
	})
	if b, err = s.appendObjects(b); err != nil {
		return nil, err
	}
	return append(b, '}'), nil
}

// member is a text of an object with its name.
type member struct{ name, value string }

// appendTexts appends the members that are not empty.
func appendTexts(b []byte, members []member) []byte {
	for _, m := range members {
		if m.value != "" {
			b = appendText(appendName(b, m.name), m.value)
		}
	}
	return b
}

// appendName appends the name of a member that is not the first one. It needs no escaping.
func appendName(b []byte, name string) []byte {
	b = append(b, `,"`...)
	b = append(b, name...)
	return append(b, `":`...)
}

func (s *Session) appendPIDs(b []byte) []byte {
	if s.PID != 0 {
		b = strconv.AppendInt(appendName(b, "pid"), int64(s.PID), 10)
	}
	if len(s.PIDs) == 0 {
		return b
	}
	b = append(appendName(b, "pids"), '[')
	for i, pid := range s.PIDs {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(pid), 10)
	}
	return append(b, ']')
}

// appendCounts appends tokens and cost.
func (s *Session) appendCounts(b []byte) ([]byte, error) {
	if t := s.Tokens; t != nil {
		b = appendName(b, "tokens")
		for i, m := range [...]struct {
			name  string
			value int64
		}{
			{"in", t.In},
			{"out", t.Out},
			{"cacheRead", t.CacheRead},
			{"cacheWrite", t.CacheWrite},
			{"reasoning", t.Reasoning},
			{"total", t.Total},
			{"context", t.Context},
		} {
			at := len(b)
			b = strconv.AppendInt(appendName(b, m.name), m.value, 10)
			if i == 0 {
				b[at] = '{'
			}
		}
		if t.Window != 0 {
			b = strconv.AppendInt(appendName(b, "window"), t.Window, 10)
		}
		b = append(b, '}')
	}
	if s.Cost == nil {
		return b, nil
	}
	return appendValue(appendName(b, "cost"), *s.Cost)
}

// appendObjects appends the members at the end, which are objects themselves.
func (s *Session) appendObjects(b []byte) (_ []byte, err error) {
	for _, m := range [...]struct {
		name  string
		there bool
		value any
	}{
		{"quotas", len(s.Quotas) > 0, s.Quotas},
		{"changes", s.Changes != nil, s.Changes},
		{"processes", len(s.Processes) > 0, s.Processes},
	} {
		if m.there {
			if b, err = appendValue(appendName(b, m.name), m.value); err != nil {
				return nil, err
			}
		}
	}
	if e := s.Evidence; e != nil {
		b = append(appendName(b, "evidence"), `{"strength":`...)
		b = appendText(b, e.Strength)
		b = appendText(appendName(b, "kind"), e.Kind)
		b = appendText(appendName(b, "detail"), e.Detail)
		b = append(b, '}')
	}
	if b, err = appendMeta(appendName(b, "meta"), s.Meta); err != nil || s.Explain == nil {
		return b, err
	}
	return appendValue(appendName(b, "explain"), s.Explain)
}

// appendMeta appends an object of any facts.
func appendMeta(b []byte, meta discover.Facts) (_ []byte, err error) {
	b = append(b, '{')
	for i, fact := range meta {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, fact.Name), ':')
		if b, err = appendValue(b, fact.Value); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// appendValue appends the values that are frequent in its own way and leaves the rest to encoding/json.
func appendValue(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case string:
		return appendText(b, v), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case int:
		return strconv.AppendInt(b, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case float64:
		if size := math.Abs(v); v == 0 || 1e-6 <= size && size < 1e21 { // encoding/json's bounds of plain notation
			return strconv.AppendFloat(b, v, 'f', -1, 64), nil
		}
	}
	text, err := marshal(v, "")
	return append(b, text...), err
}

// appendText appends a string literal.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		if i+8 <= len(s) && verbatim(eight(s[i:])) {
			i += 8
			continue
		}
		if c := s[i]; ' ' <= c && c <= '~' && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[start:i]...)
		r, size := utf8.DecodeRuneInString(s[i:])
		b = appendSpecial(b, r, size)
		i += size
		start = i
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

// eight is the first eight bytes of a text as a number.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// verbatim reports whether eight bytes are all printable ASCII that a string literal holds as it is. They are looked at in
// one: each line finds the bytes of a kind by the top bit that a borrow or carry leaves.
func verbatim(w uint64) bool {
	const each, tops = 0x0101010101010101, 0x8080808080808080
	quotes, slashes := w^each*'"', w^each*'\\'
	found := w + each // above '~'
	found |= w
	found |= w - each*' '
	found |= (quotes - each) | (slashes - each)
	return found&tops == 0
}

// appendSpecial appends a character that is not plain ASCII, as encoding/json writes it or else as [escape] does. size
// is how many bytes stand for it.
func appendSpecial(b []byte, r rune, size int) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(b, '\\', byte(r))
	case r == '\b':
		return append(b, `\b`...)
	case r == '\f':
		return append(b, `\f`...)
	case r == '\n':
		return append(b, `\n`...)
	case r == '\r':
		return append(b, `\r`...)
	case r == '\t':
		return append(b, `\t`...)
	case r == utf8.RuneError && size == 1, r < ' ', r >= 0x7f && acts(r):
		return appendEscape(b, r)
	}
	return utf8.AppendRune(b, r)
}
