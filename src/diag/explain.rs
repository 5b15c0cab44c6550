//! What each code means in full: how it comes about, what it looks like, what to do.
//!
//! The prose behind `wagg explain`, `docs/codes.md` and the manual. Commands are written as they
//! are typed, with names in capitals for what a person fills in.

use super::codes::Code;

/// The prose of one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Text {
    /// How it comes about and what follows from it.
    pub cause: &'static str,
    /// A line or a situation in which it is said.
    pub example: &'static str,
    /// What to compare, and which command carries the remedy out.
    pub remedy: &'static str,
}

impl Code {
    /// The prose of this code.
    #[must_use]
    pub const fn explain(self) -> Text {
        match self {
            Self::CorruptRecord => Text {
                cause: "A line that ends in a newline, and so was committed, does not parse as exactly one JSON object. A Runtime refuses the whole Segment at the first such line, so that the Worker does not restore.",
                example: "A text editor, a merge tool or a bad disk left {\"ts\":1700000000000,\"kind\":\"turn_end\" without its end in the middle of a file.",
                remedy: "Look at the line with wagg segment log SEGMENT --raw, and put the right bytes back from a backup if there is one. Otherwise wagg repair WORKER --allow-lossy shows what would be lost; with --apply it moves the line to .wagg/quarantine/ and keeps the rest.",
            },
            Self::InvalidUtf8 => Text {
                cause: "A committed line holds bytes that are not UTF-8. A Runtime checks the whole file before it reads one line, so a single bad byte keeps all of the history from it.",
                example: "A tool's output was cut inside a character and written as raw bytes: e2 82 where e2 82 ac (the euro sign) was meant.",
                remedy: "Compare with a backup from the byte that is named. If there is none, wagg repair WORKER --allow-lossy shows which record would go; with --apply it is taken out and kept in quarantine.",
            },
            Self::NulBytes => Text {
                cause: "NUL bytes stand in a committed line. File systems leave them where a file had grown and its data had not reached the disk when power was lost.",
                example: "300 NUL bytes, and behind them, on the same line, {\"ts\":1700000000000,\"kind\":\"invoke\",\"trigger\":\"user_send\"}.",
                remedy: "If a whole record follows the NUL bytes, wagg repair WORKER --apply takes them out and loses nothing. If none follows, or the NUL bytes stand inside a record, that record can not be saved: add --allow-lossy.",
            },
            Self::GluedRecords => Text {
                cause: "The newline between two whole records is missing. Two writers at once, or a copy joined by hand, bring it about; a Runtime refuses the line.",
                example: "{\"ts\":1,\"kind\":\"paused_turn_abandoned\"}{\"ts\":2,\"kind\":\"turn_end\",\"turn_count\":4}",
                remedy: "wagg repair WORKER --apply puts the newline back. Every record is kept byte for byte.",
            },
            Self::SplicedRecord => Text {
                cause: "The start of a record is followed, on the same line, by a whole one. A writer died in the middle of a line, and the next one appended without cutting the rest off first.",
                example: "{\"ts\":1,\"kind\":\"assistant_item\",\"item\":{\"ki{\"ts\":2,\"kind\":\"turn_end\",\"turn_count\":4}",
                remedy: "wagg repair WORKER --apply keeps the whole record and moves the start of the other, which was never committed, to quarantine.",
            },
            Self::ByteOrderMark => Text {
                cause: "The bytes ef bb bf stand before a record. Some editors and shells write them at the head of what they save as UTF-8; a Runtime takes them for a broken record.",
                example: "The Segment was opened and saved with an editor set to \"UTF-8 with BOM\".",
                remedy: "wagg repair WORKER --apply takes the three bytes out. Nothing else of the file changes.",
            },
            Self::OversizedLine => Text {
                cause: "The line is longer than --max-line allows (1 GiB if nothing is said), so it was passed over and its content is not known to be right or wrong.",
                example: "A tool result carries a whole database dump in one string.",
                remedy: "Look again with wagg verify WORKER --max-line SIZE, with a SIZE above the length that is named. The line itself is no damage if it then parses.",
            },
            Self::TooDeep => Text {
                cause: "The record nests arrays and objects 128 levels deep or deeper. A Runtime's reader stops there, though its own writer lets such a record through.",
                example: "A tool returned a syntax tree as JSON, nested 300 levels.",
                remedy: "wagg repair WORKER --allow-lossy shows what the history loses without the record; with --apply it goes to quarantine, from where its content can be read.",
            },
            Self::DuplicateKey => Text {
                cause: "A field that the format knows stands twice in one object. Readers differ in which of the two counts, and a Runtime refuses the record.",
                example: "{\"ts\":1,\"kind\":\"turn_end\",\"turn_count\":4,\"turn_count\":5}",
                remedy: "Look at the line with wagg segment log SEGMENT --raw and decide which value was meant; a backup tells best. wagg repair WORKER --allow-lossy --apply takes the record out.",
            },
            Self::NumberOutOfRange => Text {
                cause: "A number is larger than a double can hold, or does not fit the field it stands in: a negative count, a fraction where a whole number belongs, more than 64 bits.",
                example: "{\"ts\":1,\"kind\":\"turn_end\",\"turn_count\":-1}, or a tool's JSON with 1e999 in it.",
                remedy: "The value is lost to a Runtime and so is the record. wagg repair WORKER --allow-lossy shows what follows from taking it out; --apply does it and keeps a copy.",
            },
            Self::UnknownKind => Text {
                cause: "The kind of a record, or of an item in it, is none that this version of the format has. In a store of version 3 it is a warning, since a newer Runtime may know it.",
                example: "{\"ts\":1,\"kind\":\"turn_started\"}",
                remedy: "Find out whether a newer Runtime wrote the store; if so, nothing is wrong and a newer wagg will say so. If the record is damage, wagg repair WORKER --allow-lossy --apply takes it out.",
            },
            Self::MissingField => Text {
                cause: "A field that the record's kind requires is not there. A Runtime refuses the record and with it the Segment.",
                example: "{\"ts\":1,\"kind\":\"turn_end\"} has no turn_count.",
                remedy: "A backup may still have the whole line. Otherwise wagg repair WORKER --allow-lossy shows the plan, and with --apply takes the record out and keeps it in quarantine.",
            },
            Self::WrongType => Text {
                cause: "A field holds a value of a type that it can not have: text for a number, an object for a list, or base64 that does not decode.",
                example: "{\"ts\":\"yesterday\",\"kind\":\"paused_turn_abandoned\"}",
                remedy: "Look at the line with wagg segment log SEGMENT --raw. If no backup has it right, wagg repair WORKER --allow-lossy --apply takes the record out and keeps it in quarantine.",
            },
            Self::LoneSurrogate => Text {
                cause: "A string holds the escape of one half of a surrogate pair. A program cut the text between the two halves of an emoji; a Runtime refuses the record.",
                example: "{\"kind\":\"text\",\"content\":\"done \\ud83d\"}",
                remedy: "wagg repair WORKER --apply puts the replacement character U+FFFD in the place of the half. The record as it was is kept in quarantine.",
            },
            Self::RecordBeforeStart => Text {
                cause: "Records stand before the segment_start record. Replay does not know to which Session, prompt and history they belong.",
                example: "Line 1 is an invoke record, line 2 is the segment_start.",
                remedy: "Compare with a backup, or with the Segment that this one came from (wagg segment show SEGMENT). Lines that were pasted in by hand have to be taken out by hand, on a copy, which wagg verify --file FILE then checks.",
            },
            Self::MissingSegmentStart => Text {
                cause: "The Segment has records, and none of them is a segment_start. Session, system prompt, configuration and seed history are missing, so that nothing can be restored from it.",
                example: "The head of the file was cut off: the first line is a turn_end with turn_count 12.",
                remedy: "Look for a whole copy in a backup or in the legacy roots (wagg orphans --sessions DIR --metadata DIR). If another Segment of the Worker is whole, wagg segment activate SEGMENT goes on from there.",
            },
            Self::SecondSegmentStart => Text {
                cause: "A segment_start record stands in the middle of a Segment. Two processes wrote one file, or one Runtime began anew where another's history was.",
                example: "Line 1 and line 57 are both a segment_start; everything from line 57 on is another history.",
                remedy: "Read both parts with wagg segment log SEGMENT and decide which one the person needs. wagg segment fork SEGMENT --at-turn N makes a new Segment of the part before the second start; the old file stays as it is.",
            },
            Self::SessionMismatch => Text {
                cause: "The segment_start record names a Session that is not the Worker's own. A Worker has one Session for life: the file was copied here from another Worker, or session.json was replaced. As an error it means that a command was asked to put another Session into a Worker.",
                example: "session.json says 01890000-0000-7000-8000-00000000000a, line 1 of the Segment says …00000000000b.",
                remedy: "Compare session.json, metadata.json and the first record of each Segment: what most of them say is likely right. wagg show SESSION tells whether another Worker owns the Session that is named; wagg never picks an owner.",
            },
            Self::LineageMissingSource => Text {
                cause: "forked_from or compacted_from names a Segment that is not in the Session. This Segment is whole and restores; what is gone is the longer history before it.",
                example: "\"compacted_from\":{\"segment_id\":\"01890000-0000-7000-8000-00000000000a\",\"at_turn_index\":12}, and there is no file of that name.",
                remedy: "Look for the source in a backup or in the legacy roots (wagg orphans --sessions DIR --metadata DIR) and copy the file back under its name. wagg segment list WORKER --tree shows where it belongs.",
            },
            Self::LineageCycle => Text {
                cause: "Going from source to source leads back to where it began, so that at least one of the Segments has a wrong origin in its first record.",
                example: "Segment A says that it was forked from B, and B from A; or A says that it was compacted from itself.",
                remedy: "wagg segment list WORKER --tree shows the ring. The older Segment, by its id and its first time, is most likely the one whose origin was rewritten; compare its first line with a backup.",
            },
            Self::LineageOtherSession => Text {
                cause: "The source that a Segment names lies in the Session of another Worker. Forks and compactions stay in their Session, so the file was copied across or its origin was changed.",
                example: "A Segment of Worker 3 says forked_from a Segment that stands in workers/5/session/segments/.",
                remedy: "wagg show SEGMENT names the Worker that holds the source. Decide which Worker the history belongs to. A file that was copied across is moved out of the store, or back into the segments/ of its own Worker; wagg verify WORKER then tells whether the lineage is whole.",
            },
            Self::LineageTurnOutOfRange => Text {
                cause: "A Segment says that it was split at a turn that its source never reached. The source lost records since, or the number was written wrong.",
                example: "\"at_turn_index\":12, and the source ends with turn_count 9.",
                remedy: "Look at the end of the source with wagg segment show SEGMENT, and for a torn tail or a repair in wagg op list. If the source was cut, wagg op undo OP or a backup brings its turns back.",
            },
            Self::LineageBothKinds => Text {
                cause: "The first record has forked_from and compacted_from. A Segment comes into being in one way only, and counts of turns are ambiguous with both.",
                example: "{\"kind\":\"segment_start\",…,\"forked_from\":{…},\"compacted_from\":{…}}",
                remedy: "Compare the start of the Segment with both sources (wagg segment diff A B): a fork shares its records, a compaction begins with a summary. The wrong field has to be taken out by a person.",
            },
            Self::DuplicateSegmentId => Text {
                cause: "Two files have the same Segment id, in two Workers or in two spellings in one folder. An id names one thing in a store, so that no command can tell which is meant.",
                example: "The folder workers/3 was copied to workers/4 by hand.",
                remedy: "wagg segment digest on each file's path tells whether they are the same bytes. Move the copy out of the store. Two Workers of one store can not have the same history; a copy of the whole store, made with cp -a, can hold it.",
            },
            Self::MissingSessionDocument => Text {
                cause: "session/segments/ holds Segments and session/session.json is not there. A Runtime then reads none of the Segments.",
                example: "A backup or a sync left the small file out.",
                remedy: "Where metadata.json and the first record of every Segment name one Session, wagg repair WORKER --apply writes session.json with it. Where they do not agree, wagg verify WORKER says who says what, and a person decides.",
            },
            Self::SessionShared => Text {
                cause: "session.json of two Workers holds the same Session id. A Session has one owner; with two, each Runtime goes on with a history of its own under one name.",
                example: "workers/3 was copied to workers/4, and only worker.json was changed.",
                remedy: "Find out which of the two is the original (the runs, the times, the last records: wagg worker show WORKER). Move the other out of the store; if it is needed, a copy of the whole store, made with cp -a, can hold it.",
            },
            Self::ActiveMissingSegment => Text {
                cause: "The active pointer of metadata.json names a Segment that is not on disk. The Worker does not restore, though its other Segments may be whole.",
                example: "\"active\":{\"session_id\":\"…0a\",\"segment_id\":\"…0c\"}, and segments/ holds …0a.jsonl and …0b.jsonl.",
                remedy: "wagg segment list WORKER --tree shows what there is. wagg segment activate SEGMENT points to the one to go on from, unless a backup still has the missing file.",
            },
            Self::ActiveOtherSession => Text {
                cause: "The active pointer of metadata.json names a Session, or a Segment of a Session, that is not the Worker's own.",
                example: "session.json says …0a, metadata.json says active.session_id …0b.",
                remedy: "wagg show SESSION tells whose it is. If this Worker's own Segments are whole, wagg segment activate SEGMENT points back to one of them.",
            },
            Self::MissingWorkerDocument => Text {
                cause: "A folder of workers/ has no worker.json, so nothing says which Worker it is. A Runtime passes over the folder, and its history with it.",
                example: "workers/7/ holds session/ and metadata.json only.",
                remedy: "worker.json holds the Worker's request and its run generation and can not be made up: bring it back from a backup. The history itself is whole if wagg verify WORKER says nothing more; cp -a of the folder keeps it safe until then.",
            },
            Self::DuplicateWorkerId => Text {
                cause: "Two folders of workers/ hold a worker.json with the same worker_id. A Runtime takes the later one in path order and forgets the other.",
                example: "workers/3 and workers/4 both say \"worker_id\": 3.",
                remedy: "Compare the two folders: the one whose name is the id is most likely the Worker. Move the other out of the store before a Runtime starts.",
            },
            Self::WorkerIdMismatch => Text {
                cause: "The folder's name, worker_id and worker_ref.worker_id of a worker.json are not one number. A Runtime passes over a Worker whose two fields differ, and writes to another folder if only the name differs.",
                example: "workers/7/worker.json says \"worker_id\": 8.",
                remedy: "Look at runtime.json's next_worker_sequence and at metadata.json's worker_name to see which id was given out. The document comes back from a backup, or is corrected by a person.",
            },
            Self::WorkerNameMismatch => Text {
                cause: "metadata.json of a Worker carries the name of another one. A Runtime refuses to start from it.",
                example: "workers/7/metadata.json says \"worker_name\": \"worker-runtime-8\".",
                remedy: "See whether the active pointer is this Worker's (wagg worker show WORKER). If the file was copied here, bring the right one back from a backup, or let wagg segment activate SEGMENT make a new one once it was moved away.",
            },
            Self::UnsafeName => Text {
                cause: "A name could not be the name of one folder: it is empty, . or .., holds a slash or a NUL byte, or is too long. Used as a path it could lead out of the store, so wagg never does.",
                example: "\"worker_name\": \"../../outside\"",
                remedy: "Nobody writes such a name by accident: find out where the document came from. Replace it from a backup; a child or peer with such a name is dropped with wagg worker reclaim or wagg worker peer remove.",
            },
            Self::BadFileName => Text {
                cause: "A file among the Segments ends in .jsonl, and the rest of its name is not a UUID in lower case with hyphens. A Runtime does not find it; another spelling of an id is never a second object.",
                example: "segments/01890000-0000-7000-8000-00000000000A.jsonl, or segments/copy of ….jsonl",
                remedy: "Check it on its own with wagg verify --file FILE. If it is a Segment that lost its name, its first record and a backup tell the id; rename it. A copy belongs out of the store.",
            },
            Self::UnsupportedSchemaVersion => Text {
                cause: "A document states a schema_version that this program does not know, or knows and does not write. Version 1 is read and written, version 3 is read; nothing is ever written into a store of another version.",
                example: "runtime.json says \"schema_version\": 3 and the command was wagg worker create.",
                remedy: "Use the Runtime that wrote the store, or a newer wagg, for changes. wagg verify and the other commands that read go as far as they can.",
            },
            Self::CorruptDocument => Text {
                cause: "A document does not parse, or lacks what it must have, or has it in the wrong type. A Runtime passes over the Worker, or does not start if it is runtime.json.",
                example: "metadata.json ends in the middle of a string, because it was written in place when power was lost.",
                remedy: "Bring it back from a backup. A leftover .<name>.tmp-… beside it may hold a whole newer version (wagg verify lists it). For a metadata.json that is moved away, wagg segment activate SEGMENT makes a new one.",
            },
            Self::EmptyDocument => Text {
                cause: "A document has no bytes: its file was made, or cut to nothing, and its content never reached the disk.",
                example: "session/session.json has 0 bytes.",
                remedy: "For a session.json where metadata.json and all Segments agree on the Session, wagg repair WORKER --apply writes it again. Others have to come from a backup.",
            },
            Self::MissingCatalog => Text {
                cause: "There is a folder workers/ and no runtime.json. The Workers can be read; a Runtime would take the folder for a store without state, and nothing is written into it.",
                example: "Only workers/ was restored from a backup.",
                remedy: "Bring runtime.json back from the same backup. wagg verify --store DIR tells how the Workers are.",
            },
            Self::SequenceBehind => Text {
                cause: "next_worker_sequence of runtime.json is not above every Worker id that was given out. The next Worker would get a used id, and a Runtime would write over its folder.",
                example: "\"next_worker_sequence\": 7, and workers/9 is there.",
                remedy: "wagg repair --apply raises the number above the highest id. Do it before a Worker is created.",
            },
            Self::SymbolicLink => Text {
                cause: "A symbolic link stands where a file or a folder of a store should be. Below the store's root no link is ever followed, since it could lead to files that are not the store's.",
                example: "segments/….jsonl is a link to /home/user/notes.jsonl.",
                remedy: "Find out who made it. Replace the link by the file itself if that is the Worker's history, or remove it. If a whole store is on another disk, make the store's root the link.",
            },
            Self::NotARegularFile => Text {
                cause: "Something that is neither the file nor the folder that belongs there: a pipe, a device, a socket, a folder in a file's place or a file in a folder's.",
                example: "workers/7/session is a file.",
                remedy: "Look at it with ls -l and move it out of the store. Nothing was read from it.",
            },
            Self::Unreadable => Text {
                cause: "A file or folder is there and can not be read: permissions, or an error of the disk. Nothing is said about what is in it.",
                example: "workers/7 belongs to another user and has mode 700.",
                remedy: "Run the same command as the user that owns the store, or mend the permissions. With an input/output error, look at the system's log and save the disk first.",
            },
            Self::SharedSessionReference => Text {
                cause: "The metadata of more than one owner points at one Session. Migration gives it to none of them, since only a person knows whose history it is.",
                example: "worker-runtime-3/metadata.json and worker-runtime-5/metadata.json both have active.session_id …0a.",
                remedy: "wagg orphans --sessions DIR --metadata DIR names all of the owners. Decide on one, take the pointer out of the others' metadata in a copy of the legacy root, and run wagg migrate on that copy.",
            },
            Self::MissingReferencedSession => Text {
                cause: "Metadata points at a Session, with a Segment, that is not on disk. It is no reserved Session: those name no Segment.",
                example: "worker-runtime-7/metadata.json names Session …0a, and the Session root has no such folder.",
                remedy: "Look whether another Session root was in use (--sessions DIR), or a backup has the folder. wagg migrate leaves the Worker and goes on with the others.",
            },
            Self::TornTail => Text {
                cause: "Bytes follow the last newline of a file. A record is committed by its newline, so these belong to one that was being written when the process or the machine stopped. Every reader passes over them, and the history is whole without.",
                example: "The file ends in {\"ts\":1700000000000,\"kind\":\"tool_result\",\"item\":{\"kind\":\"tool_re",
                remedy: "Nothing has to be done: the next append cuts them off. wagg repair WORKER --apply does it now and keeps the bytes in quarantine.",
            },
            Self::EmptySegment => Text {
                cause: "A Segment's file has no committed record. A Runtime died between making the file and writing its first record.",
                example: "segments/….jsonl has 0 bytes, or only a torn tail.",
                remedy: "If the active pointer names it, wagg segment activate SEGMENT goes back to one with a history; wagg segment list WORKER --tree shows which. The empty file does no harm.",
            },
            Self::TurnCountMismatch => Text {
                cause: "The turn_count of turn_end records does not rise by one. Records were lost or doubled, or two writers appended at once; a fork at such a turn may take other records than is thought.",
                example: "turn_end with turn_count 4 is followed by one with turn_count 6.",
                remedy: "Read around the place with wagg segment log SEGMENT --from N, and compare with a backup. The Segment restores as it is.",
            },
            Self::DuplicateCallId => Text {
                cause: "One call id belongs to more than one tool call, or more than one result answers it. Providers refuse such a history or take the wrong result.",
                example: "A resume wrote the same assistant_item a second time.",
                remedy: "Read around the place with wagg segment log SEGMENT. A fork before it, wagg segment fork SEGMENT --at-turn N --activate, leaves it behind.",
            },
            Self::OrphanToolResult => Text {
                cause: "A tool result answers a call that is nowhere before it. A compaction that cut between call and result leaves this; a provider refuses the history.",
                example: "The seed history of a compacted Segment begins with a tool_result.",
                remedy: "wagg repair WORKER --allow-lossy shows the plan; with --apply the result is taken out and kept in quarantine. To keep it, compact the source anew with wagg segment compact, which keeps pairs together.",
            },
            Self::UnansweredToolCall => Text {
                cause: "A tool call has no result, and a later turn follows. The process stopped while the tool ran and went on without it; a provider refuses the history.",
                example: "A tool_call with call_id call_9, then turn_end, then user_input; no tool_result says call_9.",
                remedy: "wagg repair WORKER --allow-lossy shows the plan; with --apply the call gets an error result that says of itself that it is made up. Or go on from before it: wagg segment fork SEGMENT --at-turn N --activate.",
            },
            Self::MissingMetadata => Text {
                cause: "The Worker has a Session with Segments, and no metadata.json with an active pointer. Nothing says which Segment a restore starts from.",
                example: "A process stopped after the Session came into being and before metadata.json was written.",
                remedy: "wagg segment list WORKER --tree shows the leaves; wagg segment activate SEGMENT writes the pointer.",
            },
            Self::GenerationBehind => Text {
                cause: "A folder of runs/ has a number above run_generation of worker.json. The next run would collide with it. A worker.json that was restored from an old copy does this.",
                example: "\"run_generation\": 2, and runs/3 is there.",
                remedy: "wagg repair WORKER --apply raises the number; no run folder is touched. wagg run reserve counts the folders too and is safe as it is.",
            },
            Self::MigrationIncomplete => Text {
                cause: "The manifest of the migration says that it is not complete: it was stopped, or left Workers that need a decision.",
                example: "migrations/worker-aggregate-v1.json has \"complete\": false.",
                remedy: "wagg migrate status tells which Workers are left and why. The same wagg migrate command goes on from there; it never overwrites, and never touches a source.",
            },
            Self::UnsettledOperation => Text {
                cause: "The journal holds an operation's intent and no outcome: wagg was killed in the middle. The store is as it was before the change, or as it is after it.",
                example: "The machine lost power during wagg segment compact.",
                remedy: "The next change in the same Worker settles it first; wagg repair --apply does so now. wagg op show OP tells what was begun. A retry with the same --request-id is safe.",
            },
            Self::ScopeNotReclaimed => Text {
                cause: "A child stands in the reclaimed list and still among the spawned ones, or with scope that was delegated to it. What it may write and what its parent may write overlap.",
                example: "metadata.json names worker-runtime-9 under spawned_children and under reclaimed_children.",
                remedy: "Make sure that the child does not run (wagg worker children WORKER), then wagg worker reclaim WORKER CHILD.",
            },
            Self::CaseCollision => Text {
                cause: "Two names in one folder differ only in upper and lower case. On a file system that does not tell them apart one would replace the other, for example when the store is copied to a Mac.",
                example: "workers/7/session/segments/ holds …0a.jsonl and …0A.jsonl.",
                remedy: "Only the lower-case name is the Segment. Check the other with wagg verify --file FILE, and move it out of the store before copying.",
            },
            Self::OrphanWorkerMetadata => Text {
                cause: "A folder of metadata has the name of no Worker in the catalog. It is left where it is and fails no migration.",
                example: "worker-runtime-12/metadata.json in the metadata root, and there is no workers/12.",
                remedy: "If the Worker was deleted, nothing has to be done. If it should be there, look for its worker.json in a backup. The file names the Session whose history would be orphaned with it.",
            },
            Self::OrphanSession => Text {
                cause: "A folder of histories that no Worker of the catalog points at. Nobody owns it, so it is neither moved nor removed.",
                example: "The Session root holds 01890000-0000-7000-8000-00000000000d/ and no metadata names it.",
                remedy: "wagg verify --file FILE tells whether its Segments are whole, and reading them whose it was. Keep the folder with the legacy roots, or archive it.",
            },
            Self::InterruptedRun => Text {
                cause: "The last run of a Segment has no end record. It was killed, or it is still at work; a restore begins as interrupted. Tool calls that were open are named.",
                example: "The last records are invoke and a tool_call, and nothing follows.",
                remedy: "Nothing has to be done: a Runtime asks how to go on. wagg run list WORKER tells whether a run answers.",
            },
            Self::ActivePending => Text {
                cause: "metadata.json reserves a Session and names no Segment. The Worker was created and has not run yet.",
                example: "\"active\":{\"session_id\":\"…0a\"} and no folder session/.",
                remedy: "Nothing has to be done. The first Segment makes the Session under this id: wagg segment create WORKER, or the Runtime's next start.",
            },
            Self::UnreferencedLeaf => Text {
                cause: "The active Segment has a compacted child, and the active pointer still names the parent. A process stopped between the compaction and the switch, or somebody went back on purpose.",
                example: "active names …0a; …0b says compacted_from …0a, and nothing points to …0b.",
                remedy: "wagg segment diff A B shows what each has. wagg segment activate SEGMENT moves to the child if it is wanted.",
            },
            Self::TimeGoesBack => Text {
                cause: "A record's time is before that of the record above it. Clocks are set and machines differ; order on disk is what counts.",
                example: "{\"ts\":1700000005000,…} is followed by {\"ts\":1700000000000,…}",
                remedy: "Nothing has to be done. With a jump of hours, look at the clock of the machine.",
            },
            Self::BlankLine => Text {
                cause: "A file has empty lines, or lines of blanks only. Readers pass over them, and they count in line numbers.",
                example: "A shell script ended a file with echo.",
                remedy: "Nothing has to be done.",
            },
            Self::Crlf => Text {
                cause: "A file has lines that end in CR LF. A Runtime drops the CR; digests of the file differ from the same history with LF.",
                example: "The store was checked out by git with autocrlf on.",
                remedy: "Nothing has to be done. Mark *.jsonl as -text in .gitattributes to keep bytes as they are.",
            },
            Self::LongLine => Text {
                cause: "A line is longer than 16 MiB. It is right, and slow to read: a restore holds all of it in memory.",
                example: "A tool result of 64 MiB in one string.",
                remedy: "Nothing has to be done. wagg segment compact starts a Segment without it, if it is not in the retained turns.",
            },
            Self::NoncanonicalId => Text {
                cause: "An id inside JSON is spelt in another way than on disk: upper case, without hyphens, in braces. It means the same object.",
                example: "\"session_id\":\"01890000000070008000-00000000000A\"",
                remedy: "Nothing has to be done. Scripts that compare ids as text do better with what wagg prints, which has one spelling.",
            },
            Self::LiveRun => Text {
                cause: "Something answers on the socket of a run, so the Worker is treated as live. That is a guard and no proof: it says nothing about what the process does.",
                example: "runs/4/worker.sock takes a connection.",
                remedy: "Stop the Runtime before a repair or a change of what the run uses. wagg run stop WORKER --wait SECS waits until it no longer answers.",
            },
            Self::StaleSocket => Text {
                cause: "A socket is there and nothing answers on it. The run died without removing it.",
                example: "runs/4/worker.sock, and connecting is refused.",
                remedy: "Nothing has to be done: a Runtime replaces it. wagg run stop WORKER removes it; nothing else of the run's folder is touched.",
            },
            Self::MissingWorkers => Text {
                cause: "runtime.json says that Worker ids were given out, and workers/ holds none or is not there: it was emptied, moved or copied without, or the wrong folder is mounted. One id alone is also what a creation costs that was killed, so that is a remark.",
                example: "\"next_worker_sequence\": 5, and workers/ is empty.",
                remedy: "Nothing here can bring Workers back that are not on this disk. See wagg quarantine list for those that were put away by an undo, look for the folder where the store came from, and let no Runtime start on it before.",
            },
            Self::MissingRunFolder => Text {
                cause: "The generation that worker.json names has no folder. The run was reserved and never started, or its folder was removed.",
                example: "\"run_generation\": 5, and runs/ ends with 4.",
                remedy: "Nothing has to be done: a generation that was given out is used up, and the next run takes the next one.",
            },
            Self::LeftoverStaging => Text {
                cause: "A folder that a killed process was filling and never moved into place. No reader looks into it.",
                example: ".session.migrating-4711-1 beside session/.",
                remedy: "wagg repair WORKER --apply moves it to quarantine, unless its process lives or a run answers. Our own leftovers go with the next change.",
            },
            Self::LeftoverTemporary => Text {
                cause: "A file that a killed process was writing and never renamed into place. No reader looks at it; the document beside it is the valid one.",
                example: ".metadata.json.tmp-4711-2 beside metadata.json.",
                remedy: "wagg repair WORKER --apply moves it to quarantine, unless its process lives or a run answers.",
            },
            Self::UnknownFile => Text {
                cause: "A file that is no part of a store. No reader looks at it, and wagg leaves it alone.",
                example: "workers/7/notes.txt",
                remedy: "Nothing has to be done. Move it away if it is not meant to travel with the store.",
            },
            Self::UnknownFolder => Text {
                cause: "A folder that is no part of a store. No reader looks into it, and wagg leaves it alone.",
                example: "workers/7/session-old/",
                remedy: "Nothing has to be done. If it is an old copy of a Session, keep it outside of the store, where its ids collide with nothing.",
            },
            Self::TraceWithoutSegment => Text {
                cause: "A trace lies beside no Segment of its id. Traces are debug logs that nothing replays.",
                example: "segments/….trace.jsonl, and no segments/….jsonl",
                remedy: "Nothing has to be done for the trace. If its Segment should be there, look for it in a backup.",
            },
            Self::ChildMissing => Text {
                cause: "metadata.json names a spawned child that is no Worker of this store. It may live in another store, or have been deleted with its scope still delegated.",
                example: "spawned_children has worker-runtime-9, and there is no workers/9.",
                remedy: "If the child is gone for good, wagg worker reclaim WORKER CHILD takes its scope back.",
            },
            Self::PeerMissing => Text {
                cause: "metadata.json names a peer that is no Worker of this store. A peer may live elsewhere and grants nothing.",
                example: "peers has worker-runtime-9, and there is no workers/9.",
                remedy: "Nothing has to be done. wagg worker peer remove WORKER PEER drops it.",
            },
            Self::Usage => Text {
                cause: "The command line does not parse: an unknown command or flag, a missing or contradicting argument, a value that the flag does not take.",
                example: "wagg verify --partition 5/4",
                remedy: "wagg COMMAND --help tells what the command takes, with examples.",
            },
            Self::BadInput => Text {
                cause: "What a command was handed over, as a file or on standard input, is not what it takes: a line that is no record, text that is not UTF-8, a request or a config that does not fit its table, a turn count that does not follow. The place is in that input; the second hint names what is wrong there. The store is neither changed nor damaged.",
                example: "wagg segment append 7/active with a line cut short: -:3:412.",
                remedy: "Mend the input at the place that is named and run the command again. What is handed over is taken whole or not at all.",
            },
            Self::StoreNotFound => Text {
                cause: "No store was named, and no folder from here upwards holds runtime.json and workers/; or the folder that was named is none.",
                example: "wagg verify in a home folder.",
                remedy: "Name it with --store DIR or WAGG_STORE. wagg init DIR makes a new one.",
            },
            Self::NotFound => Text {
                cause: "Nothing in the store has the id or the name, or no code has this name. Nothing was changed.",
                example: "wagg worker show 12 in a store with 11 Workers.",
                remedy: "wagg worker list and wagg segment list WORKER show what there is. What has the form of an id is never taken for a name: write name:12 for a Worker that is called 12.",
            },
            Self::WrongIdKind => Text {
                cause: "The id is there and is that of another kind of thing than the command takes. The message names the right one.",
                example: "wagg segment show got the id of a Session.",
                remedy: "wagg show REF tells what any id is, and what to use instead.",
            },
            Self::AmbiguousReference => Text {
                cause: "The prefix or name fits more than one thing. All of them are listed, and none is chosen.",
                example: "0189 as a Segment, and four Segments begin with it.",
                remedy: "Give more digits, or the Worker with it: 7/active and 7/latest are always one Segment.",
            },
            Self::LockBusy => Text {
                cause: "Another process held the lock for all of the time that --wait allows (10 s if nothing is said). The message names the lock and, if it is known, who holds it.",
                example: "wagg migrate runs in another terminal.",
                remedy: "wagg lock show tells who holds what. Wait longer with --wait SECS. A lock goes with its process; the file that stays behind holds nothing and need not be removed.",
            },
            Self::IoFailed => Text {
                cause: "The operating system reported an error of reading or writing that has no code of its own. Nothing was changed unless effects say so.",
                example: "Input/output error on workers/7/session/segments/….jsonl",
                remedy: "Look at the cause and at the system's log. After the disk or the permissions are mended, the same command can be given again.",
            },
            Self::DiskFull => Text {
                cause: "There is no room on the disk, or the quota is used up. What was being written was taken back.",
                example: "wagg segment fork of a 2 GiB Segment on a disk with 1 GiB free.",
                remedy: "Make room and give the same command again. wagg quarantine list shows what wagg itself keeps, and wagg quarantine empty --older-than D lets go of it.",
            },
            Self::ReadOnlyStore => Text {
                cause: "The store is on a file system that is mounted read-only. Commands that read work; nothing was changed.",
                example: "wagg repair --apply on a snapshot.",
                remedy: "Work on a writable copy, or mount it for writing. wagg verify, wagg orphans and all other commands that read take it as it is.",
            },
            Self::OutcomeUnknown => Text {
                cause: "An fsync failed, or the process can not tell whether the change reached the disk. It is not tried again as if it could succeed, since the system may have dropped the data.",
                example: "fsync of the folder segments/ reported an input/output error after the rename.",
                remedy: "Look first: wagg op show OP and wagg verify WORKER. A retry with the same --request-id is safe and gives the true outcome.",
            },
            Self::RequestMismatch => Text {
                cause: "The --request-id was used before for other arguments or by another actor. One request id stands for one operation for as long as its receipt is kept.",
                example: "--request-id nightly-1 first with wagg run reserve 7, then with wagg run reserve 8.",
                remedy: "wagg op list shows the operation that has it. Use a new request id for something new.",
            },
            Self::Fenced => Text {
                cause: "--expect-generation, --expect-active or --expect-digest did not hold when the lock was taken: somebody changed the store since it was looked at. The message says what it is now.",
                example: "--expect-generation 4, and the generation is 5.",
                remedy: "Look again (wagg worker show WORKER), decide again, and give the command with what is true now.",
            },
            Self::WorkerLive => Text {
                cause: "A run of the Worker answers on its socket, and the command would change what the run stands on.",
                example: "wagg segment activate while the agent works.",
                remedy: "Stop the run in its Runtime, then wagg run stop WORKER --wait SECS. A fork that is not activated is possible at any time.",
            },
            Self::RuntimeLive => Text {
                cause: "A run of the store answers, so its Runtime is up. It holds the catalog in memory and would write over a change.",
                example: "wagg worker create while agents work.",
                remedy: "Stop the Runtime first. wagg run list WORKER shows which runs answer.",
            },
            Self::GenerationCollision => Text {
                cause: "The folder of the generation that was reserved is there already, and a run folder is never reused. The generation stays used up.",
                example: "runs/5 was made by hand, empty.",
                remedy: "Give wagg run reserve WORKER again: it takes the next generation. Look at the folder with wagg run show WORKER GEN to see who made it.",
            },
            Self::CompactOverBudget => Text {
                cause: "The summary and the retained turns together are larger than --budget-tokens. Nothing was written; the message has the numbers.",
                example: "A budget of 8,000 tokens, and the last turn alone has 11,200.",
                remedy: "Retain less (--retain-turns N, --retain-tokens N), shorten the summary, or raise --budget-tokens N.",
            },
            Self::UndoConflict => Text {
                cause: "A later operation, or somebody else, changed what the operation had changed. Putting the old bytes back would take that away too. The message names it.",
                example: "wagg op undo of a repair after the agent appended to the same Segment.",
                remedy: "Undo the later operation first (wagg op list, newest first). If it was the Runtime, take what is needed from the quarantine by hand: wagg quarantine show OP.",
            },
            Self::TargetExists => Text {
                cause: "The file or folder to be made is there already, and nothing is overwritten unasked.",
                example: "wagg demo pg, and the folder pg exists.",
                remedy: "Choose another name, or move what is there away.",
            },
            Self::TargetDiffers => Text {
                cause: "The target of a migration is there and its names or bytes differ from the source. Both copies stay as they are, since only a person can tell which is right.",
                example: "workers/1/session exists, and one byte of a Segment is not that of the legacy root.",
                remedy: "Compare the file that is named in both places. If the Worker went on after an earlier migration, the target is newer and right; otherwise move the target out of the store and run the same command again.",
            },
            Self::SourceGone => Text {
                cause: "A former wagg migrate found legacy metadata or a Session of this Worker and could not move it. Now it is not where the roots that were named say: one of them is named wrongly, not mounted or cleared away. What is known stays known, so the Worker stays left, and the migration is not complete.",
                example: "wagg migrate --sessions /data/sessions --metadata /data/worker, where the run before named /data/workers.",
                remedy: "Name the roots of the run before; the hint has them if they were noted. If the source was taken away on purpose, make an empty folder worker-runtime-N in the metadata root (of a Session: take the pointer to it out of metadata.json) and run it again: that says that there is nothing of the Worker any more.",
            },
            Self::SourceChanged => Text {
                cause: "A source was written to while it was read, so that what was read is no one state of it. Nothing was put in place. wagg report merge says it of a store whose Workers or runtime.json were not the same for all parts.",
                example: "A Runtime of the old layout appended to a legacy Session during wagg migrate.",
                remedy: "Stop what writes there, and give the same command again; for parts of a store, look at all of them again.",
            },
            Self::PlanMismatch => Text {
                cause: "The file that was given with --plan is no plan of wagg repair, or was changed after it was written: its digest does not fit what stands in it.",
                example: "Somebody took an item out of plan.json with an editor, to have the others carried out alone.",
                remedy: "Make the plan anew with wagg repair WORKER --plan-out FILE; --only CODE and WORKER narrow it down. Nothing is done because a plan file says so: what it holds must be what wagg itself plans for the store.",
            },
            Self::PartitionMismatch => Text {
                cause: "The files that wagg report merge was given are not the reports of all parts of one look, each once: one is missing or there twice, or they differ in the store, the number of parts, the options or the version that looked. What only the whole tells can not be judged then, and an answer with a hole would look like a good one.",
                example: "wagg report merge part-1.json part-3.json, where the store was looked at in three parts and the second job failed before it wrote its report.",
                remedy: "Give the reports of all parts. For one that is missing, run wagg verify --partition K/N --report json=FILE again with the options of the others, as long as the store is the same.",
            },
            Self::NotUndoable => Text {
                cause: "Undo puts back bytes, and this kind of operation has none to put back: a number that was given out, a lock that was held, a run that was reserved or stopped.",
                example: "wagg op undo of a wagg run reserve.",
                remedy: "wagg op show OP tells what it did. What can be done instead is a new operation, not an undo.",
            },
            Self::Interrupted => Text {
                cause: "SIGINT (Ctrl-C) or SIGTERM came. The command stopped at the next safe point and said what was done and what was not; a second signal ends it at once. The status is 130, and 143 after SIGTERM.",
                example: "Ctrl-C during wagg migrate; timeout 600 wagg verify on a large store.",
                remedy: "Give the same command again: what was done is found done.",
            },
            Self::Internal => Text {
                cause: "wagg came to a state that its authors held to be impossible. What was on its way to disk obeys the same rules as after a kill.",
                example: "error[internal]: this is a bug in wagg 0.1.0: … (src/…:12)",
                remedy: "wagg verify shows what state the store is in. Please report the message with the command line, and if you can what wagg verify --format json says.",
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_says_something_of_its_own() {
        let mut causes = std::collections::BTreeSet::new();
        for code in Code::ALL {
            let text = code.explain();
            for part in [text.cause, text.example, text.remedy] {
                assert!(part.len() > 8, "{code}: {part:?}");
                assert_eq!(part.trim(), part, "{code}");
                assert!(!part.contains('\n'), "{code}: one paragraph");
            }
            assert!(
                text.cause.ends_with('.') && text.remedy.ends_with('.'),
                "{code}"
            );
            assert!(causes.insert(text.cause), "{code}");
        }
    }
}
