package native

import "agentctl/discover/native/jsonl"

// Questions returns the texts in the input of a tool call that asks the user something. It has the same form in all
// agents: {"questions":[{"question":TEXT,…},…]}. Any other input has none.
func Questions(input jsonl.Object) (texts []string) {
	for q := range input.Get("questions").Elements() {
		if text := q.Object().Get("question"); text != nil {
			texts = append(texts, text.Text(0))
		}
	}
	return texts
}
