package native

import "agentctl/discover/native/jsonl"

// Questions are the texts in the input of a call that asks the person something, which has the same form in all agents:
// {"questions":[{"question":TEXT,…},…]}. There are none in any other input.
func Questions(input jsonl.Object) (texts []string) {
	for q := range input.Get("questions").Elements() {
		if text := q.Object().Get("question"); text != nil {
			texts = append(texts, text.Text(0))
		}
	}
	return texts
}
