package config

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/BurntSushi/toml"
)

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
