package config

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// Matrix is a matrix file, which describes a group of launches.
type Matrix struct {
	// Prompt, Dir and Spec are the defaults of --prompt, --cwd and --spec; "" if the file does not set them.
	Prompt, Dir, Spec string
	Rows              []MatrixRow
}

// MatrixRow is one [[matrix]] table: one launch for each model, or one with the default model of the agent.
type MatrixRow struct {
	Agent  string
	Models []string
	// Branch is the branch to work on, Base its start point; "" for the defaults of launch.
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
// agents are the valid values of adapter. A leading ~/ in cwd stands for home. Every error is an [*Error].
func LoadMatrix(path, home string, agents []string) (m Matrix, err error) {
	_, err = load(path, nil, func(md *toml.MetaData, doc table) *Error { return m.decode(md, doc, agents) })
	m.Dir = expandTilde(m.Dir, home)
	return m, err
}

func (m *Matrix) decode(md *toml.MetaData, doc table, agents []string) *Error {
	var rows []table
	keys := map[string]any{"prompt": stringValue(&m.Prompt), "cwd": stringValue(&m.Dir), "spec": stringValue(&m.Spec), "matrix": &rows}
	if md.IsDefined("matrix") && md.Type("matrix") != "ArrayHash" {
		keys["matrix"] = reject("want entries that begin with [[matrix]], one a launch")
	}
	if err := decodeTable(md, "", doc, keys); err != nil {
		return err
	}
	if len(rows) == 0 {
		return newError("matrix", errors.New("there is no [[matrix]] entry"))
	}
	for i, row := range rows {
		r := MatrixRow{}
		name := fmt.Sprintf("matrix[%d].", i+1)
		if err := decodeTable(md, name, row, map[string]any{
			"adapter": oneOf(&r.Agent, agents), "model": stringList(&r.Models), "branch": stringValue(&r.Branch), "base_branch": stringValue(&r.Base),
		}); err != nil {
			return err
		}
		if r.Agent == "" {
			return newError(name+"adapter", errors.New("it is missing"))
		}
		m.Rows = append(m.Rows, r)
	}
	return nil
}

// stringList decodes a string or a list of strings, none of them empty.
func stringList(to *[]string) decoder {
	return func(value any) error {
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		*to = make([]string, len(list))
		for i, v := range list {
			if err := stringValue(&(*to)[i])(v); err != nil {
				return err
			}
		}
		return nil
	}
}

// oneOf decodes one of several strings.
func oneOf(to *string, valid []string) decoder {
	return func(value any) error {
		*to, _ = value.(string)
		if !slices.Contains(valid, *to) {
			return fmt.Errorf("must be %s, not %s", strings.Join(valid, " or "), quote(value))
		}
		return nil
	}
}

// Price is what the tokens of a model cost, in USD per million. A kind is nil if the file does not name it.
type Price struct{ In, Out, CacheRead, CacheWrite *float64 }

// LoadPrices reads a file of prices, one table for each model:
//
//	["claude-opus-4-8"]
//	in = 5.0           # USD per million tokens
//	out = 25.0
//	cache_read = 0.5
//	cache_write = 6.25
//
// The path - is stdin. Every error is an [*Error]. text is the file's own, for another machine.
func LoadPrices(path string, stdin io.Reader) (prices map[string]Price, text []byte, err error) {
	if path != "-" {
		stdin = nil
	}
	prices = map[string]Price{}
	text, err = load(path, stdin, func(md *toml.MetaData, models table) *Error {
		if len(models) == 0 {
			return newError("", errors.New(`there is no model; want a table for each, such as ["MODEL"], with in and out`))
		}
		for _, name := range slices.Sorted(maps.Keys(models)) {
			var p Price
			var kinds table
			if md.Type(name) != "Hash" {
				return newError(name, errors.New(`want a table, as in ["`+name+`"]`))
			}
			if err := md.PrimitiveDecode(models[name], &kinds); err != nil {
				return newError(name, err)
			}
			if err := decodeTable(md, name+".", kinds, map[string]any{
				"in": priceValue(&p.In), "out": priceValue(&p.Out), "cache_read": priceValue(&p.CacheRead), "cache_write": priceValue(&p.CacheWrite),
			}); err != nil {
				return err
			}
			prices[name] = p
		}
		return nil
	})
	return prices, text, err
}

// priceValue decodes a number that is not negative.
func priceValue(to **float64) decoder {
	return func(value any) error {
		var usd float64
		switch n := value.(type) {
		case int64:
			usd = float64(n)
		case float64:
			usd = n
		default:
			return fmt.Errorf("%s is not a number of USD", quote(value))
		}
		if !(usd >= 0 && usd < 1e9) {
			return fmt.Errorf("%v is not a price", value)
		}
		*to = &usd
		return nil
	}
}
