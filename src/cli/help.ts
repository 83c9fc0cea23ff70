import { flags } from "./options.ts";

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
${Object.values(subcommands)
  .map(({ usage, doc }) => `  ${`strobe ${usage}`.padEnd(31)} ${doc}\n`)
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
  return `strobe ${usage}\n\n  ${doc}\n${command.help === undefined ? "" : `\n${command.help()}`}`;
}

/** A line each. */
export function flagLines(rows: readonly Pick<Row, "short" | "long" | "value" | "doc">[]): string {
  return rows.map((row) => `  ${spelling(row).padEnd(24)} ${row.doc}\n`).join("");
}

function spelling({ short, long, value }: Pick<Row, "short" | "long" | "value">): string {
  const names = [short ? `-${short}` : "  ", ...(long ? [`--${long}`] : [])];
  return `${names.join(short ? ", " : "  ")}${value ? ` ${value}` : ""}`;
}
