package cli

import (
	"io"

	"github.com/urfave/cli/v2"
)

func newCompletion(env Env) *cli.Command {
	return &cli.Command{
		Usage:     "print a completion script for bash, zsh or fish",
		UsageText: "agentctl completion bash|zsh|fish",
		ArgsUsage: "SHELL",
		Action: func(c *cli.Context) error {
			args, err := arguments(c, 1, "a shell: bash, zsh or fish")
			if err != nil {
				return err
			}
			script, ok := scripts()[args[0]]
			if !ok {
				return unknown("shell", args[0], shells())
			}
			_, err = io.WriteString(env.Stdout, script)
			return err
		},
	}
}

func shells() []string { return []string{"bash", "zsh", "fish"} }

// scripts all do the same: they ask `agentctl __complete WORDS…` – the words before the cursor, the last one
// unfinished – and offer its lines, each a word, a tab, and what it is; files where there are none.
func scripts() map[string]string {
	return map[string]string{
		"bash": `# bash completion for agentctl: source <(agentctl completion bash)
_agentctl() {
    local word about words=() abouts=() i
    while IFS=$'\t' read -r word about; do
        words+=("$word") abouts+=("$about")
    done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    COMPREPLY=("${words[@]}")
    if ((${#words[@]} > 1)) && [[ $COMP_TYPE == 63 ]]; then
        # Only a list is shown: say what each one is. The part they share is still what is typed.
        for i in "${!words[@]}"; do
            [[ -z ${abouts[i]} ]] || COMPREPLY[i]="${words[i]}  (${abouts[i]})"
        done
    fi
}
complete -o default -F _agentctl agentctl
`,
		"zsh": `#compdef agentctl
# zsh completion for agentctl: source <(agentctl completion zsh)
_agentctl() {
    local line
    local -a offers
    while IFS= read -r line; do
        offers+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
    if ((${#offers})); then
        _describe agentctl offers
    else
        _files
    fi
}
if [[ $funcstack[1] == _agentctl ]]; then
    _agentctl "$@" # it is a file in $fpath
else
    compdef _agentctl agentctl
fi
`,
		"fish": `# fish completion for agentctl: agentctl completion fish | source
function __agentctl_offers
    set -l words (commandline -opc)
    $words[1] __complete $words[2..] (commandline -ct) 2>/dev/null
end
complete -c agentctl -n 'count (__agentctl_offers) >/dev/null' -f -a '(__agentctl_offers)'
`,
	}
}
