//! Names of options in other programs (jq, ripgrep, sed, diff, mysql, psql, sqlite3, duckdb, gh, curl), and how to do
//! the same here.

/// Names of options in other programs, and options here that do the same. Of those, the first one that the command
/// has is suggested.
const SYNONYMS: &[(&str, &str)] = &[
    // Formats.
    ("--type --output-format --to-format --target --convert-to -T", "to"),
    ("--format", "to as from json"),
    ("--input-format --from-format --in-format --file-format --input-type", "in from"),
    ("--language --lang --for", "as"),
    ("--php --perl --ruby --laravel --rails --symfony", "as"),
    // Files.
    ("--outfile --out --output-file --write --save", "output out-dir"),
    ("--outdir --output-dir --output-directory --directory --dest --destination", "out-dir"),
    ("--overwrite --clobber --yes --assume-yes -y", "force"),
    ("--silent --no-progress --no-messages -s", "quiet"),
    ("-I --inplace", "in-place"),
    // Layout and amount.
    ("--color-output --colors --colour -C", "color"),
    ("--compact -c", "compact-output"),
    ("--raw --join-output", "raw-output raw"),
    ("--unquoted --plain", "raw raw-output"),
    ("--max --max-items --max-count --count --top --head --first --last --lines --most --sample -m -n", "items"),
    ("--max-depth --maxdepth --level --levels -L", "depth"),
    ("--verbose -v --hex --details", "all"),
    ("--stdin --input --array", "slurp"),
    // Reading.
    ("--ndjson --jsonl --json-lines --lines --multiple --stream", "each"),
    ("--ignore-errors --skip-errors --continue --continue-on-error", "keep-going on-error partial"),
    ("--lossless --fail-on-loss --exact", "strict"),
    ("--recursive-strings --nested --unwrap", "deep"),
    ("--map --rename --rename-class", "class-map"),
    // Tables and databases.
    ("--port --host --bind --address --addr -p", "listen db"),
    ("--database --dbname --db-url --dsn --uri --url --connection --user --username -u -d -D -U -H -P", "db"),
    ("--sql --statement --execute -e", "query exec"),
    ("--col --cols", "column"),
    ("--select --include --include-columns --fields --keep", "only column"),
    ("--exclude --ignore --skip --skip-columns --except", "skip-column"),
    ("--tables --collection --relation", "table"),
    ("--separator --sep --delim --field-separator -F", "delimiter"),
    ("--encoding --input-encoding --from-code", "charset"),
    ("--skip-column-names --no-headers -N", "no-header"),
    ("--pattern --keys --glob", "match"),
    ("--compress", "compression"),
    // Replacing.
    ("--simulate --preview --what-if --dry -n", "dry-run"),
    ("--case-insensitive --ignorecase --icase", "ignore-case"),
    ("--regexp --extended-regexp --perl-regexp --pcre -E -P", "regex"),
    ("--fix --repair", "mend"),
    ("--stats --statistics --log", "summary"),
    // Editing.
    ("--add --insert --create --put --assign --update", "set"),
    ("--push --prepend", "append"),
    ("--remove --del --unset --rm -d", "delete"),
    ("--suffix", "backup"),
    // Comparing.
    ("--unified --side-by-side --two-columns --context -u -y", "view"),
    // Objects and jobs.
    ("--ttl --expire --expiry --expires-in --ex", "expires"),
    ("--name --topic --channel --tube", "queue key"),
    ("--status", "state"),
    ("--tries --retries --max-tries --max-retries --attempts", "max-attempts"),
    ("--workers --jobs --threads --parallel --processes -j", "concurrency"),
    ("--command --cmd --run -x", "exec"),
    ("--wait --in --at --later", "delay"),
    ("--tz --timezone --time-zone", "zone"),
    ("--prio", "priority"),
    ("--once --stop-when-empty --drain --exit-when-empty --burst", "until-empty"),
    ("--max-time --time-limit", "timeout"),
    ("--auth --bearer", "token-file"),
    ("--throttle --rate-limit", "rate"),
    // Measuring.
    ("--runs --samples --repeat --iterations", "rounds"),
    ("--quick --fast --short", "small"),
    ("--export-json --output", "json summary"),
    ("--export-markdown", "markdown"),
    ("--export-csv", "csv"),
    ("--file --input-file", "data"),
    ("--baseline --base", "compare"),
];

