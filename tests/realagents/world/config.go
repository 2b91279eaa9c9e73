package world

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"agentctl/tests/cache"
	"agentctl/tests/realagents/install"
)

// apiKey is what agents send to the model. Claude Code asks about a key unless its last 20 characters were
// approved: short enough to be them.
const apiKey = "no-real-key"

type object map[string]any

// env is the whole environment of an agent at work in dir: nothing of ours passes but PATH. All agents get the
// settings of all: they may start each other.
func (w *World) env(dir string) []string {
	return []string{
		"HOME=" + w.Home, "PATH=" + os.Getenv("PATH"), "PWD=" + dir, "TMPDIR=" + w.tmp(),
		"TERM=xterm-256color", "LANG=C.UTF-8", "SHELL=/bin/bash", "USER=tester",
		"GIT_CONFIG_NOSYSTEM=1",
		"ANTHROPIC_API_KEY=" + apiKey, "ANTHROPIC_BASE_URL=" + w.Model.URL,
		"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=1",
		codexKey + "=" + apiKey,
		"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"OPENCODE_DISABLE_SHARE=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_EMBEDDED_WEB_UI=1",
		"OPENCODE_MODELS_PATH=" + w.openCodeModelsFile(),
		"PI_OFFLINE=1", "PI_TELEMETRY=0", "PI_SKIP_VERSION_CHECK=1",
		"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_PROVIDER_TYPE=anthropic",
		"COPILOT_PROVIDER_BASE_URL=" + w.Model.URL, "COPILOT_PROVIDER_API_KEY=" + apiKey, "COPILOT_MODEL=harbour-1", "COPILOT_PROVIDER_MAX_PROMPT_TOKENS=1000000",
	}
}

// configureClaude answers Claude Code's first questions, but for the trust in each directory.
func (w *World) configureClaude() error {
	return writeJSON(w.claudeConfigFile(), object{
		"hasCompletedOnboarding": true, "lastOnboardingVersion": "99.0.0", "theme": "dark", "numStartups": 5,
		"customApiKeyResponses":         object{"approved": []string{apiKey}, "rejected": []string{}},
		"bypassPermissionsModeAccepted": true, "fullscreenUpsellSeenCount": 99,
		"projects": object{},
	})
}

func (w *World) claudeConfigFile() string { return filepath.Join(w.Home, ".claude.json") }

// trustClaude adds a directory that Claude Code works in without asking. Claude Code itself writes the file, so
// that directories are best made before it starts.
func (w *World) trustClaude(dir string) error {
	raw, err := os.ReadFile(w.claudeConfigFile())
	if err != nil {
		return err
	}
	var config object
	if err := json.Unmarshal(raw, &config); err != nil {
		return err
	}
	projects, _ := config["projects"].(map[string]any)
	if projects == nil {
		projects = map[string]any{}
	}
	projects[dir] = object{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "projectOnboardingSeenCount": 4, "allowedTools": []string{}}
	config["projects"] = projects
	return writeJSON(w.claudeConfigFile(), config)
}

// codexKey is the environment variable that Codex takes the model's key from.
const codexKey = "AGENTCTL_TEST_MODEL_KEY"

// codexConfig has the settings before its tables, as TOML wants it; retries are few so that failures come soon.
const codexConfig = `model = "gpt-5.4"
model_provider = "loopback"
check_for_update_on_startup = false

[model_providers.loopback]
name = "loopback"
base_url = "%s/v1"
env_key = "%s"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1

[analytics]
enabled = false

[feedback]
enabled = false

[otel]
exporter = "none"
metrics_exporter = "none"

[notice.model_migrations]
"gpt-5.4" = "gpt-5.6-terra"
`

func (w *World) codexConfigFile() string { return filepath.Join(w.Home, ".codex", "config.toml") }

func (w *World) configureCodex() error {
	if err := os.MkdirAll(filepath.Dir(w.codexConfigFile()), 0o755); err != nil {
		return err
	}
	return os.WriteFile(w.codexConfigFile(), fmt.Appendf(nil, codexConfig, w.Model.URL, codexKey), 0o600)
}

