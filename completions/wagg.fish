# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_wagg_global_optspecs
    string join \n store= format= color= q/quiet v/verbose h/help V/version
end

function __fish_wagg_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_wagg_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_wagg_using_subcommand
    set -l cmd (__fish_wagg_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c wagg -n "__fish_wagg_needs_command" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_needs_command" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_needs_command" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_needs_command" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_needs_command" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_needs_command" -s V -l version -d 'Print version'
complete -c wagg -n "__fish_wagg_needs_command" -f -a "init" -d 'Make a new empty store'
complete -c wagg -n "__fish_wagg_needs_command" -f -a "show" -d 'Say what a reference is: kind, place, owner, state, and the command to go on with'
complete -c wagg -n "__fish_wagg_needs_command" -f -a "worker" -d 'Look at Workers, create them, and change whom they know'
complete -c wagg -n "__fish_wagg_needs_command" -f -a "segment" -d 'Look at Segments, make new ones, and choose the one that a restore starts from'
complete -c wagg -n "__fish_wagg_needs_command" -f -a "run" -d 'Look at runs, reserve and stop them'
complete -c wagg -n "__fish_wagg_needs_command" -f -a "verify" -d 'Check a store against every rule of its format'
complete -c wagg -n "__fish_wagg_needs_command" -f -a "report" -d 'Work with the JSON reports of verify'
complete -c wagg -n "__fish_wagg_needs_command" -f -a "repair" -d 'Mend a store: show what would be done, or do it'
complete -c wagg -n "__fish_wagg_needs_command" -f -a "explain" -d 'Explain a code: how it comes about, what it looks like, what to do'
complete -c wagg -n "__fish_wagg_needs_command" -f -a "apply" -d 'Make many changes from a stream of JSON lines'
complete -c wagg -n "__fish_wagg_needs_command" -f -a "quarantine" -d 'Look at what operations put aside, and let go of it'
complete -c wagg -n "__fish_wagg_needs_command" -f -a "op" -d 'Look at what wagg changed in a store, undo it, and forget what is old'
complete -c wagg -n "__fish_wagg_needs_command" -f -a "lock" -d 'Look at locks, and run commands under one'
complete -c wagg -n "__fish_wagg_needs_command" -f -a "completions" -d 'Print the completion script for a shell'
complete -c wagg -n "__fish_wagg_needs_command" -f -a "man" -d 'Print the manual, or write its pages into a folder'
complete -c wagg -n "__fish_wagg_needs_command" -f -a "orphans" -d 'List what nobody owns and what is claimed twice, in the store and in legacy roots'
complete -c wagg -n "__fish_wagg_needs_command" -f -a "migrate" -d 'Move an old store\'s Workers into one folder each, killable anywhere, never overwriting'
complete -c wagg -n "__fish_wagg_needs_command" -f -a "demo" -d 'Make small stores with the usual damage; look at them, move and mend them before your eyes'
complete -c wagg -n "__fish_wagg_using_subcommand init" -l request-id -d 'Make this change exactly once, however often the command is retried' -r
complete -c wagg -n "__fish_wagg_using_subcommand init" -l actor -d 'Who acts, for the journal [default: user@host]' -r
complete -c wagg -n "__fish_wagg_using_subcommand init" -l wait -d 'How many seconds to wait for a lock; 0 does not wait' -r
complete -c wagg -n "__fish_wagg_using_subcommand init" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand init" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand init" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand init" -l dry-run -d 'Check, refuse as the command would, print the plan, and write nothing'
complete -c wagg -n "__fish_wagg_using_subcommand init" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand init" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand init" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand show" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand show" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand show" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand show" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and not __fish_seen_subcommand_from list show create children reclaim peer" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand worker; and not __fish_seen_subcommand_from list show create children reclaim peer" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand worker; and not __fish_seen_subcommand_from list show create children reclaim peer" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand worker; and not __fish_seen_subcommand_from list show create children reclaim peer" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and not __fish_seen_subcommand_from list show create children reclaim peer" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and not __fish_seen_subcommand_from list show create children reclaim peer" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and not __fish_seen_subcommand_from list show create children reclaim peer" -f -a "list" -d 'List the Workers of a store'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and not __fish_seen_subcommand_from list show create children reclaim peer" -f -a "show" -d 'Show one Worker: its Session and active Segment, runs, children, peers, and what is wrong'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and not __fish_seen_subcommand_from list show create children reclaim peer" -f -a "create" -d 'Create a Worker and print its id'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and not __fish_seen_subcommand_from list show create children reclaim peer" -f -a "children" -d 'List what a Worker delegated to its children'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and not __fish_seen_subcommand_from list show create children reclaim peer" -f -a "reclaim" -d 'Take back what a Worker delegated to a child'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and not __fish_seen_subcommand_from list show create children reclaim peer" -f -a "peer" -d 'Change whom a Worker may talk to'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from list" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from list" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from list" -l ids -d 'Print ids only, one a line, whatever the format'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from list" -s 0 -l null -d 'Print ids only, each followed by a NUL byte, for xargs -0'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from show" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from show" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from create" -l name -d 'Its display name; must not look like an id or a path' -r
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from create" -l workspace -d 'Its workspace' -r
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from create" -l profile -d 'A named profile, or a builtin one if it starts with builtin: [default: builtin:coder]' -r
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from create" -l request -d 'The whole request as JSON, instead of --name and --profile; - is standard input' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from create" -l request-id -d 'Make this change exactly once, however often the command is retried' -r
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from create" -l actor -d 'Who acts, for the journal [default: user@host]' -r
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from create" -l wait -d 'How many seconds to wait for a lock; 0 does not wait' -r
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from create" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from create" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from create" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from create" -l dry-run -d 'Check, refuse as the command would, print the plan, and write nothing'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from create" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from create" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from children" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from children" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from children" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from children" -l ids -d 'Print ids only, one a line, whatever the format'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from children" -s 0 -l null -d 'Print ids only, each followed by a NUL byte, for xargs -0'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from children" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from children" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from children" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from reclaim" -l expect-generation -d 'Refuse unless this is the Worker\'s last generation (0: none yet)' -r
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from reclaim" -l expect-active -d 'Refuse unless this is the Worker\'s active Segment' -r
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from reclaim" -l expect-digest -d 'Refuse unless the Segment\'s committed records have this SHA-256' -r
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from reclaim" -l request-id -d 'Make this change exactly once, however often the command is retried' -r
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from reclaim" -l actor -d 'Who acts, for the journal [default: user@host]' -r
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from reclaim" -l wait -d 'How many seconds to wait for a lock; 0 does not wait' -r
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from reclaim" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from reclaim" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from reclaim" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from reclaim" -l dry-run -d 'Check, refuse as the command would, print the plan, and write nothing'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from reclaim" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from reclaim" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from reclaim" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from peer" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from peer" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from peer" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from peer" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from peer" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from peer" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from peer" -f -a "add" -d 'Put a peer on a Worker\'s list'
complete -c wagg -n "__fish_wagg_using_subcommand worker; and __fish_seen_subcommand_from peer" -f -a "remove" -d 'Take a peer off a Worker\'s list'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and not __fish_seen_subcommand_from list show log diff digest create append fork compact activate" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand segment; and not __fish_seen_subcommand_from list show log diff digest create append fork compact activate" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and not __fish_seen_subcommand_from list show log diff digest create append fork compact activate" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and not __fish_seen_subcommand_from list show log diff digest create append fork compact activate" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and not __fish_seen_subcommand_from list show log diff digest create append fork compact activate" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and not __fish_seen_subcommand_from list show log diff digest create append fork compact activate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and not __fish_seen_subcommand_from list show log diff digest create append fork compact activate" -f -a "list" -d 'List the Segments of a Worker, with what each comes to'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and not __fish_seen_subcommand_from list show log diff digest create append fork compact activate" -f -a "show" -d 'Show one Segment: counts, turns, tokens, lineage, digest, and what is wrong with it'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and not __fish_seen_subcommand_from list show log diff digest create append fork compact activate" -f -a "log" -d 'Print the records of a Segment as a person reads them'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and not __fish_seen_subcommand_from list show log diff digest create append fork compact activate" -f -a "diff" -d 'Show where the histories of two Segments part, and what each has from there'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and not __fish_seen_subcommand_from list show log diff digest create append fork compact activate" -f -a "digest" -d 'Print the SHA-256 over the committed records of a Segment'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and not __fish_seen_subcommand_from list show log diff digest create append fork compact activate" -f -a "create" -d 'Make the first Segment of a Worker, or a further one that begins anew'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and not __fish_seen_subcommand_from list show log diff digest create append fork compact activate" -f -a "append" -d 'Add records to the end of a Segment, all or none'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and not __fish_seen_subcommand_from list show log diff digest create append fork compact activate" -f -a "fork" -d 'Make a new Segment that begins where a turn of another ended'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and not __fish_seen_subcommand_from list show log diff digest create append fork compact activate" -f -a "compact" -d 'Make a new Segment of a summary and the last turns of another'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and not __fish_seen_subcommand_from list show log diff digest create append fork compact activate" -f -a "activate" -d 'Let a restore of the Worker start from this Segment'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from list" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from list" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from list" -l tree -d 'Show how they descend from each other'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from list" -l ids -d 'Print ids only, one a line, whatever the format'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from list" -s 0 -l null -d 'Print ids only, each followed by a NUL byte, for xargs -0'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from show" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from show" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from log" -l from -d 'Begin at this line, counted from 1' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from log" -l limit -d 'Stop after so many records' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from log" -l kind -d 'Only records of this kind; may be given more than once' -r -f -a "segment_start\t''
invoke\t''
user_input\t''
assistant_item\t''
tool_result\t''
system_item\t''
turn_end\t''
run_completed\t''
run_errored\t''
paused_turn_abandoned\t''
config_changed\t''
llm_usage\t''
extension\t''"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from log" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from log" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from log" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from log" -l follow -d 'Wait for records to come, until interrupted'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from log" -l raw -d 'Print the stored lines, byte for byte'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from log" -l ids -d 'Print ids only, one a line, whatever the format'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from log" -s 0 -l null -d 'Print ids only, each followed by a NUL byte, for xargs -0'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from log" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from log" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from log" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from diff" -l limit -d 'How many items of each are shown' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from diff" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from diff" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from diff" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from diff" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from diff" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from digest" -l at-record -d 'Only up to and with this record, counted from 1' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from digest" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from digest" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from digest" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from digest" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from digest" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from digest" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from create" -l system-prompt -d 'The system prompt, to the byte; - is standard input [default: none]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from create" -l config -d 'The request config, one JSON object; - is standard input [default: nothing is set]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from create" -l history -d 'History items to begin with, a JSON array or one a line; - is standard input [default: none]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from create" -l expect-generation -d 'Refuse unless this is the Worker\'s last generation (0: none yet)' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from create" -l expect-active -d 'Refuse unless this is the Worker\'s active Segment' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from create" -l expect-digest -d 'Refuse unless the Segment\'s committed records have this SHA-256' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from create" -l request-id -d 'Make this change exactly once, however often the command is retried' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from create" -l actor -d 'Who acts, for the journal [default: user@host]' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from create" -l wait -d 'How many seconds to wait for a lock; 0 does not wait' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from create" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from create" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from create" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from create" -l activate -d 'Let a restore start from it'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from create" -l dry-run -d 'Check, refuse as the command would, print the plan, and write nothing'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from create" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from create" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from append" -l from -d 'The records, one a line; - is standard input' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from append" -l expect-generation -d 'Refuse unless this is the Worker\'s last generation (0: none yet)' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from append" -l expect-active -d 'Refuse unless this is the Worker\'s active Segment' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from append" -l expect-digest -d 'Refuse unless the Segment\'s committed records have this SHA-256' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from append" -l request-id -d 'Make this change exactly once, however often the command is retried' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from append" -l actor -d 'Who acts, for the journal [default: user@host]' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from append" -l wait -d 'How many seconds to wait for a lock; 0 does not wait' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from append" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from append" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from append" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from append" -l dry-run -d 'Check, refuse as the command would, print the plan, and write nothing'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from append" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from append" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from append" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from fork" -l at-turn -d 'The turn after which it branches off; 0 is before the first [default: the last finished]' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from fork" -l expect-generation -d 'Refuse unless this is the Worker\'s last generation (0: none yet)' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from fork" -l expect-active -d 'Refuse unless this is the Worker\'s active Segment' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from fork" -l expect-digest -d 'Refuse unless the Segment\'s committed records have this SHA-256' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from fork" -l request-id -d 'Make this change exactly once, however often the command is retried' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from fork" -l actor -d 'Who acts, for the journal [default: user@host]' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from fork" -l wait -d 'How many seconds to wait for a lock; 0 does not wait' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from fork" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from fork" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from fork" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from fork" -l activate -d 'Let a restore start from it'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from fork" -l dry-run -d 'Check, refuse as the command would, print the plan, and write nothing'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from fork" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from fork" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from fork" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from compact" -l summary -d 'What stands for the turns that are dropped, to the byte; - is standard input' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from compact" -l retain-turns -d 'Retain at most so many of the last turns' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from compact" -l retain-tokens -d 'Retain as many of the last turns as have at most so many tokens' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from compact" -l budget-tokens -d 'Refuse if the new history, summary included, has more tokens than this' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from compact" -l expect-generation -d 'Refuse unless this is the Worker\'s last generation (0: none yet)' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from compact" -l expect-active -d 'Refuse unless this is the Worker\'s active Segment' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from compact" -l expect-digest -d 'Refuse unless the Segment\'s committed records have this SHA-256' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from compact" -l request-id -d 'Make this change exactly once, however often the command is retried' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from compact" -l actor -d 'Who acts, for the journal [default: user@host]' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from compact" -l wait -d 'How many seconds to wait for a lock; 0 does not wait' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from compact" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from compact" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from compact" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from compact" -l activate -d 'Let a restore start from it'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from compact" -l dry-run -d 'Check, refuse as the command would, print the plan, and write nothing'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from compact" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from compact" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from compact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from activate" -l expect-generation -d 'Refuse unless this is the Worker\'s last generation (0: none yet)' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from activate" -l expect-active -d 'Refuse unless this is the Worker\'s active Segment' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from activate" -l expect-digest -d 'Refuse unless the Segment\'s committed records have this SHA-256' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from activate" -l request-id -d 'Make this change exactly once, however often the command is retried' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from activate" -l actor -d 'Who acts, for the journal [default: user@host]' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from activate" -l wait -d 'How many seconds to wait for a lock; 0 does not wait' -r
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from activate" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from activate" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from activate" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from activate" -l dry-run -d 'Check, refuse as the command would, print the plan, and write nothing'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from activate" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from activate" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand segment; and __fish_seen_subcommand_from activate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand run; and not __fish_seen_subcommand_from list show reserve stop" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand run; and not __fish_seen_subcommand_from list show reserve stop" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand run; and not __fish_seen_subcommand_from list show reserve stop" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand run; and not __fish_seen_subcommand_from list show reserve stop" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand run; and not __fish_seen_subcommand_from list show reserve stop" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand run; and not __fish_seen_subcommand_from list show reserve stop" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand run; and not __fish_seen_subcommand_from list show reserve stop" -f -a "list" -d 'List the runs of a Worker, as far as reading tells'
complete -c wagg -n "__fish_wagg_using_subcommand run; and not __fish_seen_subcommand_from list show reserve stop" -f -a "show" -d 'Show one run: its state with the reason, and the files that it left'
complete -c wagg -n "__fish_wagg_using_subcommand run; and not __fish_seen_subcommand_from list show reserve stop" -f -a "reserve" -d 'Reserve the next generation of a Worker and make its folder'
complete -c wagg -n "__fish_wagg_using_subcommand run; and not __fish_seen_subcommand_from list show reserve stop" -f -a "stop" -d 'Take away the socket of a run that ended'
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from list" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from list" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from list" -l ids -d 'Print ids only, one a line, whatever the format'
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from list" -s 0 -l null -d 'Print ids only, each followed by a NUL byte, for xargs -0'
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from show" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from show" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from reserve" -l expect-generation -d 'Refuse unless this is the Worker\'s last generation (0: none yet)' -r
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from reserve" -l expect-active -d 'Refuse unless this is the Worker\'s active Segment' -r
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from reserve" -l expect-digest -d 'Refuse unless the Segment\'s committed records have this SHA-256' -r
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from reserve" -l request-id -d 'Make this change exactly once, however often the command is retried' -r
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from reserve" -l actor -d 'Who acts, for the journal [default: user@host]' -r
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from reserve" -l wait -d 'How many seconds to wait for a lock; 0 does not wait' -r
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from reserve" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from reserve" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from reserve" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from reserve" -l dry-run -d 'Check, refuse as the command would, print the plan, and write nothing'
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from reserve" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from reserve" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from reserve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from stop" -l expect-generation -d 'Refuse unless this is the Worker\'s last generation (0: none yet)' -r
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from stop" -l expect-active -d 'Refuse unless this is the Worker\'s active Segment' -r
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from stop" -l expect-digest -d 'Refuse unless the Segment\'s committed records have this SHA-256' -r
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from stop" -l request-id -d 'Make this change exactly once, however often the command is retried' -r
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from stop" -l actor -d 'Who acts, for the journal [default: user@host]' -r
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from stop" -l wait -d 'How many seconds to wait for a lock; 0 does not wait' -r
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from stop" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from stop" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from stop" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from stop" -l dry-run -d 'Check, refuse as the command would, print the plan, and write nothing'
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from stop" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from stop" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand run; and __fish_seen_subcommand_from stop" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l file -d 'Check single Segment or trace files, without a store' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l wait -d 'With --locked: how many seconds to wait for the lock; 0 does not wait' -r
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l partition -d 'Look at part K of N only: each Worker is in one part, by its id' -r
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l jobs -d 'How many threads work, at most 256 [default: the number of processors]' -r
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l max-line -d 'Do not look at lines longer than this (1GiB, 64MiB, 1000000)' -r
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l max-findings -d 'Stop after this many errors and warnings' -r
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l max-duration -d 'Stop after this time (30s, 5m, 2h)' -r
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l ignore -d 'Neither show nor count findings of this code' -r
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l baseline -d 'Neither show nor count findings that this earlier JSON report has' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l report -d 'Write a report to a file too: junit=FILE, sarif=FILE or json=FILE' -r
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l since -d 'Parse only what was appended since an earlier look, as it saved it with --save' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l save -d 'Save what a later look with --since needs; outside the store, may be the file of --since' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l locked -d 'Hold the store\'s lock while checking, so that no other wagg changes it meanwhile'
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l quick -d 'Read documents, first records and file ends only'
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l strict -d 'Let warnings fail too'
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l digest -d 'Give the SHA-256 of each Segment\'s committed records'
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l trust-mtime -d 'Take a file for unchanged if its inode, size and times are, and do not read it'
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l cache -d 'As --since and --save with a file for this store in the user\'s cache folder'
complete -c wagg -n "__fish_wagg_using_subcommand verify" -l ids -d 'Print ids only, one a line, whatever the format'
complete -c wagg -n "__fish_wagg_using_subcommand verify" -s 0 -l null -d 'Print ids only, each followed by a NUL byte, for xargs -0'
complete -c wagg -n "__fish_wagg_using_subcommand verify" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand verify" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand report; and not __fish_seen_subcommand_from merge" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand report; and not __fish_seen_subcommand_from merge" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand report; and not __fish_seen_subcommand_from merge" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand report; and not __fish_seen_subcommand_from merge" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand report; and not __fish_seen_subcommand_from merge" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand report; and not __fish_seen_subcommand_from merge" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand report; and not __fish_seen_subcommand_from merge" -f -a "merge" -d 'Put the reports of all parts of a store together'
complete -c wagg -n "__fish_wagg_using_subcommand report; and __fish_seen_subcommand_from merge" -l baseline -d 'The earlier JSON report that the parts were given with --baseline' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand report; and __fish_seen_subcommand_from merge" -l report -d 'Write the whole report to a file too: junit=FILE, sarif=FILE or json=FILE' -r
complete -c wagg -n "__fish_wagg_using_subcommand report; and __fish_seen_subcommand_from merge" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand report; and __fish_seen_subcommand_from merge" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand report; and __fish_seen_subcommand_from merge" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand report; and __fish_seen_subcommand_from merge" -l strict -d 'Let warnings fail too'
complete -c wagg -n "__fish_wagg_using_subcommand report; and __fish_seen_subcommand_from merge" -l ids -d 'Print ids only, one a line, whatever the format'
complete -c wagg -n "__fish_wagg_using_subcommand report; and __fish_seen_subcommand_from merge" -s 0 -l null -d 'Print ids only, each followed by a NUL byte, for xargs -0'
complete -c wagg -n "__fish_wagg_using_subcommand report; and __fish_seen_subcommand_from merge" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand report; and __fish_seen_subcommand_from merge" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand report; and __fish_seen_subcommand_from merge" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand repair" -l only -d 'Only findings of this code; may be given more than once' -r
complete -c wagg -n "__fish_wagg_using_subcommand repair" -l plan-out -d 'Write the plan to a file, to be looked at and carried out later' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand repair" -l plan -d 'Take the plan from a file that --plan-out wrote' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand repair" -l max-line -d 'Do not look at lines longer than this (1GiB, 64MiB, 1000000)' -r
complete -c wagg -n "__fish_wagg_using_subcommand repair" -l request-id -d 'Make this change exactly once, however often the command is retried' -r
complete -c wagg -n "__fish_wagg_using_subcommand repair" -l actor -d 'Who acts, for the journal [default: user@host]' -r
complete -c wagg -n "__fish_wagg_using_subcommand repair" -l wait -d 'How many seconds to wait for a lock; 0 does not wait' -r
complete -c wagg -n "__fish_wagg_using_subcommand repair" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand repair" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand repair" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand repair" -l apply -d 'Carry the plan out'
complete -c wagg -n "__fish_wagg_using_subcommand repair" -l allow-lossy -d 'Take records out that can not be read, drop results without a call, make up missing results'
complete -c wagg -n "__fish_wagg_using_subcommand repair" -l dry-run -d 'Check, refuse as the command would, print the plan, and write nothing'
complete -c wagg -n "__fish_wagg_using_subcommand repair" -l ids -d 'Print ids only, one a line, whatever the format'
complete -c wagg -n "__fish_wagg_using_subcommand repair" -s 0 -l null -d 'Print ids only, each followed by a NUL byte, for xargs -0'
complete -c wagg -n "__fish_wagg_using_subcommand repair" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand repair" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand repair" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand explain" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand explain" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand explain" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand explain" -l all -d 'List every code'
complete -c wagg -n "__fish_wagg_using_subcommand explain" -l markdown -d 'Print docs/codes.md'
complete -c wagg -n "__fish_wagg_using_subcommand explain" -l ids -d 'Print ids only, one a line, whatever the format'
complete -c wagg -n "__fish_wagg_using_subcommand explain" -s 0 -l null -d 'Print ids only, each followed by a NUL byte, for xargs -0'
complete -c wagg -n "__fish_wagg_using_subcommand explain" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand explain" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand apply" -l group -d 'How many neighbours share a sync at the most' -r
complete -c wagg -n "__fish_wagg_using_subcommand apply" -l actor -d 'Who acts, for the journal, where a line does not say [default: user@host]' -r
complete -c wagg -n "__fish_wagg_using_subcommand apply" -l wait -d 'How many seconds to wait for a lock; 0 does not wait' -r
complete -c wagg -n "__fish_wagg_using_subcommand apply" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand apply" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand apply" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand apply" -l dry-run -d 'Check, refuse as the commands would, and write nothing'
complete -c wagg -n "__fish_wagg_using_subcommand apply" -l ids -d 'Print ids only, one a line, whatever the format'
complete -c wagg -n "__fish_wagg_using_subcommand apply" -s 0 -l null -d 'Print ids only, each followed by a NUL byte, for xargs -0'
complete -c wagg -n "__fish_wagg_using_subcommand apply" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand apply" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand apply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and not __fish_seen_subcommand_from list show empty" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and not __fish_seen_subcommand_from list show empty" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and not __fish_seen_subcommand_from list show empty" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and not __fish_seen_subcommand_from list show empty" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and not __fish_seen_subcommand_from list show empty" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and not __fish_seen_subcommand_from list show empty" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and not __fish_seen_subcommand_from list show empty" -f -a "list" -d 'List the operations that put something aside, oldest first'
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and not __fish_seen_subcommand_from list show empty" -f -a "show" -d 'Show what one operation put aside: what it is, where it was, its SHA-256'
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and not __fish_seen_subcommand_from list show empty" -f -a "empty" -d 'Remove what was put aside, and print the ids of its operations'
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from list" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from list" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from list" -l ids -d 'Print ids only, one a line, whatever the format'
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from list" -s 0 -l null -d 'Print ids only, each followed by a NUL byte, for xargs -0'
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from show" -l raw -d 'Write the bytes of this item, and nothing else' -r
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from show" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from show" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from show" -l ids -d 'Print ids only, one a line, whatever the format'
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from show" -s 0 -l null -d 'Print ids only, each followed by a NUL byte, for xargs -0'
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from empty" -l older-than -d 'Only what was put aside longer ago than this: 30s, 5m, 2h, 7d' -r
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from empty" -l request-id -d 'Make this change exactly once, however often the command is retried' -r
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from empty" -l actor -d 'Who acts, for the journal [default: user@host]' -r
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from empty" -l wait -d 'How many seconds to wait for a lock; 0 does not wait' -r
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from empty" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from empty" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from empty" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from empty" -l dry-run -d 'Check, refuse as the command would, print the plan, and write nothing'
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from empty" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from empty" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand quarantine; and __fish_seen_subcommand_from empty" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand op; and not __fish_seen_subcommand_from list show undo prune" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand op; and not __fish_seen_subcommand_from list show undo prune" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand op; and not __fish_seen_subcommand_from list show undo prune" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand op; and not __fish_seen_subcommand_from list show undo prune" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand op; and not __fish_seen_subcommand_from list show undo prune" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand op; and not __fish_seen_subcommand_from list show undo prune" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand op; and not __fish_seen_subcommand_from list show undo prune" -f -a "list" -d 'List the operations of a store, newest first'
complete -c wagg -n "__fish_wagg_using_subcommand op; and not __fish_seen_subcommand_from list show undo prune" -f -a "show" -d 'Show one operation: what it was to do, how it ended, what it took away'
complete -c wagg -n "__fish_wagg_using_subcommand op; and not __fish_seen_subcommand_from list show undo prune" -f -a "undo" -d 'Bring back what an operation changed, to the byte'
complete -c wagg -n "__fish_wagg_using_subcommand op; and not __fish_seen_subcommand_from list show undo prune" -f -a "prune" -d 'Forget old operations, and print their ids'
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from list" -l limit -d 'At most so many' -r
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from list" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from list" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from list" -l ids -d 'Print ids only, one a line, whatever the format'
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from list" -s 0 -l null -d 'Print ids only, each followed by a NUL byte, for xargs -0'
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from show" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from show" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from undo" -l request-id -d 'Make this change exactly once, however often the command is retried' -r
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from undo" -l actor -d 'Who acts, for the journal [default: user@host]' -r
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from undo" -l wait -d 'How many seconds to wait for a lock; 0 does not wait' -r
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from undo" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from undo" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from undo" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from undo" -l dry-run -d 'Check, refuse as the command would, print the plan, and write nothing'
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from undo" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from undo" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from prune" -l older-than -d 'Forget what ended longer ago than this: 30s, 5m, 2h, 7d' -r
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from prune" -l request-id -d 'Make this change exactly once, however often the command is retried' -r
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from prune" -l actor -d 'Who acts, for the journal [default: user@host]' -r
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from prune" -l wait -d 'How many seconds to wait for a lock; 0 does not wait' -r
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from prune" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from prune" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from prune" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from prune" -l dry-run -d 'Check, refuse as the command would, print the plan, and write nothing'
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from prune" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from prune" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand op; and __fish_seen_subcommand_from prune" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand lock; and not __fish_seen_subcommand_from show run" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand lock; and not __fish_seen_subcommand_from show run" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand lock; and not __fish_seen_subcommand_from show run" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand lock; and not __fish_seen_subcommand_from show run" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand lock; and not __fish_seen_subcommand_from show run" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand lock; and not __fish_seen_subcommand_from show run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand lock; and not __fish_seen_subcommand_from show run" -f -a "show" -d 'Show who holds which lock of a store'
complete -c wagg -n "__fish_wagg_using_subcommand lock; and not __fish_seen_subcommand_from show run" -f -a "run" -d 'Run a command under a Worker\'s lock'
complete -c wagg -n "__fish_wagg_using_subcommand lock; and __fish_seen_subcommand_from show" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand lock; and __fish_seen_subcommand_from show" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand lock; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand lock; and __fish_seen_subcommand_from show" -l all -d 'Also those that nobody holds'
complete -c wagg -n "__fish_wagg_using_subcommand lock; and __fish_seen_subcommand_from show" -l ids -d 'Print ids only, one a line, whatever the format'
complete -c wagg -n "__fish_wagg_using_subcommand lock; and __fish_seen_subcommand_from show" -s 0 -l null -d 'Print ids only, each followed by a NUL byte, for xargs -0'
complete -c wagg -n "__fish_wagg_using_subcommand lock; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand lock; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand lock; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand lock; and __fish_seen_subcommand_from run" -l wait -d 'How many seconds to wait for the lock; 0 does not wait' -r
complete -c wagg -n "__fish_wagg_using_subcommand lock; and __fish_seen_subcommand_from run" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand lock; and __fish_seen_subcommand_from run" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand lock; and __fish_seen_subcommand_from run" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand lock; and __fish_seen_subcommand_from run" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand lock; and __fish_seen_subcommand_from run" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand lock; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand completions" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand completions" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand completions" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand completions" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand completions" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand man" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand man" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand man" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand man" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand man" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand orphans" -l sessions -d 'The legacy Session root: one folder a Session' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand orphans" -l metadata -d 'The legacy metadata root: one folder a Worker name' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand orphans" -l wait -d 'With --locked: how many seconds to wait for the lock; 0 does not wait' -r
complete -c wagg -n "__fish_wagg_using_subcommand orphans" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand orphans" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand orphans" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand orphans" -l locked -d 'Hold the store\'s lock while looking, so that no other wagg changes it meanwhile'
complete -c wagg -n "__fish_wagg_using_subcommand orphans" -l ids -d 'Print ids only, one a line, whatever the format'
complete -c wagg -n "__fish_wagg_using_subcommand orphans" -s 0 -l null -d 'Print ids only, each followed by a NUL byte, for xargs -0'
complete -c wagg -n "__fish_wagg_using_subcommand orphans" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand orphans" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand orphans" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and not __fish_seen_subcommand_from status" -l sessions -d 'The legacy Session root: one folder a Session' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and not __fish_seen_subcommand_from status" -l metadata -d 'The legacy metadata root: one folder a Worker name' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and not __fish_seen_subcommand_from status" -l jobs -d 'How many threads to work with, at most 256 [default: as many as there are processors]' -r
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and not __fish_seen_subcommand_from status" -l report -d 'Write the whole answer to a file as well' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and not __fish_seen_subcommand_from status" -l request-id -d 'Make this change exactly once, however often the command is retried' -r
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and not __fish_seen_subcommand_from status" -l actor -d 'Who acts, for the journal [default: user@host]' -r
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and not __fish_seen_subcommand_from status" -l wait -d 'How many seconds to wait for a lock; 0 does not wait' -r
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and not __fish_seen_subcommand_from status" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and not __fish_seen_subcommand_from status" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and not __fish_seen_subcommand_from status" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and not __fish_seen_subcommand_from status" -l fail-fast -d 'Stop at the first Worker that can not be moved, as the Runtime\'s own migration did'
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and not __fish_seen_subcommand_from status" -l deep -d 'Compare every byte of what former runs moved, not names, sizes and times only'
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and not __fish_seen_subcommand_from status" -l dry-run -d 'Check, refuse as the command would, print the plan, and write nothing'
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and not __fish_seen_subcommand_from status" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and not __fish_seen_subcommand_from status" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and not __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and not __fish_seen_subcommand_from status" -f -a "status" -d 'Show what the migration\'s manifest says, and what was left'
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and __fish_seen_subcommand_from status" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and __fish_seen_subcommand_from status" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and __fish_seen_subcommand_from status" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and __fish_seen_subcommand_from status" -l ids -d 'Print ids only, one a line, whatever the format'
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and __fish_seen_subcommand_from status" -s 0 -l null -d 'Print ids only, each followed by a NUL byte, for xargs -0'
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and __fish_seen_subcommand_from status" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and __fish_seen_subcommand_from status" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand migrate; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c wagg -n "__fish_wagg_using_subcommand demo" -l store -d 'The store to work on [default: the nearest one upwards from here]' -r -F
complete -c wagg -n "__fish_wagg_using_subcommand demo" -l format -d 'How the answer is written' -r -f -a "auto\t'A table on a terminal; in a pipe the same columns, tab-separated, without a header'
table\t'A table, also in a pipe'
json\t'One JSON document'
ndjson\t'One JSON object a line, a summary last'"
complete -c wagg -n "__fish_wagg_using_subcommand demo" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Also in a pipe'
never\t'Not at all'"
complete -c wagg -n "__fish_wagg_using_subcommand demo" -s q -l quiet -d 'Say nothing but the answer, warnings and errors'
complete -c wagg -n "__fish_wagg_using_subcommand demo" -s v -l verbose -d 'Say more; twice for still more'
complete -c wagg -n "__fish_wagg_using_subcommand demo" -s h -l help -d 'Print help (see more with \'--help\')'
