package generate

import (
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	path = filepath.Join(dir, fmt.Sprintf("%d-%s", o.Sessions, key))
	if raw, err := os.ReadFile(filepath.Join(path, list)); err == nil {
		return path, sessions, json.Unmarshal(raw, &sessions)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", nil, err
	}
	// A store that was not finished has another name, so that it is never used.
	unfinished, err := os.MkdirTemp(dir, "unfinished-*")
	if err != nil {
		return "", nil, err
	}
	defer os.RemoveAll(unfinished)
	if sessions, err = Store(unfinished, o); err != nil {
		return "", nil, err
	}
	for i := range sessions {
		rel, err := filepath.Rel(unfinished, sessions[i].Path)
		if err != nil {
			return "", nil, err
		}
		sessions[i].Path = filepath.Join(path, rel)
	}
	raw, err := json.Marshal(sessions)
	if err != nil {
		return "", nil, err
	}
	if err := os.WriteFile(filepath.Join(unfinished, list), raw, 0o644); err != nil {
		return "", nil, err
	}
	return path, sessions, os.Rename(unfinished, path)
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