// trustCodex adds a directory that Codex works in without asking: trust does not reach what is below.
func (w *World) trustCodex(dir string) (err error) {
	f, err := os.OpenFile(w.codexConfigFile(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "\n[projects.%q]\ntrust_level = \"trusted\"\n", dir)
	return firstError(err, f.Close())
}

func (w *World) configureOpenCode() error {
	return firstError(w.listOpenCodeModels(), writeJSON(filepath.Join(w.Home, ".config", "opencode", "opencode.json"), object{
		"autoupdate": false, "share": "disabled", "lsp": false, "formatter": false,
		"model": "anthropic/claude-sonnet-4-5", "small_model": "anthropic/claude-haiku-4-5",
		"enabled_providers": []string{"anthropic"},
		"provider":          object{"anthropic": object{"options": object{"baseURL": w.Model.URL + "/v1", "apiKey": apiKey}}},
	}))
}

// configurePi gives Pi a model with prices, and no other.
func (w *World) configurePi() error {
	agent := filepath.Join(w.Home, ".pi", "agent")
	return firstError(writeJSON(filepath.Join(agent, "settings.json"), object{"defaultProvider": "loopback", "defaultModel": "harbour-1"}),
		writeJSON(filepath.Join(agent, "models.json"), object{"providers": object{"loopback": object{
			"baseUrl": w.Model.URL, "api": "anthropic-messages", "apiKey": apiKey,
			"models": []object{{
				"id": "harbour-1", "name": "harbour-1", "contextWindow": 1_000_000, "maxTokens": 4096,
				"cost": object{"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75},
			}},
		}}}))
}

func (w *World) copilotConfigFile() string { return filepath.Join(w.Home, ".copilot", "config.json") }

// trustCopilot adds a directory that Copilot CLI works in without asking.
func (w *World) trustCopilot(dir string) error {
	var config struct {
		TrustedFolders []string `json:"trustedFolders"`
	}
	raw, err := os.ReadFile(w.copilotConfigFile())
	if err == nil {
		_, raw, _ = bytes.Cut(raw, []byte("{")) // comments precede it
		err = json.Unmarshal(append([]byte("{"), raw...), &config)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	config.TrustedFolders = append(config.TrustedFolders, dir)
	return writeJSON(w.copilotConfigFile(), config)
}

func (w *World) openCodeModelsFile() string { return filepath.Join(w.base, "models.json") }

// listOpenCodeModels writes the list of models that OpenCode reads instead of the one within it: the two entries that are
// used here, as they are in the list of 1.18.33. To read all the others costs each start a third of its time.
func (w *World) listOpenCodeModels() error {
	model := func(id, name, family, knowledge, released string, context, input, output, read, write float64) object {
		return object{
			"id": id, "name": name, "family": family, "attachment": true, "reasoning": true, "tool_call": true,
			"structured_output": true, "temperature": true, "open_weights": false,
			"reasoning_options": []object{{"type": "budget_tokens", "min": 1024}},
			"knowledge":         knowledge, "release_date": released, "last_updated": released,
			"modalities": object{"input": []string{"text", "image", "pdf"}, "output": []string{"text"}},
			"limit":      object{"context": context, "output": 64000},
			"cost":       object{"input": input, "output": output, "cache_read": read, "cache_write": write},
		}
	}
	return writeJSON(w.openCodeModelsFile(), object{"anthropic": object{
		"id": "anthropic", "name": "Anthropic", "env": []string{"ANTHROPIC_API_KEY"},
		"npm": "@ai-sdk/anthropic", "doc": "https://docs.anthropic.com/en/docs/about-claude/models",
		"models": object{
			"claude-sonnet-4-5": model("claude-sonnet-4-5", "Claude Sonnet 4.5 (latest)", "claude-sonnet", "2025-07-31", "2025-09-29", 1e6, 3, 15, 0.3, 3.75),
			"claude-haiku-4-5":  model("claude-haiku-4-5", "Claude Haiku 4.5 (latest)", "claude-haiku", "2025-02-28", "2025-10-15", 2e5, 1, 5, 0.1, 1.25),
		},
	}})
}

func writeJSON(path string, value any) error {
	raw, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", raw, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path) // an agent may be reading it
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// tail is the end of a text, for messages.
func tail(s string) string {
	const most = 2000
	s = strings.TrimSpace(s)
	if len(s) > most {
		return "…" + s[len(s)-most:]
	}
	return s
}

// storeMade is the file that says that a release has made what it stores before its first session.
const storeMade = "made"

// giveOpenCodeStore gives the home the empty database that this release itself has made, unless OpenCode has stored something there. It
// cannot make a database twice at once, and takes seconds of a processor to do so: each release does it once, in the cache.
func (w *World) giveOpenCodeStore(i install.Installation) error {
	root, err := cache.Root("AGENTCTL_TEST_OPENCODE", "opencode")
	if err != nil {
		return err
	}
	name := i.Release.String()
	check := func(dir string) error {
		_, err := os.Stat(filepath.Join(dir, storeMade))
		return err
	}
	if err := cache.Make(root, name, check, func(dir string) error { return w.makeOpenCodeStore(i, dir) }); err != nil {
		return err
	}
	from, to := openCodeHome(filepath.Join(root, name)), w.OpenCodeHome()
	if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.CopyFS(to, os.DirFS(from))
}

// makeOpenCodeStore has a release store what it does before its first session. Neither its log nor what the processes with an open database
// share belongs to that.
func (w *World) makeOpenCodeStore(i install.Installation, home string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, i.Native, "session", "list")
	cmd.Dir, cmd.Env = home, append(w.env(home), "HOME="+home)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	folder := openCodeHome(home)
	return errors.Join(
		os.RemoveAll(filepath.Join(folder, "log")), os.RemoveAll(filepath.Join(folder, "opencode.db-shm")),
		os.WriteFile(filepath.Join(home, storeMade), nil, 0o644),
	)
}

// OpenCodeHome is where OpenCode stores everything.
func (w *World) OpenCodeHome() string { return openCodeHome(w.Home) }

func openCodeHome(home string) string { return filepath.Join(home, ".local", "share", "opencode") }
