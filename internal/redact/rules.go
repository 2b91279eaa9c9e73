package redact

import "regexp"

// rule describes one shape of a secret.
type rule struct {
	// name is the rule of gitleaks (config/gitleaks.toml) that has this shape, or describes it.
	name string
	// keywords: a line with none of them has no match. They are compared as they are, which is much faster than the pattern.
	keywords []string
	// pattern is a regular expression for a part of one line. Its last group is replaced, or all of it if it has none.
	pattern string
	// mixed: only what has letters and digits is replaced.
	mixed bool
	// compiled is the pattern; nil until a text has one of the keywords.
	compiled *regexp.Regexp
}

// rules returns all rules but that of private keys, which need no keyword. The order matters where one key is the prefix of another.
func rules() []rule {
	return []rule{
		{name: "anthropic-api-key", keywords: []string{"sk-ant-"}, pattern: `sk-ant-[A-Za-z0-9_-]{16,}`},
		{name: "openai-api-key", keywords: []string{"sk-"}, pattern: `\bsk-[A-Za-z0-9_-]{20,}`, mixed: true},
		{name: "github-pat", keywords: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, pattern: `gh[pousr]_[A-Za-z0-9]{30,}`},
		{name: "github-fine-grained-pat", keywords: []string{"github_pat_"}, pattern: `github_pat_[A-Za-z0-9_]{20,}`},
		{name: "gitlab-pat", keywords: []string{"glpat-", "gldt-", "glrt-", "glptt-"}, pattern: `gl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{20,}`},
		{name: "aws-access-token", keywords: []string{"AKIA", "ASIA", "ABIA", "ACCA"}, pattern: `\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`},
		{name: "aws-secret-access-key", keywords: []string{"ecret", "ECRET"}, pattern: `(?i)aws_?secret_?(?:access_?)?key["']?\s*[:=]\s*["']?([A-Za-z0-9/+=]{40})`},
		{name: "gcp-api-key", keywords: []string{"AIza"}, pattern: `AIza[A-Za-z0-9_-]{35}`},
		{name: "google OAuth token", keywords: []string{"ya29."}, pattern: `ya29\.[A-Za-z0-9_-]{20,}`},
		{name: "google OAuth client secret", keywords: []string{"GOCSPX-"}, pattern: `GOCSPX-[A-Za-z0-9_-]{20,}`},
		{name: "slack-bot-token", keywords: []string{"xox"}, pattern: `xox[abeoprs]-[A-Za-z0-9-]{10,}`},
		{name: "slack-app-token", keywords: []string{"xapp-"}, pattern: `xapp-[A-Za-z0-9-]{10,}`},
		{name: "slack-webhook-url", keywords: []string{"hooks.slack.com/"}, pattern: `hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{20,})`},
		{name: "stripe-access-token", keywords: []string{"_live_", "_test_", "_prod_"}, pattern: `\b[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}`},
		{name: "npm-access-token", keywords: []string{"npm_"}, pattern: `\bnpm_[A-Za-z0-9]{36}`},
		{name: "pypi-upload-token", keywords: []string{"pypi-"}, pattern: `pypi-AgE[A-Za-z0-9_-]{50,}`},
		{name: "huggingface-access-token", keywords: []string{"hf_"}, pattern: `\bhf_[A-Za-z0-9]{30,}`},
		{name: "sendgrid-api-token", keywords: []string{"SG."}, pattern: `\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`},
		{name: "digitalocean-access-token", keywords: []string{"_v1_"}, pattern: `\bdo[opr]_v1_[a-f0-9]{64}`},
		{name: "telegram-bot-api-token", keywords: []string{":A"}, pattern: `\b[0-9]{8,10}:A[A-Za-z0-9_-]{34}\b`},
		{name: "hashicorp vault-service-token", keywords: []string{"hvs.", "hvb."}, pattern: `\bhv[sb]\.[A-Za-z0-9_-]{24,}`},
		{name: "xAI and Groq keys", keywords: []string{"xai-", "gsk_"}, pattern: `\b(?:xai-|gsk_)[A-Za-z0-9]{40,}`},
		{name: "linear-api-key", keywords: []string{"lin_api_"}, pattern: `lin_api_[A-Za-z0-9]{32,}`},
		{name: "age-secret-key", keywords: []string{"AGE-SECRET-KEY-"}, pattern: `AGE-SECRET-KEY-1[A-Z0-9]{50,}`},
		{name: "jwt", keywords: []string{".ey"}, pattern: `\bey[A-Za-z0-9_-]{10,}\.ey[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*`},
		{
			name: "the header Authorization", keywords: []string{"uthorization", "UTHORIZATION"},
			pattern: `(?i)authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|digest)\s+)?([^\s"',;)]{8,})`,
		},
		{name: "a bearer token", keywords: []string{"earer", "EARER"}, pattern: `(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{16,})`, mixed: true},
		{name: "the password in a URL", keywords: []string{"://"}, pattern: `://[^\s/:@"'<>]{0,128}:([^\s/@"'<>]{1,256})@`},
		{
			name: "a shell variable with the name of a secret", keywords: []string{"TOKEN=", "SECRET=", "PASSWORD=", "PASSWD=", "KEY="},
			pattern: `(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY)=["']?([^\s"'$(){}<>;&|]{8,})`, mixed: true,
		},
	}
}
