package config

import (
	"errors"
	"fmt"

	"github.com/BurntSushi/toml"
)

// Matrix is a file that describes a group of launches.
type Matrix struct {
	// Prompt, Dir and Spec are as the flags --prompt, --cwd and --spec; "" where the file does not say.
	Prompt, Dir, Spec string
	Entries           []Entry
}

// Entry is one row of a matrix: a launch for each model, or one with the agent's own.
type Entry struct {
	Agent  string
	Models []string
	// Branch and Base name the branch to work on and where it starts; "" leaves both to the launch.
	Branch, Base string
}

// LoadMatrix reads a matrix file:
//
//	prompt = "make the tests pass"
//	cwd = "~/src/api"
//	spec = "spec.md"
//	[[matrix]]
//	adapter = "claude-code"
//	model = ["opus", "sonnet"]
//	base_branch = "main"
//
// agents are the names that adapter may have. A leading ~/ of cwd is home. Every error is an [*Error].
func LoadMatrix(path, home string, agents []string) (Matrix, error) {
	var m Matrix
	text, err := read(path)
	if err != nil {
		return m, unreadable(path, err)
	}
	if err := m.decode(string(text), agents); err != nil {
		err.File = path
		return m, err
	}
	if _, tilde := cutHome(m.Dir); tilde {
		m.Dir = expand(m.Dir, home)
	}
	return m, nil
}

func (m *Matrix) decode(text string, agents []string) *Error {
	var doc map[string]toml.Primitive
	md, err := toml.Decode(text, &doc)
	if err != nil {
		return wrong("", err)
	}
	var rows []map[string]toml.Primitive
	keys := map[string]any{"prompt": word(&m.Prompt), "cwd": word(&m.Dir), "spec": word(&m.Spec), "matrix": &rows}
	if md.IsDefined("matrix") && md.Type("matrix") != "ArrayHash" {
		keys["matrix"] = fault("want entries that begin with [[matrix]], one a launch")
	}
	if err := fields(&md, "", doc, keys); err != nil {
		return err
	}
	if len(rows) == 0 {
		return wrong("matrix", errors.New("there is no [[matrix]] entry"))
	}
	for i, row := range rows {
		e := Entry{}
		name := fmt.Sprintf("matrix[%d].", i+1)
		if err := fields(&md, name, row, map[string]any{
			"adapter": choice(&e.Agent, agents), "model": words(&e.Models), "branch": word(&e.Branch), "base_branch": word(&e.Base),
		}); err != nil {
			return err
		}
		if e.Agent == "" {
			return wrong(name+"adapter", errors.New("it is missing"))
		}
		m.Entries = append(m.Entries, e)
	}
	return nil
}
