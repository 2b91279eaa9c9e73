# bash completion for agentctl: source <(agentctl completion bash)
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
