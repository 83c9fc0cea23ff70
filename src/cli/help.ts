import { flags } from "./flags.ts";

interface Row {
  readonly short?: string;
  readonly long?: string;
  readonly value?: string;
  readonly group: string;
  readonly doc: string;
}

/** The subcommands by name: what stands behind `strobe`, and what it does. */
export type Commands = Readonly<Record<string, { readonly usage: string; readonly doc: string; help?(): string }>>;

/** The text of `strobe -h`. */
export function helpText(subcommands: Commands): string {
  const rows: Row[] = Object.values(flags);
  const groups = [...new Set(rows.map((row) => row.group))];
  const sections = groups.map((group) => `${group}:\n${flagLines(rows.filter((row) => row.group === group))}`);
  return `strobe: ask a running Linux system a question

  strobe [options] FILE [parameters]
  strobe [options] -e 'PROGRAM' [parameters]
  strobe [options] -            the program comes from standard input

Commands (strobe COMMAND --help says more):
${Object.entries(subcommands)
  .map(([name, { doc }]) => row(name, doc, 14))
  .join("")}
${sections.join("\n")}
Examples:
  strobe -e 'tracepoint:raw_syscalls:sys_enter { @[comm] = count(); }'
  strobe -e 'tracepoint:syscalls:sys_enter_openat { printf("%s %s\\n", comm, str(args.filename)); }'
  strobe -e 'profile:hz:99 { @[kstack] = count(); }'
  strobe -l 'tracepoint:*exec*'
  strobe -lv 'tracepoint:sched:sched_switch'
  strobe -c 'ls /' -e 'tracepoint:raw_syscalls:sys_enter /pid == cpid/ { @[args.id] = count(); }'
`;
}

/** `strobe WORD --help`. */
export function subcommandHelp(command: Commands[string]): string {
  const { usage, doc } = command;
  return `${inColumns("strobe ", usage)}\n${inColumns("  ", doc)}${command.help === undefined ? "" : `\n${command.help()}`}`;
}

/** A line each. */
export function flagLines(rows: readonly Pick<Row, "short" | "long" | "value" | "doc">[]): string {
  return rows.map((one) => row(spelling(one), one.doc, 27)).join("");
}

const columns = 100;

/** `doc` stands from column `at` on, in a line of its own where the name is longer. */
function row(name: string, doc: string, at: number): string {
  const before = `  ${name}`;
  return before.length < at ? inColumns(before.padEnd(at), doc) : `${before}\n${inColumns(" ".repeat(at), doc)}`;
}

/** Words behind `before`, in lines of at most 100 columns that begin where the words of the first do. */
function inColumns(before: string, words: string): string {
  const indent = " ".repeat(before.length);
  const lines: string[] = [];
  let line = "";
  for (const word of words.split(" ")) {
    if (line !== "" && before.length + line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return `${before}${[...lines, line].join(`\n${indent}`)}\n`;
}

function spelling({ short, long, value }: Pick<Row, "short" | "long" | "value">): string {
  const names = [short ? `-${short}` : "  ", ...(long ? [`--${long}`] : [])];
  return `${names.join(short ? ", " : "  ")}${value ? ` ${value}` : ""}`;
}
