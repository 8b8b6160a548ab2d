"""What `--completion` prints: the scripts of bash, zsh and fish. See completion.py."""

from __future__ import annotations

_BASH = """\
# kafka.sh: completion for bash. Load it with: eval "$(kafka.sh --completion bash)"
_kafka_sh() {
    local IFS=$'\\n' line
    COMPREPLY=()
    while IFS=$'\\t' read -r line _; do
        COMPREPLY+=("$line")
    done < <(KAFKA_SH_COMPLETE=bash COMP_LINE="$COMP_LINE" COMP_POINT="$COMP_POINT" \\
        COMP_WORDBREAKS="$COMP_WORDBREAKS" "${COMP_WORDS[0]}" 2>/dev/null)
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/] ]] && \\
        compopt -o nospace 2>/dev/null
    return 0
}
complete -F _kafka_sh kafka.sh kafka-sh
"""

_ZSH = """\
#compdef kafka.sh kafka-sh
# kafka.sh: completion for zsh. Load it with: eval "$(kafka.sh --completion zsh)"
_kafka_sh() {
    local line word about
    local -a found shown
    while IFS=$'\\t' read -r word about; do
        found+=("$word")
        shown+=("${word}${about:+  -- $about}")
    done < <(KAFKA_SH_COMPLETE=zsh "${words[1]}" "${(@Q)words[2,CURRENT]}" 2>/dev/null)
    if [[ ${#found} -eq 1 && ${found[1]} == *[=/] ]]; then
        compadd -U -S '' -a found
    else
        compadd -U -l -d shown -a found
    fi
}
compdef _kafka_sh kafka.sh kafka-sh
"""

_FISH = """\
# kafka.sh: completion for fish. Load it with: kafka.sh --completion fish | source
function __kafka_sh_complete
    set -l words (commandline -opc) (commandline -ct)
    KAFKA_SH_COMPLETE=fish $words[1] $words[2..-1] 2>/dev/null
end
complete -c kafka.sh -f -a '(__kafka_sh_complete)'
complete -c kafka-sh -f -a '(__kafka_sh_complete)'
"""

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