/// Commands, names of options in other programs, and how to do the same here. These texts are searched before the
/// synonyms.
const OPTION_ADVICE: &[(&str, &str, &str)] = &[
    ("query", "--raw-input -R", "`icecore rows --in lines FILE | icecore query --each FILTER` reads lines of text"),
    // What a command does without an option.
    (
        "inspect detect classes convert query get paths rows replace edit store-put",
        "--recursive --recurse -r -R",
        "a folder is read with all files in it, without an option",
    ),
    (
        "convert get query rows",
        "--json",
        "JSON is written unless --to names another format; --report json is for messages",
    ),
    ("edit patch", "--to --output-format -t", "the format stays; `icecore convert -t FORMAT` writes another one"),
    ("patch edit", "--json", "the format stays; `icecore convert` writes JSON"),
    ("convert", "--cycles", "how cycles are written is an option of the format: `-t json:cycles=null`"),
    ("convert", "--class --classes --class-key", "class names are an option of the format: `-t json:class=_class`"),
    (
        "get query inspect paths classes detect",
        "-o --output --outfile --out",
        "the output goes to the standard output: `> FILE`",
    ),
    ("replace", "--export --export-file", "did you mean `--output <FILE>`?"),
    ("replace", "--json", "did you mean `--summary <FILE>`, which writes counts as JSON?"),
    (
        "paths",
        "--json -r --raw",
        "each value is JSON already; `icecore get -r PATH FILE` prints strings without quotes",
    ),
    (
        "classes",
        "--allow --allowed --allow-list --allowlist --whitelist --permit",
        "did you mean `--as <LANGUAGE>`, which prints the classes as the list of those that a program allows?",
    ),
    ("detect", "--from -f", "`detect` finds the format itself; `icecore inspect -f FORMAT` reads a given one"),
    ("detect", "--deep", "`icecore inspect --deep FILE` shows the frozen data in strings"),
    ("replace", "--from -f --format", "did you mean `--in <FORM>`?"),
    ("replace", "--deep", "frozen data in strings is searched without an option"),
    ("replace", "--global -g", "all occurrences are replaced, without an option"),
    ("replace", "--fixed-strings -F --literal", "OLD is a fixed string unless --regex is given"),
    ("replace", "-E -P", "did you mean `--regex`?"),
    ("replace", "--skip-tables", "did you mean `--table <TABLE>`, for each table to change?"),
    ("replace", "--strict", "did you mean `--dry-run`, which shows what would change?"),
    ("replace", "-n", "--dry-run shows what would change"),
    // Layout of JSON.
    ("convert get", "--pretty --prettify --indent", "`-t json:indent=2` writes JSON on several lines"),
    ("convert get", "--compact --compact-output -c", "JSON is compact unless -t json:indent=2 is given"),
    ("convert get query", "--sort-keys -S --sort", "`-t json:sort_keys` sorts keys"),
    ("convert get query", "--ascii-output --ascii -a", "`-t json:ascii` escapes all other characters"),
    (
        "query",
        "--db --db-file --table",
        "rows of a database: `icecore rows --db URL --table TABLE -c COLUMN | icecore query --each FILTER`",
    ),
    ("query", "--pretty --prettify", "did you mean `--indent <N>`?"),
    (
        "query",
        "-H --with-filename --print-filename",
        "`input_filename` in the filter is the name: `icecore query '[input_filename, .name]' FILE…`",
    ),
    (
        "get",
        "-H --with-filename --print-filename",
        "did you mean `--paths`, which prints the path of each value? `icecore query '[input_filename, .name]' FILE…` \
         prints names of files",
    ),
    (
        "inspect detect classes convert query get paths rows replace edit diff",
        "--no-color --no-colour --nocolor --monochrome --monochrome-output -M",
        "did you mean `--color never`?",
    ),
    ("inspect detect", "--raw --raw-output", "`icecore get -r PATH FILE` prints strings without quotes"),
    ("convert", "--raw --raw-output", "`icecore get -r PATH FILE` prints strings without quotes"),
    // jq.
    ("query", "--slurpfile --rawfile --argfile", "`--argjson NAME \"$(icecore convert FILE)\"` passes a document"),
    ("query", "-j", "did you mean `--raw-output`? Each result is on a line of its own"),
    ("query", "--args --jsonargs", "each value has a name: `--arg NAME VALUE`, `--argjson NAME JSON`"),
    ("query", "--from-file --file", "the filter is the first argument: `icecore query \"$(cat FILTER.jq)\" FILE`"),
    ("query", "--yaml-output --yaml -y", "YAML is not written, but JSON is valid YAML"),
    ("query", "--stream --seq --unbuffered --library-path -L", "this option of jq does not exist here"),
    ("query", "--in-place -i", "`icecore edit --in-place --set PATH=JSON FILE` changes a file"),
    (
        "convert",
        "--in-place -i",
        "`icecore edit --in-place --set PATH=JSON FILE` changes a file; -o FILE writes a new one",
    ),
    ("patch", "--reverse -R", "`icecore diff --json NEW OLD` writes the reverse difference"),
    ("patch", "-p --strip", "a difference has no file names: `icecore patch FILE DIFFERENCE`"),
    // Paths and values.
    ("get", "--path", "the path is the first argument: `icecore get PATH FILE`"),
    ("get", "--all", "all matches are printed, without an option"),
    ("get", "--first --last", "a path selects items: `[0]` is the first one, `[-1]` the last one"),
    ("get query", "--count --length", "`icecore query '[.[]] | length' FILE` counts"),
    ("get", "--default", "`icecore query '.name // \"default\"' FILE` has a default"),
    ("paths", "--path", "`icecore get --paths PATH FILE` prints the paths of some values"),
    ("paths", "--grep", "`icecore paths FILE | grep WORD`"),
    ("edit", "--path", "each option has its path: `--set PATH=JSON`, `--delete PATH`"),
    ("edit", "--rename", "did you mean `--rename-key <OLD=NEW>` or `--rename-class <OLD=NEW>`?"),
    ("edit", "--replace", "did you mean `--set <PATH=JSON>`? `icecore replace OLD NEW FILE` replaces text"),
    ("edit", "--no-backup", "did you mean `--backup ''`?"),
    ("replace", "--no-backup", "did you mean `--backup ''`?"),
    ("edit", "--undo --restore", "the file as it was is next to it, under the name that --backup gives it"),
    ("edit", "--deep", "strings that are frozen data are not opened here; `icecore convert --deep` opens them"),
    // Comparing.
    ("diff", "--brief --stat", "the exit code is 0 if nothing differs, and 1 otherwise"),
    ("diff", "--to -t", "did you mean `--from-b <FORMAT>`, the format of the second file?"),
    ("diff", "--deep", "`icecore convert --deep` opens strings that are frozen data; compare its outputs"),
    // Rows.
    ("rows", "--count", "the number of rows: `icecore rows … | wc -l`"),
    ("rows", "--where --filter", "some rows: `icecore rows … | icecore query --each 'select(.id < 10)'`"),
    (
        "rows",
        "--fields --extract --expand",
        "fields of the values: `icecore rows -c DATA FILE | icecore query --each -r '[.id, .DATA.amount] | @csv'`; \
         --schema makes columns of fields for -t parquet and -t arrow",
    ),
    ("rows", "--csv --tsv --parquet --arrow", "did you mean `--to <FORMAT>`, such as `-t csv`?"),
    ("rows", "--from -f", "did you mean `--in <FORM>` for the rows, or `--column NAME=FORMAT` for their values?"),
    ("rows", "--each", "each row is read for itself, without an option"),
    ("rows", "--all", "did you mean `--all-tables`?"),
    ("rows", "--key --keys", "did you mean `--match <PATTERN|JSON>`?"),
    (
        "rows replace",
        "--host --port --user --username -u -p -P -H -U",
        "`--db mysql://USER@HOST:PORT/NAME` names the server, the user and the database",
    ),
    ("rows replace", "--password", "the password is in ICECORE_DB_PASSWORD, or in the URL in the file of --db-file"),
    // Objects and jobs.
    ("store-get", "--key --id", "the key is the argument: `icecore store get KEY`"),
    ("store-get", "--raw --bytes", "the original bytes are printed unless --to is given"),
    ("store-get", "--from", "the format is stored with the object"),
    (
        "store-each store-find",
        "--to --format -t",
        "did you mean `--json`? `icecore store get ID -t FORMAT` converts one object",
    ),
    ("store-each", "--from -f", "the format is stored with each object"),
    ("store-find", "--value", "the value is the second argument: `icecore store find PATH VALUE`"),
    ("store-find", "--id", "`icecore store get ID` prints an object"),
    ("queue-push", "--cron --every --schedule", "`icecore queue schedule NAME TIMES FILE` queues a job repeatedly"),
    (
        "queue-push",
        "--payload --data --body",
        "the payload is a file or the standard input: `echo '{}' | icecore queue push`",
    ),
    ("queue-push", "--to", "did you mean `--queue <QUEUE>`?"),
    (
        "queue-schedule",
        "--cron --every",
        "the times are the second argument: `icecore queue schedule NAME 'every 5m' FILE`",
    ),
    ("queue-list", "--dead --failed", "did you mean `--state dead`? `icecore queue dead` shows them with their errors"),
    ("queue-redrive", "--all", "the name of a queue means all its dead jobs: `icecore queue redrive mail`"),
    ("queue-redrive", "--id", "the ids are the arguments: `icecore queue redrive ID…`"),
    ("queue-set", "--workers --threads", "did you mean `--concurrency <N>`?"),
    (
        "work",
        "--tries --retries --max-tries --max-attempts",
        "`icecore queue set --max-attempts N QUEUE` is for a queue",
    ),
    ("work", "--sleep", "a worker gets new jobs at once, without an option"),
    ("serve", "--token", "did you mean `--token-file <FILE>`? ICECORE_TOKEN may have the token, too"),
    ("serve", "--tls --cert --https", "put a proxy with TLS before it: `icecore serve` speaks HTTP"),
    // Measuring and pages.
    ("bench", "--filter --scenario", "scenarios are arguments: `icecore bench perl-mix`"),
    ("bench", "--warmup", "warming up is part of each measurement"),
    ("bench", "--output", "did you mean `--json <FILE>`, `--markdown <FILE>` or `--html <FILE>`?"),
    ("formats", "--list", "`icecore formats` lists all of them, without an option"),
    ("formats", "--options", "`icecore formats NAME` shows every option"),
    ("completions", "--shell", "the shell is the argument: `icecore completions bash`"),
    ("man", "--output --output-dir", "did you mean `--out-dir <DIR>`?"),
    ("inspect", "-v", "did you mean `--version` or `--all`?"),
    ("inspect", "--to -t", "`icecore convert -t FORMAT FILE` writes another format"),
];

