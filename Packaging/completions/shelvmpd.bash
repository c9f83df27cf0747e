# Completion of shelvmpd for bash.
_shelvmpd() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words
    local login="--url --name --user --password-file --password-command --password-env --api-key-file --set --set-file --no-test"
    case $before in
    -c | --config | --password-file | --api-key-file | --from | --stickers | --playlists | --queue | --database)
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    --print) words="example configuration manual commands" ;;
    --clear) words="songs covers all" ;;
    --rating-scale) words="10 5" ;;
    --url | --name | --user | --password-command | --password-env | --set | --set-file | --unset | --partition) return ;;
    *)
        case ${COMP_WORDS[1]} in
        queue) words="--config --partition --help" ;;
        sync) words="--config --help" ;;
        cache) words="--config --clear --help" ;;
        setup) words="--config $login --yes --replace --help" ;;
        doctor) words="--config --offline --help" ;;
        server)
            words="--config $login --unset --yes --help"
            if [ "$COMP_CWORD" = 2 ]; then words="list add edit remove use test --help"; fi
            ;;
        import) words="--config --from --stickers --playlists --queue --database --rating-scale --dry-run --help" ;;
        *) words="--config --check-config --print --help --version" ;;
        esac
        if [ "$COMP_CWORD" = 1 ]; then words="queue sync cache setup doctor server import $words"; fi
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o filenames -F _shelvmpd shelvmpd
