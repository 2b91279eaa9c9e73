# fish completion for agentctl: agentctl completion fish | source
function __agentctl_ask
    set -l words (commandline -opc)
    set -l typed (commandline -ct | string collect)
    set typed (string unescape -- $typed | string collect); or set typed (commandline -ct | string collect)
    set -g __agentctl_offers ($words[1] __complete fish $words[2..] "$typed" 2>/dev/null | string split0)
    test (count $__agentctl_offers) -gt 0
end
complete -c agentctl -n __agentctl_ask -k -f -a '$__agentctl_offers'
