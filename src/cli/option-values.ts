// What the values of options mean: languages, formats, times, shares, counts.
import { headerFields, type HeaderField } from "../compiler/layouts/record-header.ts";
import { closeSync, openSync } from "node:fs";
import type { Language } from "../language/language.ts";
import { findLanguage } from "../language/registry.ts";
import { commandLine } from "../messages/on-demand.ts";
import { UsageError } from "./usage-error.ts";
import { formats, type Format } from "../output/formats.ts";

/** `file`: where to, instead of the output. */
export interface ChosenFormat {
  readonly format: Format;
  readonly file?: string;
}

/** `known`: how bpftrace says that it is none of them. */
export function oneOf<T extends string>(flag: string, value: string, choices: readonly T[], known?: string): T {
  const found = choices.find((choice) => choice === value);
  if (found === undefined)
    throw new UsageError(
      known === undefined
        ? commandLine().noneOf(flag, choices, value)
        : commandLine().noneOfAsBpftrace(known, flag, choices, value),
    );
  return found;
}

/** `json`, `json=FILE`. */
export function readFormat(text: string): ChosenFormat {
  const [, name, file] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  const format =
    formats[
      formats.findIndex(
        (one) =>
          one.name ===
          oneOf(
            "-f",
            name,
            formats.map((known) => known.name),
            `invalid output format "${name}"`,
          ),
      )
    ];
  if (file !== undefined && format.inKernel?.test(file) === false)
    throw new UsageError(commandLine().formatNamesNothing(name, file));
  if (file === "") throw new UsageError(commandLine().formatNeedsFile(name));
  return file === undefined ? { format } : { format, file };
}

/** `time,pid`: each once. `timed`: by --time as well. */
export function readStamp(text: string, timed: boolean): readonly HeaderField[] {
  const fields = text.split(",").map((word) => oneOf("--stamp", word, headerFields));
  const twice = fields.find((field, i) => fields.indexOf(field) < i);
  if (twice !== undefined) throw new UsageError(commandLine().stampTwice(twice));
  return timed && !fields.includes("time") ? ["time", ...fields] : fields;
}

/** Text is as the script's language has it. */
export function spokenIn(language: Language, chosen: readonly ChosenFormat[]): readonly ChosenFormat[] {
  const own = formats.find(({ name }) => name === language.output);
  return own === undefined ? chosen : chosen.map((one) => (one.format.name === "text" ? { ...one, format: own } : one));
}

export function oneToOutput(chosen: readonly ChosenFormat[], named: boolean): readonly ChosenFormat[] {
  const [first, second] = chosen.filter(({ file, format }) => file === undefined && format.inKernel === undefined);
  if (second !== undefined)
    throw new UsageError(commandLine().formatsWithOneOutput(first.format.name, second.format.name));
  if (first === undefined && named) throw new UsageError(commandLine().outputWithoutFormat());
  return chosen;
}

export function readLanguage(flag: string, name: string, choices: readonly Language[]): Language {
  const found = findLanguage(name);
  if (found !== undefined && (choices.includes(found) || flag === "--lang")) return found;
  const known = choices.flatMap((one) => [one.name, ...one.aliases]);
  throw new UsageError(commandLine().noneOf(flag, known, name));
}

export function readable(file: string): void {
  try {
    closeSync(openSync(file, "r"));
  } catch (error) {
    throw new UsageError(commandLine().unreadableFile("--traceable-functions", (error as Error).message));
  }
}

export function readCount(flag: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(commandLine().noCount(flag, text));
  return Number(text);
}

export function readPattern(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch (error) {
    throw new UsageError(commandLine().noPattern("--probe-filter", (error as Error).message));
  }
}

const milliseconds: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
/** setTimeout takes no more. */
const longest = 2 ** 31 - 1;

/** What `--for` takes, in milliseconds: `10s`, `500ms`, or seconds alone. @throws UsageError */
export function readRunTime(text: string): number {
  const [, number, unit = "s"] = /^([0-9]*\.?[0-9]+) ?(ms|s|m|h)?$/.exec(text) ?? [];
  const value = Math.round(Number(number) * milliseconds[unit]);
  if (!(value > 0 && value <= longest)) throw new UsageError(commandLine().noRunTime(text));
  return value;
}

/** `2%`, `0.5%`, or the number alone. */
export function readShare(text: string): number {
  const value = /^[0-9]*\.?[0-9]+ ?%?$/.test(text) ? Number.parseFloat(text) : 0;
  if (!(value > 0 && value <= 100)) throw new UsageError(commandLine().noShare(text));
  return value / 100;
}
