package native

// Questions are the texts in the input of a call that asks the person something, which has the same form in all agents:
// {"questions":[{"question":TEXT,…},…]}. There are none in any other input.
func Questions(input Object) (texts []string) {
	for key, list := range input.Members() {
		if string(key) != "questions" {
			continue
		}
		for q := range list.Elements() {
			for key, text := range q.Object().Members() {
				if string(key) == "question" {
					texts = append(texts, text.Text(0))
				}
			}
		}
		break
	}
	return texts
}
