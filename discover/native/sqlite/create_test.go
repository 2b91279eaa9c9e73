package sqlite

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestParseTable(t *testing.T) {
	for sql, want := range map[string]string{
		"CREATE TABLE `t` (\n\t`id` text PRIMARY KEY,\n\t`n` integer NOT NULL,\n\tCONSTRAINT `fk` FOREIGN KEY (`n`) REFERENCES `s`(`id`) ON DELETE CASCADE\n)": "id n; -1; id",
		`CREATE TABLE "migration" (id TEXT PRIMARY KEY, time_completed INTEGER NOT NULL)`:                                                                      "id time_completed; -1; id",
		"CREATE TABLE t(a, b INTEGER, c, PRIMARY KEY(b))":                                                                                                      "a b c; 1; ",
		"CREATE TABLE t(a INTEGER PRIMARY KEY DESC)":                                                                                                           "a; -1; ",
		"CREATE TABLE t(c, a INT, b UNIQUE, UNIQUE(b), UNIQUE(b, a) PRIMARY KEY (c))":                                                                          "c a b; -1; b, b a, c",
		"CREATE TABLE t(a DEFAULT (f(1, ')')), b DEFAULT x'00' CHECK (b <> ',') UNIQUE ON CONFLICT REPLACE, c COLLATE NOCASE) STRICT":                          "a b c; -1; b",
		"CREATE TABLE t(\"a \"\"b\" \"double precision\" /* , */, [c] numeric(1, 2) -- )\n, 'd' REFERENCES x(y) ON DELETE SET DEFAULT UNIQUE)":                 "a \"b c d; -1; d",
		"CREATE TABLE t":   "",
		"CREATE TABLE t()": "",
		"CREATE TABLE t(a": "",
		"SELECT 1":         "",
		"":                 "",
	} {
		def, err := parseTable(sql)
		got := ""
		if err == nil {
			var list, keys []string
			for _, c := range def.columns {
				list = append(list, c.name)
			}
			for _, k := range def.keys {
				keys = append(keys, strings.Join(k, " "))
			}
			got = fmt.Sprintf("%s; %d; %s", strings.Join(list, " "), def.rowidColumn, strings.Join(keys, ", "))
		}
		if got != want {
			t.Errorf("%s\ngot  %s (%v)\nwant %s", sql, got, err, want)
		}
	}
}

func TestTablesThatAreNotRead(t *testing.T) {
	for sql, want := range map[string]error{
		"CREATE VIRTUAL TABLE t USING fts5(a)":                            errVirtual,
		"CREATE TABLE t(a PRIMARY KEY) WITHOUT ROWID":                     errWithoutRowid,
		"CREATE TABLE t(a PRIMARY KEY) STRICT, WITHOUT ROWID":             errWithoutRowid,
		"CREATE TABLE t(a, b INTEGER GENERATED ALWAYS AS (a + 1) STORED)": errGenerated,
		"CREATE TABLE t(a, b AS (a + 1))":                                 errGenerated,
		"CREATE TABLE t(a 'x":                                             errUnended,
		"CREATE TABLE t(a, PRIMARY KEY)":                                  errStatement,
	} {
		if _, err := parseTable(sql); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", sql, err, want)
		}
	}
}

func TestParseIndex(t *testing.T) {
	for sql, want := range map[string][]string{
		"CREATE INDEX `i` ON `t` (`a`,`b`)":                   {"a", "b"},
		"CREATE UNIQUE INDEX i ON t(a ASC, b COLLATE binary)": {"a", "b"},
		"CREATE INDEX i ON t(a DESC)":                         nil,
		"CREATE INDEX i ON t(a COLLATE nocase)":               nil,
		"CREATE INDEX i ON t(lower(a))":                       nil,
		"CREATE INDEX i ON t(a + 1)":                          nil,
		"CREATE INDEX i ON t('a')":                            nil,
		"CREATE INDEX i ON t(a) WHERE a > 1":                  nil,
		"CREATE INDEX i ON t":                                 nil,
	} {
		if got, ok := parseIndex(sql); ok != (want != nil) || ok && !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", sql, got, ok)
		}
	}
}
