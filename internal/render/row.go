package render

import (
	"iter"

	"agentctl/discover"
)

// Row is a session in an array. It is put into the contract's words when it is encoded.
type Row struct{ session *discover.Session }

// Rows are the sessions for [JSONArray].
func Rows(list []discover.Session) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for i := range list {
			if !yield(Row{&list[i]}) {
				return
			}
		}
	}
}

func (r *Row) appendJSON(b []byte) ([]byte, error) {
	var s Session
	s.state(r.session)
	return s.appendJSON(b)
}

// fetch leaves out what many sessions share.
func (r *Row) fetch() (seen int) {
	s := r.session
	for _, text := range [...]string{s.ID, s.Dir, s.Title, s.Prompt, s.Path} {
		seen += look(text)
	}
	if s.Tokens != nil {
		seen += int(s.Tokens.In)
	}
	if s.Cost != nil {
		seen += int(*s.Cost)
	}
	for _, fact := range s.Meta {
		if text, ok := fact.Value.(string); ok {
			seen += look(text)
		}
	}
	return seen
}

// look looks at a text once in each line of the processor's cache.
func look(text string) (seen int) {
	const line = 64
	for i := 0; i < len(text); i += line {
		seen += int(text[i])
	}
	return seen
}
