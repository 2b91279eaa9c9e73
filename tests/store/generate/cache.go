package generate

import (
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"agentctl/tests/cache"
)

// sources are this package's own: a store that another version of them made is not the same store.
//
//go:embed *.go opencode.sql
var sources embed.FS

// list is the file beside the homes that holds the sessions of a cached store. It is written last.
const list = "sessions.json"

// Cached makes a store below dir unless it is there already from an earlier call with the same options, and returns
// its place. Nobody may change it.
func Cached(dir string, o Options) (path string, sessions []Session, err error) {
	key, err := fingerprint(o)
	if err != nil {
		return "", nil, err
	}
	name := fmt.Sprintf("%d-%s", o.Sessions, key)
	path = filepath.Join(dir, name)
	check := func(made string) error {
		raw, err := os.ReadFile(filepath.Join(made, list))
		if err == nil {
			err = json.Unmarshal(raw, &sessions)
		}
		return err
	}
	err = cache.Make(dir, name, check, func(unfinished string) error {
		made, err := Store(unfinished, o)
		if err != nil {
			return err
		}
		for i := range made {
			made[i].Path = path + strings.TrimPrefix(made[i].Path, unfinished)
		}
		raw, err := json.Marshal(made)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(unfinished, list), raw, 0o644)
	})
	return path, sessions, err
}

// fingerprint tells stores apart by what they are made from.
func fingerprint(o Options) (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%+v", o)
	files, err := sources.ReadDir(".")
	if err != nil {
		return "", err
	}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		raw, err := sources.ReadFile(f.Name())
		if err != nil {
			return "", err
		}
		sum.Write(raw)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8]), nil
}
