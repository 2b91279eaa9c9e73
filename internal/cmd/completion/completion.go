// Package completion is the command completion, and the one that its scripts call.
package completion

import (
	"io"

	"github.com/urfave/cli/v2"

	"agentctl/internal/cmdutil"
)

// New makes the command completion.
func New(f cmdutil.Factory) *cli.Command {
	return &cli.Command{
		Usage:              "print a completion script for bash, zsh or fish",
		UsageText:          "agentctl completion bash|zsh|fish",
		ArgsUsage:          "SHELL",
		CustomHelpTemplate: cmdutil.HelpTemplate("source <(agentctl completion bash)", "agentctl completion fish | source"),
		Action: func(c *cli.Context) error {
			args, err := cmdutil.Arguments(c, 1, "a shell: bash, zsh or fish")
			if err != nil {
				return err
			}
			script, ok := scripts()[args[0]]
			if !ok {
				return cmdutil.UnknownWord("shell", args[0], shells())
			}
			_, err = io.WriteString(f.Stdout, script)
			return err
		},
	}
}

func shells() []string { return []string{"bash", "zsh", "fish"} }

// scripts returns the script of each shell. It gives the words before the cursor, the last one unfinished, to `agentctl
// __complete SHELL`, and offers the answer in its order, or files if there is none. Inserted words are quoted: by the
// shell, for bash by agentctl. What agentctl prints is never evaluated.
func scripts() map[string]string {
	return map[string]string{
		"bash": `# bash completion for agentctl: source <(agentctl completion bash)
_agentctl() {
    local IFS= word about words=() abouts=() i
    while read -r -d '' word && read -r -d '' about; do
        words+=("$word") abouts+=("$about")
    done < <("${COMP_WORDS[0]}" __complete bash "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
    COMPREPLY=("${words[@]}")
    compopt -o nosort 2>/dev/null # bash 4.4 or newer
    if ((${#words[@]} > 1)) && [[ $COMP_TYPE == 63 ]]; then
        # Only a list is shown: add the descriptions. Nothing of it is inserted.
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
    local word about typed=${(Q)PREFIX}
    local -a offers
    case $compstate[quote] in
        \') typed=$PREFIX ;;
        \") typed=${(Q)${:-\"$PREFIX\"}} ;;
    esac
    while IFS= read -r -d '' word && IFS= read -r -d '' about; do
        word=${${word//\\/\\\\}//:/\\:}
        offers+=("$word${about:+:$about}")
    done < <("${(Q)words[1]}" __complete zsh "${(@Q)words[2,CURRENT-1]}" "$typed" 2>/dev/null)
    if ((${#offers})); then
        _describe -V agentctl offers
    else
        [[ $PREFIX == --*=* ]] && compset -P '*='
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
function __agentctl_ask
    set -l words (commandline -opc)
    set -l typed (commandline -ct | string collect)
    set typed (string unescape -- $typed | string collect); or set typed (commandline -ct | string collect)
    set -g __agentctl_offers ($words[1] __complete fish $words[2..] "$typed" 2>/dev/null | string split0)
    test (count $__agentctl_offers) -gt 0
end
complete -c agentctl -n __agentctl_ask -k -f -a '$__agentctl_offers'
`,
	}
}
