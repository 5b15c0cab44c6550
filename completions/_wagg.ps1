
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'wagg' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'wagg'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'wagg' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('init', 'init', [CompletionResultType]::ParameterValue, 'Make a new empty store')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Say what a reference is: kind, place, owner, state, and the command to go on with')
            [CompletionResult]::new('worker', 'worker', [CompletionResultType]::ParameterValue, 'Look at Workers, create them, and change whom they know')
            [CompletionResult]::new('segment', 'segment', [CompletionResultType]::ParameterValue, 'Look at Segments, make new ones, and choose the one that a restore starts from')
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Look at runs, reserve and stop them')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Check a store against every rule of its format')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a code: how it comes about, what it looks like, what to do')
            [CompletionResult]::new('apply', 'apply', [CompletionResultType]::ParameterValue, 'Make many changes from a stream of JSON lines')
            [CompletionResult]::new('op', 'op', [CompletionResultType]::ParameterValue, 'Look at what wagg changed in a store, and forget what is old')
            [CompletionResult]::new('lock', 'lock', [CompletionResultType]::ParameterValue, 'Look at locks, and run commands under one')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completion script for a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the manual, or write its pages into a folder')
            [CompletionResult]::new('orphans', 'orphans', [CompletionResultType]::ParameterValue, 'List what nobody owns and what is claimed twice, in the store and in legacy roots')
            [CompletionResult]::new('migrate', 'migrate', [CompletionResultType]::ParameterValue, 'Move an old store''s Workers into one folder each, killable anywhere, never overwriting')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Make two small stores with the usual damage, and look at them before your eyes')
            break
        }
        'wagg;init' {
            [CompletionResult]::new('--request-id', '--request-id', [CompletionResultType]::ParameterName, 'Make this change exactly once, however often the command is retried')
            [CompletionResult]::new('--actor', '--actor', [CompletionResultType]::ParameterName, 'Who acts, for the journal [default: user@host]')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'How many seconds to wait for a lock; 0 does not wait')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Check, refuse as the command would, print the plan, and write nothing')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;show' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;worker' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the Workers of a store')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one Worker: its Session and active Segment, runs, children, peers, and what is wrong')
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create a Worker and print its id')
            [CompletionResult]::new('children', 'children', [CompletionResultType]::ParameterValue, 'List what a Worker delegated to its children')
            [CompletionResult]::new('reclaim', 'reclaim', [CompletionResultType]::ParameterValue, 'Take back what a Worker delegated to a child')
            [CompletionResult]::new('peer', 'peer', [CompletionResultType]::ParameterValue, 'Change whom a Worker may talk to')
            break
        }
        'wagg;worker;list' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--ids', '--ids', [CompletionResultType]::ParameterName, 'Print ids only, one a line, whatever the format')
            [CompletionResult]::new('-0', '-0', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('--null', '--null', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;worker;show' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;worker;create' {
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'Its display name; must not look like an id or a path')
            [CompletionResult]::new('--workspace', '--workspace', [CompletionResultType]::ParameterName, 'Its workspace')
            [CompletionResult]::new('--profile', '--profile', [CompletionResultType]::ParameterName, 'A named profile, or a builtin one if it starts with builtin: [default: builtin:coder]')
            [CompletionResult]::new('--request', '--request', [CompletionResultType]::ParameterName, 'The whole request as JSON, instead of --name and --profile; - is standard input')
            [CompletionResult]::new('--request-id', '--request-id', [CompletionResultType]::ParameterName, 'Make this change exactly once, however often the command is retried')
            [CompletionResult]::new('--actor', '--actor', [CompletionResultType]::ParameterName, 'Who acts, for the journal [default: user@host]')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'How many seconds to wait for a lock; 0 does not wait')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Check, refuse as the command would, print the plan, and write nothing')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;worker;children' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--ids', '--ids', [CompletionResultType]::ParameterName, 'Print ids only, one a line, whatever the format')
            [CompletionResult]::new('-0', '-0', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('--null', '--null', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;worker;reclaim' {
            [CompletionResult]::new('--expect-generation', '--expect-generation', [CompletionResultType]::ParameterName, 'Refuse unless this is the Worker''s last generation (0: none yet)')
            [CompletionResult]::new('--expect-active', '--expect-active', [CompletionResultType]::ParameterName, 'Refuse unless this is the Worker''s active Segment')
            [CompletionResult]::new('--expect-digest', '--expect-digest', [CompletionResultType]::ParameterName, 'Refuse unless the Segment''s committed records have this SHA-256')
            [CompletionResult]::new('--request-id', '--request-id', [CompletionResultType]::ParameterName, 'Make this change exactly once, however often the command is retried')
            [CompletionResult]::new('--actor', '--actor', [CompletionResultType]::ParameterName, 'Who acts, for the journal [default: user@host]')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'How many seconds to wait for a lock; 0 does not wait')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Check, refuse as the command would, print the plan, and write nothing')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;worker;peer' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Put a peer on a Worker''s list')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Take a peer off a Worker''s list')
            break
        }
        'wagg;worker;peer;add' {
            [CompletionResult]::new('--expect-generation', '--expect-generation', [CompletionResultType]::ParameterName, 'Refuse unless this is the Worker''s last generation (0: none yet)')
            [CompletionResult]::new('--expect-active', '--expect-active', [CompletionResultType]::ParameterName, 'Refuse unless this is the Worker''s active Segment')
            [CompletionResult]::new('--expect-digest', '--expect-digest', [CompletionResultType]::ParameterName, 'Refuse unless the Segment''s committed records have this SHA-256')
            [CompletionResult]::new('--request-id', '--request-id', [CompletionResultType]::ParameterName, 'Make this change exactly once, however often the command is retried')
            [CompletionResult]::new('--actor', '--actor', [CompletionResultType]::ParameterName, 'Who acts, for the journal [default: user@host]')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'How many seconds to wait for a lock; 0 does not wait')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Check, refuse as the command would, print the plan, and write nothing')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;worker;peer;remove' {
            [CompletionResult]::new('--expect-generation', '--expect-generation', [CompletionResultType]::ParameterName, 'Refuse unless this is the Worker''s last generation (0: none yet)')
            [CompletionResult]::new('--expect-active', '--expect-active', [CompletionResultType]::ParameterName, 'Refuse unless this is the Worker''s active Segment')
            [CompletionResult]::new('--expect-digest', '--expect-digest', [CompletionResultType]::ParameterName, 'Refuse unless the Segment''s committed records have this SHA-256')
            [CompletionResult]::new('--request-id', '--request-id', [CompletionResultType]::ParameterName, 'Make this change exactly once, however often the command is retried')
            [CompletionResult]::new('--actor', '--actor', [CompletionResultType]::ParameterName, 'Who acts, for the journal [default: user@host]')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'How many seconds to wait for a lock; 0 does not wait')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Check, refuse as the command would, print the plan, and write nothing')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;segment' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the Segments of a Worker, with what each comes to')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one Segment: counts, turns, tokens, lineage, digest, and what is wrong with it')
            [CompletionResult]::new('log', 'log', [CompletionResultType]::ParameterValue, 'Print the records of a Segment as a person reads them')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Show where the histories of two Segments part, and what each has from there')
            [CompletionResult]::new('digest', 'digest', [CompletionResultType]::ParameterValue, 'Print the SHA-256 over the committed records of a Segment')
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Make the first Segment of a Worker, or a further one that begins anew')
            [CompletionResult]::new('append', 'append', [CompletionResultType]::ParameterValue, 'Add records to the end of a Segment, all or none')
            [CompletionResult]::new('fork', 'fork', [CompletionResultType]::ParameterValue, 'Make a new Segment that begins where a turn of another ended')
            [CompletionResult]::new('compact', 'compact', [CompletionResultType]::ParameterValue, 'Make a new Segment of a summary and the last turns of another')
            [CompletionResult]::new('activate', 'activate', [CompletionResultType]::ParameterValue, 'Let a restore of the Worker start from this Segment')
            break
        }
        'wagg;segment;list' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--tree', '--tree', [CompletionResultType]::ParameterName, 'Show how they descend from each other')
            [CompletionResult]::new('--ids', '--ids', [CompletionResultType]::ParameterName, 'Print ids only, one a line, whatever the format')
            [CompletionResult]::new('-0', '-0', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('--null', '--null', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;segment;show' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;segment;log' {
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Begin at this line, counted from 1')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Stop after so many records')
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'Only records of this kind; may be given more than once')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--follow', '--follow', [CompletionResultType]::ParameterName, 'Wait for records to come, until interrupted')
            [CompletionResult]::new('--raw', '--raw', [CompletionResultType]::ParameterName, 'Print the stored lines, byte for byte')
            [CompletionResult]::new('--ids', '--ids', [CompletionResultType]::ParameterName, 'Print ids only, one a line, whatever the format')
            [CompletionResult]::new('-0', '-0', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('--null', '--null', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;segment;diff' {
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'How many items of each are shown')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;segment;digest' {
            [CompletionResult]::new('--at-record', '--at-record', [CompletionResultType]::ParameterName, 'Only up to and with this record, counted from 1')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;segment;create' {
            [CompletionResult]::new('--system-prompt', '--system-prompt', [CompletionResultType]::ParameterName, 'The system prompt, to the byte; - is standard input [default: none]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The request config, one JSON object; - is standard input [default: nothing is set]')
            [CompletionResult]::new('--history', '--history', [CompletionResultType]::ParameterName, 'History items to begin with, a JSON array or one a line; - is standard input [default: none]')
            [CompletionResult]::new('--expect-generation', '--expect-generation', [CompletionResultType]::ParameterName, 'Refuse unless this is the Worker''s last generation (0: none yet)')
            [CompletionResult]::new('--expect-active', '--expect-active', [CompletionResultType]::ParameterName, 'Refuse unless this is the Worker''s active Segment')
            [CompletionResult]::new('--expect-digest', '--expect-digest', [CompletionResultType]::ParameterName, 'Refuse unless the Segment''s committed records have this SHA-256')
            [CompletionResult]::new('--request-id', '--request-id', [CompletionResultType]::ParameterName, 'Make this change exactly once, however often the command is retried')
            [CompletionResult]::new('--actor', '--actor', [CompletionResultType]::ParameterName, 'Who acts, for the journal [default: user@host]')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'How many seconds to wait for a lock; 0 does not wait')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--activate', '--activate', [CompletionResultType]::ParameterName, 'Let a restore start from it')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Check, refuse as the command would, print the plan, and write nothing')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;segment;append' {
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'The records, one a line; - is standard input')
            [CompletionResult]::new('--expect-generation', '--expect-generation', [CompletionResultType]::ParameterName, 'Refuse unless this is the Worker''s last generation (0: none yet)')
            [CompletionResult]::new('--expect-active', '--expect-active', [CompletionResultType]::ParameterName, 'Refuse unless this is the Worker''s active Segment')
            [CompletionResult]::new('--expect-digest', '--expect-digest', [CompletionResultType]::ParameterName, 'Refuse unless the Segment''s committed records have this SHA-256')
            [CompletionResult]::new('--request-id', '--request-id', [CompletionResultType]::ParameterName, 'Make this change exactly once, however often the command is retried')
            [CompletionResult]::new('--actor', '--actor', [CompletionResultType]::ParameterName, 'Who acts, for the journal [default: user@host]')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'How many seconds to wait for a lock; 0 does not wait')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Check, refuse as the command would, print the plan, and write nothing')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;segment;fork' {
            [CompletionResult]::new('--at-turn', '--at-turn', [CompletionResultType]::ParameterName, 'The turn after which it branches off; 0 is before the first [default: the last finished]')
            [CompletionResult]::new('--expect-generation', '--expect-generation', [CompletionResultType]::ParameterName, 'Refuse unless this is the Worker''s last generation (0: none yet)')
            [CompletionResult]::new('--expect-active', '--expect-active', [CompletionResultType]::ParameterName, 'Refuse unless this is the Worker''s active Segment')
            [CompletionResult]::new('--expect-digest', '--expect-digest', [CompletionResultType]::ParameterName, 'Refuse unless the Segment''s committed records have this SHA-256')
            [CompletionResult]::new('--request-id', '--request-id', [CompletionResultType]::ParameterName, 'Make this change exactly once, however often the command is retried')
            [CompletionResult]::new('--actor', '--actor', [CompletionResultType]::ParameterName, 'Who acts, for the journal [default: user@host]')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'How many seconds to wait for a lock; 0 does not wait')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--activate', '--activate', [CompletionResultType]::ParameterName, 'Let a restore start from it')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Check, refuse as the command would, print the plan, and write nothing')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;segment;compact' {
            [CompletionResult]::new('--summary', '--summary', [CompletionResultType]::ParameterName, 'What stands for the turns that are dropped, to the byte; - is standard input')
            [CompletionResult]::new('--retain-turns', '--retain-turns', [CompletionResultType]::ParameterName, 'Retain at most so many of the last turns')
            [CompletionResult]::new('--retain-tokens', '--retain-tokens', [CompletionResultType]::ParameterName, 'Retain as many of the last turns as have at most so many tokens')
            [CompletionResult]::new('--budget-tokens', '--budget-tokens', [CompletionResultType]::ParameterName, 'Refuse if the new history, summary included, has more tokens than this')
            [CompletionResult]::new('--expect-generation', '--expect-generation', [CompletionResultType]::ParameterName, 'Refuse unless this is the Worker''s last generation (0: none yet)')
            [CompletionResult]::new('--expect-active', '--expect-active', [CompletionResultType]::ParameterName, 'Refuse unless this is the Worker''s active Segment')
            [CompletionResult]::new('--expect-digest', '--expect-digest', [CompletionResultType]::ParameterName, 'Refuse unless the Segment''s committed records have this SHA-256')
            [CompletionResult]::new('--request-id', '--request-id', [CompletionResultType]::ParameterName, 'Make this change exactly once, however often the command is retried')
            [CompletionResult]::new('--actor', '--actor', [CompletionResultType]::ParameterName, 'Who acts, for the journal [default: user@host]')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'How many seconds to wait for a lock; 0 does not wait')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--activate', '--activate', [CompletionResultType]::ParameterName, 'Let a restore start from it')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Check, refuse as the command would, print the plan, and write nothing')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;segment;activate' {
            [CompletionResult]::new('--expect-generation', '--expect-generation', [CompletionResultType]::ParameterName, 'Refuse unless this is the Worker''s last generation (0: none yet)')
            [CompletionResult]::new('--expect-active', '--expect-active', [CompletionResultType]::ParameterName, 'Refuse unless this is the Worker''s active Segment')
            [CompletionResult]::new('--expect-digest', '--expect-digest', [CompletionResultType]::ParameterName, 'Refuse unless the Segment''s committed records have this SHA-256')
            [CompletionResult]::new('--request-id', '--request-id', [CompletionResultType]::ParameterName, 'Make this change exactly once, however often the command is retried')
            [CompletionResult]::new('--actor', '--actor', [CompletionResultType]::ParameterName, 'Who acts, for the journal [default: user@host]')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'How many seconds to wait for a lock; 0 does not wait')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Check, refuse as the command would, print the plan, and write nothing')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;run' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the runs of a Worker, as far as reading tells')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one run: its state with the reason, and the files that it left')
            [CompletionResult]::new('reserve', 'reserve', [CompletionResultType]::ParameterValue, 'Reserve the next generation of a Worker and make its folder')
            [CompletionResult]::new('stop', 'stop', [CompletionResultType]::ParameterValue, 'Take away the socket of a run that ended')
            break
        }
        'wagg;run;list' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--ids', '--ids', [CompletionResultType]::ParameterName, 'Print ids only, one a line, whatever the format')
            [CompletionResult]::new('-0', '-0', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('--null', '--null', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;run;show' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;run;reserve' {
            [CompletionResult]::new('--expect-generation', '--expect-generation', [CompletionResultType]::ParameterName, 'Refuse unless this is the Worker''s last generation (0: none yet)')
            [CompletionResult]::new('--expect-active', '--expect-active', [CompletionResultType]::ParameterName, 'Refuse unless this is the Worker''s active Segment')
            [CompletionResult]::new('--expect-digest', '--expect-digest', [CompletionResultType]::ParameterName, 'Refuse unless the Segment''s committed records have this SHA-256')
            [CompletionResult]::new('--request-id', '--request-id', [CompletionResultType]::ParameterName, 'Make this change exactly once, however often the command is retried')
            [CompletionResult]::new('--actor', '--actor', [CompletionResultType]::ParameterName, 'Who acts, for the journal [default: user@host]')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'How many seconds to wait for a lock; 0 does not wait')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Check, refuse as the command would, print the plan, and write nothing')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;run;stop' {
            [CompletionResult]::new('--expect-generation', '--expect-generation', [CompletionResultType]::ParameterName, 'Refuse unless this is the Worker''s last generation (0: none yet)')
            [CompletionResult]::new('--expect-active', '--expect-active', [CompletionResultType]::ParameterName, 'Refuse unless this is the Worker''s active Segment')
            [CompletionResult]::new('--expect-digest', '--expect-digest', [CompletionResultType]::ParameterName, 'Refuse unless the Segment''s committed records have this SHA-256')
            [CompletionResult]::new('--request-id', '--request-id', [CompletionResultType]::ParameterName, 'Make this change exactly once, however often the command is retried')
            [CompletionResult]::new('--actor', '--actor', [CompletionResultType]::ParameterName, 'Who acts, for the journal [default: user@host]')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'How many seconds to wait for a lock; 0 does not wait')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Check, refuse as the command would, print the plan, and write nothing')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;verify' {
            [CompletionResult]::new('--file', '--file', [CompletionResultType]::ParameterName, 'Check single Segment or trace files, without a store')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'How many threads work [default: the number of processors]')
            [CompletionResult]::new('--max-line', '--max-line', [CompletionResultType]::ParameterName, 'Do not look at lines longer than this (1GiB, 64MiB, 1000000)')
            [CompletionResult]::new('--max-findings', '--max-findings', [CompletionResultType]::ParameterName, 'Stop after this many errors and warnings')
            [CompletionResult]::new('--max-duration', '--max-duration', [CompletionResultType]::ParameterName, 'Stop after this time (30s, 5m, 2h)')
            [CompletionResult]::new('--ignore', '--ignore', [CompletionResultType]::ParameterName, 'Neither show nor count findings of this code')
            [CompletionResult]::new('--baseline', '--baseline', [CompletionResultType]::ParameterName, 'Neither show nor count findings that this earlier JSON report has')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write a report to a file too: junit=FILE, sarif=FILE or json=FILE')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--locked', '--locked', [CompletionResultType]::ParameterName, 'Hold the store''s lock while checking, so that no other wagg changes it meanwhile')
            [CompletionResult]::new('--quick', '--quick', [CompletionResultType]::ParameterName, 'Read documents, first records and file ends only')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Let warnings fail too')
            [CompletionResult]::new('--digest', '--digest', [CompletionResultType]::ParameterName, 'Give the SHA-256 of each Segment''s committed records')
            [CompletionResult]::new('--ids', '--ids', [CompletionResultType]::ParameterName, 'Print ids only, one a line, whatever the format')
            [CompletionResult]::new('-0', '-0', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('--null', '--null', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;explain' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'List every code')
            [CompletionResult]::new('--markdown', '--markdown', [CompletionResultType]::ParameterName, 'Print docs/codes.md')
            [CompletionResult]::new('--ids', '--ids', [CompletionResultType]::ParameterName, 'Print ids only, one a line, whatever the format')
            [CompletionResult]::new('-0', '-0', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('--null', '--null', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;apply' {
            [CompletionResult]::new('--group', '--group', [CompletionResultType]::ParameterName, 'How many neighbours share a sync at the most')
            [CompletionResult]::new('--actor', '--actor', [CompletionResultType]::ParameterName, 'Who acts, for the journal, where a line does not say [default: user@host]')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'How many seconds to wait for a lock; 0 does not wait')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Check, refuse as the commands would, and write nothing')
            [CompletionResult]::new('--ids', '--ids', [CompletionResultType]::ParameterName, 'Print ids only, one a line, whatever the format')
            [CompletionResult]::new('-0', '-0', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('--null', '--null', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;op' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the operations of a store, newest first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one operation: what it was to do, how it ended, what it took away')
            [CompletionResult]::new('prune', 'prune', [CompletionResultType]::ParameterValue, 'Forget old operations, and print their ids')
            break
        }
        'wagg;op;list' {
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'At most so many')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--ids', '--ids', [CompletionResultType]::ParameterName, 'Print ids only, one a line, whatever the format')
            [CompletionResult]::new('-0', '-0', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('--null', '--null', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;op;show' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;op;prune' {
            [CompletionResult]::new('--older-than', '--older-than', [CompletionResultType]::ParameterName, 'Forget what ended longer ago than this: 30s, 5m, 2h, 7d')
            [CompletionResult]::new('--request-id', '--request-id', [CompletionResultType]::ParameterName, 'Make this change exactly once, however often the command is retried')
            [CompletionResult]::new('--actor', '--actor', [CompletionResultType]::ParameterName, 'Who acts, for the journal [default: user@host]')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'How many seconds to wait for a lock; 0 does not wait')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Check, refuse as the command would, print the plan, and write nothing')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;lock' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show who holds which lock of a store')
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Run a command under a Worker''s lock')
            break
        }
        'wagg;lock;show' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Also those that nobody holds')
            [CompletionResult]::new('--ids', '--ids', [CompletionResultType]::ParameterName, 'Print ids only, one a line, whatever the format')
            [CompletionResult]::new('-0', '-0', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('--null', '--null', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;lock;run' {
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'How many seconds to wait for the lock; 0 does not wait')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;completions' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;man' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;orphans' {
            [CompletionResult]::new('--sessions', '--sessions', [CompletionResultType]::ParameterName, 'The legacy Session root: one folder a Session')
            [CompletionResult]::new('--metadata', '--metadata', [CompletionResultType]::ParameterName, 'The legacy metadata root: one folder a Worker name')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--locked', '--locked', [CompletionResultType]::ParameterName, 'Hold the store''s lock while looking, so that no other wagg changes it meanwhile')
            [CompletionResult]::new('--ids', '--ids', [CompletionResultType]::ParameterName, 'Print ids only, one a line, whatever the format')
            [CompletionResult]::new('-0', '-0', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('--null', '--null', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;migrate' {
            [CompletionResult]::new('--sessions', '--sessions', [CompletionResultType]::ParameterName, 'The legacy Session root: one folder a Session')
            [CompletionResult]::new('--metadata', '--metadata', [CompletionResultType]::ParameterName, 'The legacy metadata root: one folder a Worker name')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'How many threads to work with [default: as many as there are processors]')
            [CompletionResult]::new('--report', '--report', [CompletionResultType]::ParameterName, 'Write the whole answer to a file as well')
            [CompletionResult]::new('--request-id', '--request-id', [CompletionResultType]::ParameterName, 'Make this change exactly once, however often the command is retried')
            [CompletionResult]::new('--actor', '--actor', [CompletionResultType]::ParameterName, 'Who acts, for the journal [default: user@host]')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'How many seconds to wait for a lock; 0 does not wait')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--fail-fast', '--fail-fast', [CompletionResultType]::ParameterName, 'Stop at the first Worker that can not be moved, as the Runtime''s own migration did')
            [CompletionResult]::new('--deep', '--deep', [CompletionResultType]::ParameterName, 'Compare every byte of what former runs moved, not names, sizes and times only')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Check, refuse as the command would, print the plan, and write nothing')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show what the migration''s manifest says, and what was left')
            break
        }
        'wagg;migrate;status' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--ids', '--ids', [CompletionResultType]::ParameterName, 'Print ids only, one a line, whatever the format')
            [CompletionResult]::new('-0', '-0', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('--null', '--null', [CompletionResultType]::ParameterName, 'Print ids only, each followed by a NUL byte, for xargs -0')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'wagg;demo' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The store to work on [default: the nearest one upwards from here]')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How the answer is written')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing but the answer, warnings and errors')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Say more; twice for still more')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
