// What is wrong with a command line: its options and their values.
import { usage, type Shown, type UsageMessage } from "./message.ts";

export const commandLine = {
  /** @example strobe --frobnicate */
  unknownOption: (option: string, instead: string | undefined): UsageMessage =>
    usage(`unrecognized option '${option}'${instead === undefined ? "" : ` (${instead})`}`),
  /** @example strobe -j */
  unknownLetter: (letter: string, elsewhere: string | undefined): UsageMessage =>
    usage(`invalid option -- '${letter}'${elsewhere === undefined ? "" : ` (${elsewhere})`}`),
  /** @example strobe --no -e 'begin { }' */
  ambiguousOption: (start: string, meant: readonly string[]): UsageMessage =>
    usage(`--${start} may be ${meant.map((name) => `--${name}`).join(" or ")}`),
  /** @example strobe --emit-llvm out -e 'begin { }' */
  refusedOption: (option: string, why: string): UsageMessage => usage(`--${option} is not supported: ${why}`),
  /** @example strobe --info=all */
  takesNoValue: (option: string): UsageMessage => usage(`--${option} takes no value`),
  /** @example strobe --pid */
  requiresArgument: (option: string): UsageMessage => usage(`option '--${option}' requires an argument`),
  /** @example strobe -p */
  letterRequiresArgument: (letter: string): UsageMessage => usage(`option requires an argument -- '${letter}'`),
  /** @example strobe record --stack= 'kprobe:vfs_read' */
  needsValue: (option: string): UsageMessage => usage(`${option} needs a value`),
  /** @example strobe -c true -p 1 -e 'begin { }' */
  commandAndPid: (does: "trace" | "record"): UsageMessage =>
    usage(`cannot use both -c and -p: ${does} a process that runs, or one that is started`),
  /** @example strobe --sql 'select comm from sched_switch' -e 'begin { }' */
  sqlAndScript: (option: string): UsageMessage =>
    usage(`cannot use --sql with ${option}: a question is a script by itself`),
  /** @example strobe --follow -e 'begin { }' */
  followNeedsProcess: (): UsageMessage => usage("--follow needs a process: -p or -c"),
  /** @example strobe --follow -p 1,2 -e 'begin { }' */
  followTakesOne: (words: Shown, count: number): UsageMessage =>
    usage(`--follow takes one process: -p ${words} means ${count}`),
  /** @example strobe --from 2s -e 'begin { }' */
  timesOfRecordings: (): UsageMessage => usage("--from and --to are for recordings: strobe replay FILE, or --in FILE"),
  /** @example strobe -q */
  nothingToRun: (): UsageMessage => usage("nothing to run: give a script's path, or a program behind -e"),
  /** @example strobe nowhere.bt */
  noSuchScript: (file: string): UsageMessage =>
    usage(
      `failed to open file '${file}': no such file (${/^[\u2010-\u2015\u2212]/.test(file) ? "options begin with `-`" : "a program goes behind -e"})`,
    ),
  /** @example strobe package.json --lang typescript */
  noScriptsOfItsOwn: (language: string, title: string): UsageMessage =>
    usage(`--lang ${language}: ${title} has no scripts of its own (strobe run FILE starts a program)`),
  /** @example strobe examples/slow-reads.ts */
  isProgram: (file: string, title: string): UsageMessage =>
    usage(`${file} is a program in ${title}: strobe run ${file} starts it`),
  /**
   * Only of a file of more than 16 MB, or without an end.
   * @tested test/live/wrong-input.test.ts
   */
  scriptTooLarge: (file: string, megabytes: number): UsageMessage =>
    usage(`${file} is no script: it has more than ${megabytes} MB`),
  /**
   * Only of a file in UTF-16.
   * @tested test/live/wrong-input.test.ts
   */
  scriptInUtf16: (file: string): UsageMessage =>
    usage(`${file} is text in UTF-16: a script must be in UTF-8 (iconv -t UTF-8)`),
  /** @example strobe /bin/ls */
  scriptHasZero: (file: string, at: number): UsageMessage =>
    usage(`${file} is no script: its byte ${at} is 0, as in no text`),
  /** @example strobe --include ./nowhere.h -e 'begin { }' */
  noSuchHeader: (file: string): UsageMessage => usage(`there is no file ${file} to include`),
  /** @example strobe --engine steam -e 'begin { }' */
  noneOf: (option: string, choices: readonly string[], found: string): UsageMessage =>
    usage(`${option} takes one of ${choices.join(", ")}, not "${found}"`),
  /** @example strobe -f yaml -e 'begin { }' */
  noneOfAsBpftrace: (words: string, option: string, choices: readonly string[], found: string): UsageMessage =>
    usage(`${words}: ${option} takes one of ${choices.join(", ")}, not "${found}"`),
  /** @example strobe -f json= -e 'begin { }' */
  formatNeedsFile: (format: string): UsageMessage => usage(`-f ${format}= needs a file`),
  /**
   * @example strobe -f user_events=2 -e 'begin { }'
   * @example strobe -f trace_marker=/tmp/file -e 'begin { }'
   */
  formatNamesNothing: (format: string, name: string): UsageMessage =>
    usage(
      `-f ${format}= takes ${format === "trace_marker" ? "an instance of tracefs" : "an event's name"}, not "${name}"`,
    ),
  /** @example strobe -f json -f text -e 'begin { }' */
  formatsWithOneOutput: (first: string, second: string): UsageMessage =>
    usage(`-f ${first} and -f ${second} have one output: write -f ${second}=FILE`),
  /** @example strobe -o out.txt -f json=out.json -e 'begin { }' */
  outputWithoutFormat: (): UsageMessage => usage("-o takes a format's output, and each -f has a place of its own"),
  /** @example strobe --stamp pid,pid -e 'begin { }' */
  stampTwice: (field: string): UsageMessage => usage(`--stamp has ${field} twice`),
  /** @example strobe --traceable-functions nowhere -e 'begin { }' */
  unreadableFile: (option: string, why: string): UsageMessage =>
    usage(`${option} takes a file that can be read: ${why}`),
  /** @example strobe --top 0 -e 'begin { }' */
  noCount: (option: string, found: string): UsageMessage => usage(`${option} takes a number from 1 on, not "${found}"`),
  /** @example strobe --probe-filter '(' -e 'begin { }' */
  noPattern: (option: string, why: string): UsageMessage => usage(`${option} takes a regular expression: ${why}`),
  /** @example strobe --for ever -e 'begin { }' */
  noRunTime: (found: string): UsageMessage =>
    usage(`--for takes a time such as 500ms, 10s, 5m or 1h, up to 596h, not "${found}"`),
  /** @example strobe --max-overhead none -e 'begin { }' */
  noShare: (found: string): UsageMessage =>
    usage(`--max-overhead takes a share of the CPU time above 0 % and up to 100 %, not "${found}"`),
  /** @example strobe record --ring soon 'kprobe:vfs_read' */
  noTime: (option: string, found: string): UsageMessage =>
    usage(`${option} takes a time (10s, 500ms, 2m), not "${found}"`),
  /** @example strobe record --max-size huge 'kprobe:vfs_read' */
  noSize: (option: string, found: string): UsageMessage =>
    usage(`${option} takes a size (500K, 100M, 1G), not "${found}"`),
  /** @example strobe -p , -e 'begin { }' */
  noList: (option: string, found: string): UsageMessage =>
    usage(`${option} takes names or numbers with commas between them, not "${found}"`),
  /** @example strobe -p no-such-program -e 'begin { }' */
  noProcess: (name: string): UsageMessage =>
    usage(
      `failed to parse pid: invalid integer: ${name} (-p takes numbers of processes and names of programs, and none of this name runs)`,
    ),
  /** @example strobe -p 12x -e 'begin { }' */
  noPid: (option: string, found: string): UsageMessage =>
    usage(`failed to parse pid: invalid integer: ${found} (${option} takes the number of a process)`),
  /** @example strobe -p 0 -e 'begin { }' */
  pidOutOfRange: (found: string, most: number): UsageMessage =>
    usage(`pid out of range: ${found} (processes have the numbers 1 to ${most})`),
  /** @example strobe --comm a-name-of-more-than-15-bytes -e 'begin { }' */
  commTooLong: (name: string): UsageMessage =>
    usage(`--comm: "${name}" is longer than the 15 bytes that the kernel keeps of a thread's name`),
  /** @example strobe --user nobody-of-this-name -e 'begin { }' */
  noUser: (name: string): UsageMessage => usage(`--user: no user is called "${name}" in /etc/passwd`),
  /** @example strobe --cgroup /no/such/group -e 'begin { }' */
  noCgroup: (name: string): UsageMessage =>
    usage(`--cgroup: there is no cgroup ${name} (of version 2; strobe takes its path below the root, or the folder's)`),
};
