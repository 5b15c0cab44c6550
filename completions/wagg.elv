
use builtin;
use str;

set edit:completion:arg-completer[wagg] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'wagg'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'wagg'= {
            cand --store 'The store to work on [default: the nearest one upwards from here]'
            cand --format 'How the answer is written'
            cand --color 'When to use colour'
            cand -q 'Say nothing but the answer, warnings and errors'
            cand --quiet 'Say nothing but the answer, warnings and errors'
            cand -v 'Say more; twice for still more'
            cand --verbose 'Say more; twice for still more'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand verify 'Check a store against every rule of its format'
            cand explain 'Explain a code: how it comes about, what it looks like, what to do'
            cand completions 'Print the completion script for a shell'
            cand man 'Print the manual, or write its pages into a folder'
            cand orphans 'List what nobody owns and what is claimed twice, in the store and in legacy roots'
        }
        &'wagg;verify'= {
            cand --file 'Check single Segment or trace files, without a store'
            cand --jobs 'How many threads work [default: the number of processors]'
            cand --max-line 'Do not look at lines longer than this (1GiB, 64MiB, 1000000)'
            cand --max-findings 'Stop after this many errors and warnings'
            cand --max-duration 'Stop after this time (30s, 5m, 2h)'
            cand --ignore 'Neither show nor count findings of this code'
            cand --baseline 'Neither show nor count findings that this earlier JSON report has'
            cand --report 'Write a report to a file too: junit=FILE, sarif=FILE or json=FILE'
            cand --store 'The store to work on [default: the nearest one upwards from here]'
            cand --format 'How the answer is written'
            cand --color 'When to use colour'
            cand --locked 'Hold the store''s lock while checking, so that no other wagg changes it meanwhile'
            cand --quick 'Read documents, first records and file ends only'
            cand --strict 'Let warnings fail too'
            cand --digest 'Give the SHA-256 of each Segment''s committed records'
            cand --ids 'Print ids only, one a line, whatever the format'
            cand -0 'Print ids only, each followed by a NUL byte, for xargs -0'
            cand --null 'Print ids only, each followed by a NUL byte, for xargs -0'
            cand -q 'Say nothing but the answer, warnings and errors'
            cand --quiet 'Say nothing but the answer, warnings and errors'
            cand -v 'Say more; twice for still more'
            cand --verbose 'Say more; twice for still more'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'wagg;explain'= {
            cand --store 'The store to work on [default: the nearest one upwards from here]'
            cand --format 'How the answer is written'
            cand --color 'When to use colour'
            cand --all 'List every code'
            cand --markdown 'Print docs/codes.md'
            cand --ids 'Print ids only, one a line, whatever the format'
            cand -0 'Print ids only, each followed by a NUL byte, for xargs -0'
            cand --null 'Print ids only, each followed by a NUL byte, for xargs -0'
            cand -q 'Say nothing but the answer, warnings and errors'
            cand --quiet 'Say nothing but the answer, warnings and errors'
            cand -v 'Say more; twice for still more'
            cand --verbose 'Say more; twice for still more'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'wagg;completions'= {
            cand --store 'The store to work on [default: the nearest one upwards from here]'
            cand --format 'How the answer is written'
            cand --color 'When to use colour'
            cand -q 'Say nothing but the answer, warnings and errors'
            cand --quiet 'Say nothing but the answer, warnings and errors'
            cand -v 'Say more; twice for still more'
            cand --verbose 'Say more; twice for still more'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'wagg;man'= {
            cand --store 'The store to work on [default: the nearest one upwards from here]'
            cand --format 'How the answer is written'
            cand --color 'When to use colour'
            cand -q 'Say nothing but the answer, warnings and errors'
            cand --quiet 'Say nothing but the answer, warnings and errors'
            cand -v 'Say more; twice for still more'
            cand --verbose 'Say more; twice for still more'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'wagg;orphans'= {
            cand --sessions 'The legacy Session root: one folder a Session'
            cand --metadata 'The legacy metadata root: one folder a Worker name'
            cand --store 'The store to work on [default: the nearest one upwards from here]'
            cand --format 'How the answer is written'
            cand --color 'When to use colour'
            cand --locked 'Hold the store''s lock while looking, so that no other wagg changes it meanwhile'
            cand --ids 'Print ids only, one a line, whatever the format'
            cand -0 'Print ids only, each followed by a NUL byte, for xargs -0'
            cand --null 'Print ids only, each followed by a NUL byte, for xargs -0'
            cand -q 'Say nothing but the answer, warnings and errors'
            cand --quiet 'Say nothing but the answer, warnings and errors'
            cand -v 'Say more; twice for still more'
            cand --verbose 'Say more; twice for still more'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
    ]
    $completions[$command]
}
