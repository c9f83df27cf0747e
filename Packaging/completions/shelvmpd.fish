# Completion of shelvmpd for fish.
complete -c shelvmpd -f
complete -c shelvmpd -n __fish_use_subcommand -a queue -d 'Show the queue with its tiers'
complete -c shelvmpd -n __fish_use_subcommand -a sync -d 'Update the library'
complete -c shelvmpd -n __fish_use_subcommand -a cache -d 'Show what the cache takes'
complete -c shelvmpd -n __fish_use_subcommand -a setup -d 'Make a configuration'
complete -c shelvmpd -n __fish_use_subcommand -a doctor -d 'Look what is wrong'
complete -c shelvmpd -n __fish_use_subcommand -a server -d 'Show and change the servers'
complete -c shelvmpd -n __fish_use_subcommand -a import -d 'Take over from an mpd'
complete -c shelvmpd -s c -l config -r -F -d 'Use this configuration'
complete -c shelvmpd -s h -l help -d 'Write a short help'
complete -c shelvmpd -n __fish_use_subcommand -l check-config -d 'Say whether the configuration is right'
complete -c shelvmpd -n __fish_use_subcommand -l print -x -a 'example configuration manual commands' -d 'Write a document'
complete -c shelvmpd -n __fish_use_subcommand -s V -l version -d 'Write the version'
complete -c shelvmpd -n '__fish_seen_subcommand_from cache' -l clear -x -a 'songs covers all' -d 'Remove what the cache holds'
complete -c shelvmpd -n '__fish_seen_subcommand_from queue' -l partition -x -d 'Whose queue'
complete -c shelvmpd -n '__fish_seen_subcommand_from doctor' -l offline -d 'Do not ask the Subsonic servers'
complete -c shelvmpd -n '__fish_seen_subcommand_from server' -a 'list add edit remove use test'
complete -c shelvmpd -n '__fish_seen_subcommand_from server' -l unset -x -d 'Remove an option'
complete -c shelvmpd -n '__fish_seen_subcommand_from setup' -l replace -d 'Put it in place of what is there'
complete -c shelvmpd -n '__fish_seen_subcommand_from setup server' -s y -l yes -d 'Do not ask'
complete -c shelvmpd -n '__fish_seen_subcommand_from setup server' -l url -x -d "The server's address"
complete -c shelvmpd -n '__fish_seen_subcommand_from setup server' -l name -x -d 'What to call the server'
complete -c shelvmpd -n '__fish_seen_subcommand_from setup server' -l user -x -d "The user's name"
complete -c shelvmpd -n '__fish_seen_subcommand_from setup server' -l password-file -r -F -d 'A file with the password'
complete -c shelvmpd -n '__fish_seen_subcommand_from setup server' -l password-command -x -d 'A command that writes the password'
complete -c shelvmpd -n '__fish_seen_subcommand_from setup server' -l password-env -x -d 'A variable that holds the password'
complete -c shelvmpd -n '__fish_seen_subcommand_from setup server' -l api-key-file -r -F -d 'A file with an API key'
complete -c shelvmpd -n '__fish_seen_subcommand_from setup server' -l set -x -d 'A further option of the block'
complete -c shelvmpd -n '__fish_seen_subcommand_from setup server' -l set-file -x -d 'The same, with its value in a file'
complete -c shelvmpd -n '__fish_seen_subcommand_from setup server' -l no-test -d 'Do not ask the server'
complete -c shelvmpd -n '__fish_seen_subcommand_from import' -l from -r -F -d "mpd's configuration"
complete -c shelvmpd -n '__fish_seen_subcommand_from import' -l stickers -r -F -d "mpd's sticker_file"
complete -c shelvmpd -n '__fish_seen_subcommand_from import' -l playlists -r -F -d 'A folder with playlists'
complete -c shelvmpd -n '__fish_seen_subcommand_from import' -l queue -r -F -d "mpd's state_file"
complete -c shelvmpd -n '__fish_seen_subcommand_from import' -l database -r -F -d "mpd's db_file"
complete -c shelvmpd -n '__fish_seen_subcommand_from import' -l rating-scale -x -a '10 5' -d 'The highest rating'
complete -c shelvmpd -n '__fish_seen_subcommand_from import' -l dry-run -d 'Only say what would be done'
