// Questions whose script depends on what is asked: `strobe leaks`, `strobe follow` and their kin write one, which then
// runs as any other, with strobe's own options.
import { compileScript } from "../../api/compile.ts";
import type { ScriptOption } from "../../language/program.ts";
import { print } from "../files.ts";
import { readOptions, type Options } from "../options.ts";
import { optionLines } from "../script-help.ts";
import { questions } from "../../messages/questions.ts";
import { commandLine } from "../../messages/on-demand.ts";
import { UsageError } from "../usage-error.ts";

export interface MadeScript {
  /** The word behind `strobe`. */
  readonly name: string;
  /** What it tells and how it is asked, in lines. */
  readonly about: string;
  /** Options of its own. */
  readonly options: readonly ScriptOption[];
  /** The script, and what of the command line means something else for it. @throws UsageError */
  write(asked: Asked): Written;
}

export interface Written {
  readonly text: string;
  /** What of it a person wrote, once: where that is wrong, it is told of this script, and not of each use. */
  readonly first?: string | undefined;
  readonly options?: Partial<Options>;
}

/** What was asked: words, options of its own (`named`), and strobe's. */
export class Asked {
  readonly options: Options;

  constructor(options: Options) {
    this.options = options;
  }

  get words(): readonly string[] {
    return this.options.words;
  }

  has(option: string): boolean {
    const value = this.options.named.get(option);
    if (value !== undefined && value !== true) throw new UsageError(commandLine().takesNoValue(option));
    return value === true;
  }

  text(option: string): string | undefined {
    const value = this.options.named.get(option);
    if (value === true || value === "") throw new UsageError(commandLine().requiresArgument(option));
    return value;
  }

  /** A whole number from `least` on. */
  number(option: string, fallback: number, least = 1): number {
    const text = this.text(option);
    if (text === undefined) return fallback;
    if (!/^\d{1,12}$/.test(text) || Number(text) < least)
      throw new UsageError(questions.wholeNumber(option, least, text));
    return Number(text);
  }

  /** Nanoseconds: `5us`, `10ms`, `2s`; a number alone is of `unit`. Undefined where it is not given. */
  time(option: string, unit: keyof typeof nanoseconds): number | undefined {
    const text = this.text(option);
    return text === undefined ? undefined : readTime(`--${option}`, text, unit);
  }
}

const nanoseconds = { ns: 1, us: 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 } as const;

export function readTime(flag: string, text: string, unit: keyof typeof nanoseconds): number {
  const [, number, given = unit] = /^(\d+(?:\.\d+)?) ?(ns|us|ms|s|m|h)?$/.exec(text) ?? [];
  const value = Math.round(Number(number) * nanoseconds[given as keyof typeof nanoseconds]);
  if (!(value > 0 && value <= Number.MAX_SAFE_INTEGER)) throw new UsageError(questions.time(flag, text));
  return value;
}

/** What chooses a script, or where it runs. */
const scriptFlags = { execute: "-e", language: "--lang", suite: "--test or --bench", recording: "--in" };

const show: ScriptOption = {
  name: "show",
  takes: "truth",
  fallback: "false",
  description: "print the script that does it, and leave",
};

/** What runs, or the exit code where nothing does. @throws UsageError */
export function openMade(made: MadeScript, argv: readonly string[]): number | Options {
  const options = readOptions(argv, { source: { name: made.name, text: "" }, options: optionsOf(made) });
  if (options.help) {
    print(madeHelp(made));
    return 0;
  }
  const flag = (["execute", "language", "suite", "recording"] as const).find((name) => options[name] !== undefined);
  if (flag !== undefined) throw new UsageError(questions.writesItself(made.name, scriptFlags[flag]));
  const asked = new Asked(options);
  const written = made.write(asked);
  if (asked.has("show")) {
    print(written.text);
    return 0;
  }
  const text = written.first !== undefined && !compiles(made.name, written.first) ? written.first : written.text;
  return {
    ...options,
    ...written.options,
    script: { name: made.name, text },
    words: [],
    named: new Map(),
  };
}

/** Whether this machine can run it. */
export function compiles(name: string, text: string): boolean {
  return compileScript({ name, text }, {}).plan !== undefined;
}

/** `strobe NAME --help`. */
export function madeHelp(made: MadeScript): string {
  return `${made.name}: ${made.about}\nOptions of its own:\n${optionLines(optionsOf(made))}\nstrobe's options (strobe -h) work as for any script: -p, -c, --comm, --for, --top, -f, -o and the others.\n`;
}

export function optionsOf({ options }: MadeScript): readonly ScriptOption[] {
  return [...options, show];
}

/** A text as scripts write one. */
export function quoted(text: string): string {
  // oxlint-disable-next-line no-control-regex
  const escaped = text.replaceAll(/["\\]/g, (mark) => `\\${mark}`).replaceAll(/[\0-\x1f\x7f]/g, hex);
  return `"${escaped}"`;
}

function hex(letter: string): string {
  return `\\x${letter.charCodeAt(0).toString(16).padStart(2, "0")}`;
}

/**
 * A probe that a listing names, as scripts write it. Whoever makes a binary chooses the names in it: what is no plain name
 * is in quotes, so that no script goes on in it.
 */
export function writtenProbe(probe: string): string {
  const [kind = "", ...parts] = probe.split(":");
  const name = kind === "uprobe" || kind === "uretprobe" ? [parts[0] ?? "", parts.slice(1).join(":")] : parts;
  return [kind, ...name.map((part) => (/^[\w.$@/-]*$/.test(part) ? part : quoted(part)))].join(":");
}
