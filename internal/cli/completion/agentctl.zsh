#compdef agentctl
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
