package redact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentctl/internal/redact"
)

// secrets are texts with one secret each, by what is left of them. The secrets are put together, so that no scanner of repositories
// takes them for real ones.
func secrets() map[string]string {
	long := strings.Repeat("aB3dE6gH", 20)
	key := "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
	return map[string]string{
		"key sk-ant-" + "api03-" + long[:80] + " end":                  "key [redacted] end",
		"OPENAI=sk-" + "proj-" + long[:60]:                             "OPENAI=[redacted]",
		"sk-" + long[:48] + ".":                                        "[redacted].",
		"(ghp_" + long[:36] + ")":                                      "([redacted])",
		"github_pat_" + long[:82]:                                      "[redacted]",
		"glpat-" + long[:20]:                                           "[redacted]",
		"AKIA" + "IOSFODNN7EXAMPLE":                                    "[redacted]",
		"aws_secret_access_key = " + long[:40]:                         "aws_secret_access_key = [redacted]",
		"AIza" + long[:35]:                                             "[redacted]",
		"xoxb-" + "1234567890-abcdef":                                  "[redacted]",
		"https://hooks.slack.com/services/" + long[:30]:                "https://hooks.slack.com/services/[redacted]",
		"sk_live_" + long[:24]:                                         "[redacted]",
		"npm_" + long[:36]:                                             "[redacted]",
		"hf_" + long[:34]:                                              "[redacted]",
		"SG." + long[:22] + "." + long[:43]:                            "[redacted]",
		"eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NSJ9" + ".sig-x_y9": "[redacted]",
		"Authorization: Bearer abcdefgh":                               "Authorization: Bearer [redacted]",
		`-H "authorization: basic dXNlcjpwYXNz" x`:                     `-H "authorization: basic [redacted]" x`,
		"bearer abcdefghijklm0123":                                     "bearer [redacted]",
		"postgres://me:hunter2@db/x":                                   "postgres://me:[redacted]@db/x",
		"redis://:hunter2@db":                                          "redis://:[redacted]@db",
		"export DB_PASSWORD=hunter2hunter2 x":                          "export DB_PASSWORD=[redacted] x",
		"a -----BEGIN RSA PRIVATE KEY-----\n" + key + "\n-----END RSA PRIVATE KEY----- b":                       "a [redacted] b",
		"-----BEGIN OPENSSH PRIVATE KEY-----\n" + key + "\n" + key + "\n$ ls":                                   "[redacted]\n$ ls",
		"     1→-----BEGIN PRIVATE KEY-----\n     2→" + key + "\n     3→" + key + "\n":                          "     1→[redacted]\n",
		"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n" + key + "\n-----END PGP PRIVATE KEY BLOCK-----": "[redacted]",
		"-----BEGIN PRIVATE KEY-----\nx-----END PRIVATE KEY-----, -----BEGIN PRIVATE KEY-----" + key:            "[redacted], [redacted]",
		"AGE-SECRET-KEY-1" + strings.Repeat("QPZRY9X8GF", 6)[:58]:                                               "[redacted]",
		"two ghp_" + long[:36] + " and ghp_" + long[:36]:                                                        "two [redacted] and [redacted]",
	}
}

func TestSecrets(t *testing.T) {
	r := redact.New()
	for text, want := range secrets() {
		if got := r.Text(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// What only looks a little like a secret stays.
func TestOtherTexts(t *testing.T) {
	r := redact.New()
	for _, text := range []string{
		"", "make the tests pass", "ask-me-about-something-that-is-long-enough", "https://example.com:8080/a@b", "git@github.com:a/b.git",
		"-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END CERTIFICATE-----", "grep -----BEGIN RSA PRIVATE KEY----- *",
		"MAX_TOKENS=4096000000", "TOKEN=$(cat file-1)", "bearer of bad news", "the authorization: no", "sk-ant-short", "ghp_short",
		"3f786850e387550fdab836ed7e6dc881de23001b", "01a1fa5c-0000-7000-8000-000000000000", "KEY=value", "eyes.eyebrows", "-----BEGIN ",
	} {
		if got := r.Text(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// In JSON, the strings at any place are redacted, and the rest stays as it is.
func TestJSON(t *testing.T) {
	r := redact.New()
	for text, want := range secrets() {
		quoted, err := json.Marshal(map[string]any{"a": []any{1, text, map[string]any{text: text + "\n\"\\"}}})
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ A []any }
		if err := json.Unmarshal(r.JSON(quoted), &got); err != nil {
			t.Fatalf("%v: %s", err, r.JSON(quoted))
		}
		if got.A[1] != want || got.A[2].(map[string]any)[want] == nil {
			t.Errorf("%s becomes %s", quoted, r.JSON(quoted))
		}
	}
	for _, text := range []string{`{"a": [1.50, "b\u003c\"", null]}`, `"`, `"\`, `x"y`, ``} {
		if got := string(r.JSON([]byte(text))); got != text {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}

// Secrets are found in any surroundings, and what is redacted stays so.
func TestSecretsAreFoundAnywhere(t *testing.T) {
	r := redact.New()
	secret := "ghp_" + strings.Repeat("aB3dE6gH", 5)
	rapid.Check(t, func(t *rapid.T) {
		before, after := rapid.String().Draw(t, "before"), rapid.String().Draw(t, "after")
		got := r.Text(before + secret + " " + after)
		if strings.Contains(got, secret) || !strings.Contains(got, redact.Mark) {
			t.Errorf("%q", got)
		}
		if again := r.Text(got); again != got {
			t.Errorf("%q becomes %q", got, again)
		}
	})
}
