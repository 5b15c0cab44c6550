
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
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Check a store against every rule of its format')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a code: how it comes about, what it looks like, what to do')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completion script for a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the manual, or write its pages into a folder')
            [CompletionResult]::new('orphans', 'orphans', [CompletionResultType]::ParameterValue, 'List what nobody owns and what is claimed twice, in the store and in legacy roots')
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
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
