// Scripts in SystemTap's language with what SystemTap itself printed: test/live/systemtap/NAME.stp and NAME.out beside it. A script is
// in cases, each behind a line `# case: WORDS`; those are run together, one behind the other. `# case alone:` is a script
// of its own, because it ends with an error or prints when it ends; `# case refused:` is one that no SystemTap compiles.
// `# case in a program:`, whose handler is `probe here`, runs where a program (program.c) calls a function for it, with the arguments that are told
// there; `# case around a program:` is a script of its own over a run of that program:
//   # run: WORD        what the program does, by its name there
// The lines behind say what is known of strobe there:
//   # gap: WHY         it is not there yet; a case that comes right fails the test until the line is taken away
//   # gap in events: WHY   the same where handlers run in the kernel; right where they run on the host
//   # differs: WHY     it is meant to be another
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

export const folder = "test/live/systemtap";

export interface Case {
  readonly name: string;
  readonly kind: "together" | "alone" | "refused" | "in a program" | "around a program";
  /** What the program does. */
  readonly run: string;
  readonly script: string;
  readonly gap?: string;
  readonly gapInEvents?: string;
  readonly differs?: string;
}

export interface Group {
  readonly name: string;
  readonly cases: readonly Case[];
}

/** What a run of a script came to. */
export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
  readonly failed: boolean;
}

export function groups(): readonly Group[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".stp"))
    .sort()
    .map((file) => {
      const name = file.slice(0, -".stp".length);
      const [, ...parts] = readFileSync(join(folder, file), "utf8").split(
        /^# case(?= alone| refused| in a program| around a program|:)/m,
      );
      return { name, cases: parts.map(caseOf) };
    });
}

function caseOf(text: string): Case {
  const [head = "", ...lines] = text.split("\n");
  const [, kind = "together", name = ""] = /^ ?(alone|refused|in a program|around a program)?: (.*)$/.exec(head) ?? [];
  const said = (what: string): string | undefined =>
    lines.find((line) => line.startsWith(`# ${what}: `))?.slice(what.length + 4);
  const [gap, gapInEvents, differs, run = "nothing"] = ["gap", "gap in events", "differs", "run"].map(said);
  return {
    name,
    kind: kind as Case["kind"],
    run,
    script: `${lines
      .filter((line) => !/^# (?:gap|gap in events|differs|run): /.test(line))
      .join("\n")
      .trim()}\n`,
    ...(gap === undefined ? {} : { gap }),
    ...(gapInEvents === undefined ? {} : { gapInEvents }),
    ...(differs === undefined ? {} : { differs }),
  };
}

/** Cases as one script: `point` is where each one's handler runs, which each has at `probe begin` or `probe here`. */
export function together(cases: readonly Case[], point: (index: number) => string, last = ""): string {
  const scripts = cases.map(({ name, script }, i) =>
    script.replace(
      /^probe (?:begin|here) \{/m,
      () => `probe ${point(i)} { print(${JSON.stringify(`\n== ${name}\n`)});`,
    ),
  );
  return `${scripts.join("\n")}\n${last}`;
}

/** The order of begin probes is that of their numbers. */
export const atBegin = (index: number): string => `begin(${index + 1})`;

/** The program of cases that run in one: it calls a function for each, which get what program.c tells. */
export function programOf(cases: readonly Case[]): string {
  const of = cases.filter(({ kind }) => kind === "in a program");
  return readFileSync(join(folder, "program.c"), "utf8")
    .replace("/* CASES */", () => of.map((_, i) => `CASE(case${i})`).join("\n"))
    .replace("/* CALLS */", () => of.map((_, i) => `CALL(case${i})`).join(" "));
}

/** The order of the calls in a program. */
export const inProgram = (index: number): string => `process(@1).function("case${index}")`;

/** What each case printed, of what all did. */
export function sections(text: string): ReadonlyMap<string, string> {
  const [, ...parts] = text.split(/^== /m);
  return new Map(
    parts.map((part) => {
      const end = part.indexOf("\n");
      return [part.slice(0, end), trimmed(part.slice(end + 1))];
    }),
  );
}

const trimmed = (text: string): string => text.replace(/\n+$/, "\n").replace(/^\n$/, "");

// ── the files of what was printed ──

/** Whether SystemTap was asked about a group: one without has nothing to be compared with yet. */
export const hasPrinted = (group: string): boolean => existsSync(join(folder, `${group}.out`));

export function printedBy(group: string): ReadonlyMap<string, Printed> {
  const [, ...parts] = readFileSync(join(folder, `${group}.out`), "utf8").split(/^== /m);
  return new Map(
    parts.map((part) => {
      const end = part.indexOf("\n");
      const [stdout = "", stderr] = part.slice(end + 1).split(/^-- failed\n|^-- said\n/m);
      return [
        part.slice(0, end),
        {
          stdout: trimmed(stdout),
          stderr: stderr === undefined ? "" : trimmed(stderr),
          failed: /^-- failed$/m.test(part),
        },
      ];
    }),
  );
}

export function printedText(printed: ReadonlyMap<string, Printed>): string {
  return [...printed]
    .map(([name, { stdout, stderr, failed }]) => {
      const said = failed ? `-- failed\n${stderr}` : stderr === "" ? "" : `-- said\n${stderr}`;
      return `== ${name}\n${stdout}${stdout === "" || stdout.endsWith("\n") ? "" : "\n"}${said}`;
    })
    .join("\n");
}