/// Advice for commands to which a word was given that they do not take.
const WORD_ADVICE: &[(&str, &str)] = &[
    ("work", "the queue and the command are options: `icecore work --queue QUEUE --exec COMMAND`"),
    ("serve", "did you mean `--listen <ADDR>`, such as --listen 127.0.0.1:8080?"),
    ("man", "a page is for one command: `icecore man queue`, or `icecore help queue push`"),
    ("store-copy", "did you mean `--to <URL>`?"),
    ("formats", "one format at a time: `icecore formats php`"),
];

fn has_word(words: &str, searched: &str) -> bool {
    words.split(' ').any(|word| word == searched)
}

/// Returns how to do here what an option of another program does. `command` is the name of the command, such as
/// `queue-push`; `option` has its dashes.
pub fn option_advice(command: &str, option: &str) -> Option<&'static str> {
    let row = OPTION_ADVICE.iter().find(|(commands, names, _)| has_word(commands, command) && has_word(names, option));
    row.map(|(_, _, text)| *text)
}

/// Returns the options that do what the option of another program does, the most likely one first.
pub fn synonyms(option: &str) -> impl Iterator<Item = &'static str> {
    let option = option.to_owned();
    let rows = SYNONYMS.iter().filter(move |(names, _)| has_word(names, &option));
    rows.flat_map(|(_, options)| options.split(' '))
}

