package discover

import "strings"

// textLimit bounds each text of a record, in bytes. Real ones are titles, paths and error messages; a damaged or hostile
// store can have megabytes in their place, once for each of ten thousand sessions.
const textLimit = 4 << 10

// PathLimit is the most characters of a path that a record keeps in its Meta: no system takes longer ones.
const PathLimit = 4096

// TruncateTexts truncates the texts that are longer than a record may hold. A reader calls it before it reads the next record.
func (r *Record) TruncateTexts() {
	texts := []*string{
		&r.Dir, &r.Title, &r.Prompt, &r.Model, &r.Branch, &r.Version, &r.Source, &r.Parent, &r.Team, &r.ForkedFrom,
		&r.Turn.WaitingFor, &r.Turn.Error, &r.Turn.Detail,
	}
	for i := range r.Quotas {
		texts = append(texts, &r.Quotas[i].Name, &r.Quotas[i].Text)
	}
	for _, text := range texts {
		*text = truncateText(*text)
	}
	for i, f := range r.Meta {
		if text, ok := f.Value.(string); ok && len(text) > textLimit {
			r.Meta[i].Value = truncateText(text)
		}
	}
}

// Truncate returns at most limit characters of a text. A truncated text is a copy, so that the long one can be freed.
func Truncate(text string, limit int) string {
	if len(text) <= limit { // it has no more characters than bytes
		return text
	}
	n := 0
	for i := range text {
		if n == limit {
			return strings.Clone(text[:i])
		}
		n++
	}
	return text
}

// truncateText returns at most [textLimit] bytes of a text, whole characters. A truncated text is a copy.
func truncateText(text string) string {
	if len(text) <= textLimit {
		return text
	}
	return strings.ToValidUTF8(strings.Clone(text[:textLimit]), "")
}
