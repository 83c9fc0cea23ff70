// `strobe completion SHELL`: what a shell runs to complete command lines; `strobe complete WORDS…`: what could stand
// instead of the last of them, a line each.
import { lazy } from "../base/lazy.ts";
import { languages } from "../language/registry.ts";
import { comm, processIds } from "../linux/processes/procfs.ts";
import { userNames } from "../linux/processes/user-names.ts";
import { formats } from "../output/formats.ts";
import { print } from "./files.ts";
import { flags, stages } from "./flags.ts";
import { findTool, openTool, toolNames } from "./tools.ts";
import { commands } from "../messages/commands.ts";
import { UsageError } from "./usage-error.ts";

// Loaded where they are asked for: whoever presses Tab waits for what is loaded.
const table = lazy<typeof import("../language/builtins/table.ts")>(() => require("../language/builtins/table.ts"));
const machine = lazy<typeof import("../api/machine.ts")>(() => require("../api/machine.ts"));
const registry = lazy<typeof import("../providers/registry.ts")>(() => require("../providers/registry.ts"));

/** More would be of no use to anybody who reads them. */
const most = 500;

/** bash splits words at colons, which probes have: what is before the last one is left away again. */
const bash = `_strobe() {
  local line="\${COMP_LINE:0:COMP_POINT}" word candidate
  word="\${line##*[[:space:]]}"
  COMPREPLY=()
  while IFS= read -r candidate; do
    case "$COMP_WORDBREAKS$word" in
      *:*:*) candidate="\${candidate#"\${word%"\${word##*:}"}"}" ;;
    esac
    COMPREPLY+=("$candidate")
  done < <(strobe complete "\${COMP_WORDS[@]:1:COMP_CWORD-1}" "$word" 2>/dev/null)
  case "\${COMPREPLY[0]}" in *: | *=) compopt -o nospace 2>/dev/null ;; esac
}
complete -o default -F _strobe strobe
`;
const zsh = `#compdef strobe
_strobe() {
  local -a candidates
  candidates=("\${(@f)$(strobe complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${candidates[1]}" ]]; then compadd -S '' -- "\${candidates[@]}"; else _files; fi
}
if [[ "\${funcstack[1]}" == _strobe ]]; then _strobe "$@"; else compdef _strobe strobe; fi
`;
const fish = `complete -c strobe -a '(strobe complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`;
const shells: Readonly<Record<string, string>> = { bash, zsh, fish };

/** @throws UsageError */
export function completionScript([shell, ...more]: readonly string[]): number {
  if (shell === undefined || more.length > 0 || !Object.hasOwn(shells, shell))
    throw new UsageError(commands.completionTakes(Object.keys(shells)));
  print(shells[shell]);
  return 0;
}

/** `words`: behind the command's name; the last is not finished. `commands`: the subcommands. */
export function complete(words: readonly string[], commands: readonly string[]): number {
  const found = new Set<string>();
  for (const candidate of candidates(words.slice(0, -1), words.at(-1) ?? "", commands)) {
    if (candidate.startsWith(words.at(-1) ?? "")) found.add(candidate);
    if (found.size === most) break;
  }
  print([...found].map((candidate) => `${candidate}\n`).join(""));
  return 0;
}

function candidates(before: readonly string[], word: string, commands: readonly string[]): Iterable<string> {
  const last = before.at(-1) ?? "";
  const flag = Object.entries(flags).find(
    ([, row]) =>
      last !== "" && (`-${"short" in row ? row.short : ""}` === last || `--${"long" in row ? row.long : ""}` === last),
  )?.[0];
  if (flag !== undefined && flag in values) return values[flag](word);
  const [command = ""] = before;
  if (before.length === 0 && !word.startsWith("-")) return [...commands, ...toolNames()].sort();
  if (command === "help")
    return [
      ...commands,
      ...toolNames(),
      ...table()
        .builtins()
        .map(({ name }) => name),
    ];
  if (command === "completion") return Object.keys(shells);
  if (word.startsWith("-")) return options(command);
  if (command === "record" || before.some((one) => /^(?:-[a-z]*l[a-z]*|--list)$/.test(one))) return probes(word);
  return [];
}

/** What an option's value may be, by its name in the table. */
const values: Readonly<Record<string, (word: string) => Iterable<string>>> = {
  format: () => formats.map(({ name }) => name),
  language: () => languages.filter(({ parse }) => parse !== undefined).map(({ name }) => name),
  emit: () => languages.filter(({ translate }) => translate !== undefined).map(({ aliases }) => aliases[0]),
  debug: () => stages,
  buffering: () => ["line", "full", "none"],
  pid: () => [...processIds().map(String), ...programNames()],
  comm: programNames,
  user: () => userNames().values(),
  list: probes,
};

/** Whoever runs a program names it: what a terminal would take for more than text is not offered. */
function programNames(): Iterable<string> {
  return new Set(
    processIds()
      .flatMap((pid) => comm(pid) ?? [])
      .filter((name) => !/\p{C}/u.test(name)),
  );
}

function options(command: string): readonly string[] {
  const tool = findTool(command);
  const own = tool?.kind === "script" ? openTool(tool).options.map(({ name }) => `--${name}`) : [];
  return [...own, ...Object.values(flags).flatMap((row) => ("long" in row ? [`--${row.long}`] : []))];
}

/** Kinds with a colon behind them; of a kind its probes, a part at a time where there are many. */
function* probes(word: string): Iterable<string> {
  if (!word.includes(":")) {
    for (const { name } of registry().allProviders()) yield `${name}:`;
    return;
  }
  for (const { probe } of registry().listProbes(`${word}*`, machine().thisMachine({}), { verbose: false }))
    yield asWritten(word, probe);
}

/** A probe that was found, by the alias and the library's or program's name that its kind and path were begun with. */
function asWritten(word: string, probe: string): string {
  const [kind, path, ...begun] = word.split(":");
  const rest = probe.slice(probe.indexOf(":") + 1);
  const isFull = begun.length === 0 || path.startsWith("/") || !rest.startsWith("/");
  return `${kind}:${isFull ? rest : path + rest.slice(rest.indexOf(":"))}`;
}