/// Returns the advice for a word that the command does not take.
pub fn word_advice(command: &str) -> Option<&'static str> {
    WORD_ADVICE.iter().find(|(known, _)| *known == command).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// Collects the names of all commands, such as `queue-push`, and of all options.
    fn collect_names(command: &clap::Command, name: &str, commands: &mut Vec<String>, options: &mut Vec<String>) {
        commands.push(name.to_owned());
        options.extend(command.get_arguments().filter_map(|arg| arg.get_long().map(str::to_owned)));
        for subcommand in command.get_subcommands() {
            let own_name = subcommand.get_name();
            let full_name = if name.is_empty() { own_name.to_owned() } else { format!("{name}-{own_name}") };
            collect_names(subcommand, &full_name, commands, options);
        }
    }

    #[test]
    fn the_tables_name_existing_commands_and_options() {
        if cfg!(not(all(feature = "store", feature = "bench", feature = "serve"))) {
            return;
        }
        let (mut commands, mut options) = (Vec::new(), Vec::new());
        collect_names(&crate::cli::Cli::command(), "", &mut commands, &mut options);
        for name in OPTION_ADVICE
            .iter()
            .flat_map(|(commands, ..)| commands.split(' '))
            .chain(WORD_ADVICE.iter().map(|(command, _)| *command))
        {
            assert!(commands.iter().any(|command| command == name), "no command {name}");
        }
        for name in SYNONYMS.iter().flat_map(|(_, options)| options.split(' ')) {
            assert!(options.iter().any(|option| option == name), "no option --{name}");
        }
        for names in SYNONYMS.iter().map(|(names, _)| *names).chain(OPTION_ADVICE.iter().map(|(_, names, ..)| *names)) {
            assert!(names.split(' ').all(|name| name.starts_with('-')), "{names}");
        }
    }
}
