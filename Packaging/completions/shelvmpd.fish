# Completion of shelvmpd for fish.
complete -c shelvmpd -f
complete -c shelvmpd -n __fish_use_subcommand -a queue -d 'Show the queue with its tiers'
complete -c shelvmpd -n __fish_use_subcommand -a sync -d 'Update the library'
complete -c shelvmpd -n __fish_use_subcommand -a cache -d 'Show what the cache takes'
complete -c shelvmpd -s c -l config -r -F -d 'Use this configuration'
complete -c shelvmpd -l check-config -d 'Say whether the configuration is right'
complete -c shelvmpd -l print -x -a 'example configuration manual commands' -d 'Write a document'
complete -c shelvmpd -n '__fish_seen_subcommand_from cache' -l clear -x -a 'songs covers all' -d 'Remove what the cache holds'
complete -c shelvmpd -s h -l help -d 'Write a short help'
complete -c shelvmpd -s V -l version -d 'Write the version'
