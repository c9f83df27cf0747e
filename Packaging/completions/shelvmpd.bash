# Completion of shelvmpd for bash.
_shelvmpd() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words
    case $before in
    -c | --config)
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    --print) words="example configuration manual commands" ;;
    --clear) words="songs covers all" ;;
    *)
        words="--config --check-config --print --help --version"
        if [ "$COMP_CWORD" = 1 ]; then words="queue sync cache $words"; fi
        if [ "${COMP_WORDS[1]}" = cache ]; then words="--config --clear"; fi
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o filenames -F _shelvmpd shelvmpd
