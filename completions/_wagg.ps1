
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
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a code: how it comes about, what it looks like, what to do')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completion script for a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the manual, or write its pages into a folder')
            [CompletionResult]::new('orphans', 'orphans', [CompletionResultType]::ParameterValue, 'List what nobody owns and what is claimed twice, in the store and in legacy roots')
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
