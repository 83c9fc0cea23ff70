// The words behind a command's name, one after the other, by the table of flags: which is an option, which its value, and
// which is neither. What values mean is not looked at (options.ts).
import { lazy } from "../base/lazy.ts";
import type { ScriptOption } from "../language/program.ts";
import type { Source } from "../language/diagnostic.ts";
import { commandLine } from "../messages/on-demand.ts";
import { type Flag, type FlagName, flags } from "./flags.ts";
import { oneOf, readable } from "./option-values.ts";
import { readPid, UsageError } from "./usage-error.ts";

// Loaded where an option is not known.
const otherTools = lazy<typeof import("./other-tools.ts")>(() => require("./other-tools.ts"));

/**
 * bpftrace's, for what strobe does anyway or has no need of: understood, and without effect. With what looks at a
 * value, where one is taken.
 */
const withoutEffect: Readonly<Record<string, ((value: string) => void) | undefined>> = {
  // Semaphores are always counted by file.
  "usdt-file-activation": undefined,
  // Tables for unwinding are made of every process that is met.
  "dwarf-pid": (value) => void readPid("--dwarf-pid", value),
  // Features are probed when they are needed, and functions asked of the kernel itself.
  "no-feature": (value) => {
    for (const one of value.split(",")) oneOf("--no-feature", one, ["kprobe_multi", "kprobe_session", "uprobe_multi"]);
  },
  "traceable-functions": readable,
  // There is no LLVM.
  "verify-llvm-ir": undefined,
};

/** What other tracers call a flag. */
const otherNames: Readonly<Record<string, string>> = { timeout: "for", duration: "for" };

/** bpftrace's that strobe cannot do: why. */
const refusedOptions: Readonly<Record<string, string>> = {
  "emit-elf": "strobe makes its programs in memory: -d asm shows them",
  "emit-llvm": "there is no LLVM: -d ir shows the intermediate code",
};

/** A script that strobe brings along, and what it asks for (`getopt`); or a program with its options. */
export interface Tool {
  readonly source: Source;
  readonly options: readonly ScriptOption[];
  /** Words from the first that is no option on are a command with its own options. */
  readonly endsAtWord?: boolean;
}

export type Word =
  | { readonly kind: "flag"; readonly name: FlagName; readonly value: string }
  /** An option of the tool's own. */
  | { readonly kind: "own"; readonly name: string; readonly value: string | true }
  | { readonly kind: "plain"; readonly text: string; readonly at: number }
  /** All from there on: behind a lone `--`, or of a command with its own options. */
  | { readonly kind: "rest"; readonly words: readonly string[]; readonly ofScript: boolean };

/**
 * `tool`: what the words are for, whose own options need no lone `--` before them.
 * @throws UsageError
 */
export function* wordsOf(argv: readonly string[], tool?: Tool): Generator<Word, void> {
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at];
    if (word === "--") {
      yield { kind: "rest", words: argv.slice(at + 1), ofScript: tool?.endsAtWord !== true };
      return;
    }
    if (word.startsWith("--")) {
      const [, start, equals, given] = /^--([^=]*)(=?)(.*)$/s.exec(word) ?? [];
      const own = tool?.options.find((option) => option.name === start);
      if (own !== undefined) {
        if (!equals && own.takes !== "truth" && argv[at + 1] === undefined)
          throw new UsageError(commandLine().requiresArgument(start));
        yield { kind: "own", name: start, value: equals ? given : own.takes === "truth" ? true : argv[++at] };
        continue;
      }
      const text = wholeName(start, tool);
      const name = flagNamed("long", text);
      const refused = refusedOptions[text];
      if (refused !== undefined) throw new UsageError(commandLine().refusedOption(text, refused));
      const check = withoutEffect[text];
      if (name === undefined ? check === undefined : !takesValue(name)) {
        if (equals) throw new UsageError(commandLine().takesNoValue(text));
        if (name !== undefined) yield { kind: "flag", name, value: "" };
        continue;
      }
      const next = equals ? given : name === undefined ? argv[at + 1] : following(name, argv[at + 1]);
      if (!equals && next === argv[at + 1]) at++;
      if (next === undefined) throw new UsageError(commandLine().requiresArgument(text));
      if (name !== undefined) yield { kind: "flag", name, value: next };
      else check?.(next);
    } else if (word.startsWith("-") && word !== "-") {
      for (let letter = 1; letter < word.length; letter++) {
        const name = flagNamed("short", word[letter]);
        if (!name) throw new UsageError(commandLine().unknownLetter(word[letter], elsewhere(`-${word[letter]}`)));
        if (!takesValue(name)) {
          yield { kind: "flag", name, value: "" };
          continue;
        }
        const attached = word.slice(letter + 1);
        const next = attached !== "" ? attached : following(name, argv[at + 1]);
        if (attached === "" && next === argv[at + 1]) at++;
        if (next === undefined) throw new UsageError(commandLine().letterRequiresArgument(word[letter]));
        yield { kind: "flag", name, value: next };
        break;
      }
    } else if (tool?.endsAtWord === true) {
      yield { kind: "rest", words: argv.slice(at), ofScript: false };
      return;
    } else {
      yield { kind: "plain", text: word, at };
    }
  }
}

function flagNamed(kind: "short" | "long", text: string): FlagName | undefined {
  return (Object.keys(flags) as FlagName[]).find((name) => (flags[name] as Flag)[kind] === text);
}

/** GNU's way: the start of a long option's name will do where only one begins so. @throws UsageError */
function wholeName(start: string, tool: Tool | undefined): string {
  if (Object.hasOwn(otherNames, start)) return otherNames[start];
  const names = [
    ...Object.values(flags).flatMap((flag: Flag) => flag.long ?? []),
    ...Object.keys(withoutEffect),
    ...Object.keys(refusedOptions),
  ];
  const meant = names.includes(start) ? [start] : names.filter((name) => start !== "" && name.startsWith(start));
  if (meant.length === 0) {
    const own = tool?.options.map(({ name }) => name) ?? [];
    const instead = elsewhere(`--${start}`) ?? otherTools().nearestOption(start, [...own, ...names]);
    const parameters = tool === undefined ? "the script's own parameters go behind a lone --" : undefined;
    throw new UsageError(commandLine().unknownOption(`--${start}`, instead ?? parameters));
  }
  if (meant.length > 1) throw new UsageError(commandLine().ambiguousOption(start, meant));
  return meant[0];
}

/** What another tool's option of this name is here. */
function elsewhere(option: string): string | undefined {
  return otherTools().otherToolsOption(option);
}

function takesValue(name: FlagName): boolean {
  return (flags[name] as Flag).value !== undefined;
}

/** The next word as a flag's value; where the value may be left out, only if it is no option. */
function following(name: FlagName, next: string | undefined): string | undefined {
  const { otherwise } = flags[name] as Flag;
  return otherwise !== undefined && (next === undefined || next.startsWith("-")) ? otherwise : next;
}
