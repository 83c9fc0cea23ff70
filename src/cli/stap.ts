// `strobe stap …`: SystemTap's options as strobe's. What has no meaning here is said, and the script runs all the same.
import { version } from "../../package.json";
import { print, tell } from "./files.ts";
import { readOptions, type Options } from "./options.ts";
import { commands } from "../messages/commands.ts";
import { UsageError } from "./usage-error.ts";

/** With a value, or without. */
const valued = "eEcxlLoGDdmsTpIRraSB";
const plain = "vgtwWukqFbihV";

/** Limits of scripts that `-D` sets. */
const limits: ReadonlySet<string> = new Set(["MAXERRORS", "MAXNESTING", "MAXMAPENTRIES"]);

/** What these ask for is done anyway, or has nothing to do with how strobe works: why. */
const without: Readonly<Record<string, string>> = {
  m: "strobe makes no kernel module",
  s: "buffers have the size that is needed",
  b: "buffers are always shared by processor",
  u: "all of the script is kept, and compiled",
  k: "there is no temporary folder",
  R: "there is no runtime to be found elsewhere",
  r: "scripts run on this kernel",
  a: "scripts run on this machine",
  D: "strobe has limits of its own",
  d: "debug information is found where it is",
  S: "output goes to one file",
  B: "no kernel module is built",
  i: "scripts are read whole: write a file, or -e",
  "--interactive": "scripts are read whole: write a file, or -e; an editor has completion and errors by strobe lsp",
  "--monitor": "print what is wanted in a probe timer.s(1), with ansi_clear_screen() before it",
  F: "strobe stays in the foreground: end it with & or nohup",
};

/** What to use in the place of what is not there. */
const instead: Readonly<Record<string, string>> = {
  "--example": "strobe tools lists ready scripts",
  "--language-server": "strobe lsp",
  "--remote": "run strobe there, over ssh",
  "--use-server": "strobe compiles by itself",
};

const withoutLong =
  /^--(?:disable-cache|poison-cache|clean-cache|all-modules|ldd|compatible|skip-badvars|suppress-handler-errors|suppress-time-limits|runtime|bpf|dyninst|privilege|unprivileged|rlimit-.*|tmpdir|save-module|save-uprobes|download-debuginfo|prologue-searching|semantic-keep-going|interactive|monitor|sysroot|sysenv|no-global-var-display|color|modinfo|sign-module|vp)(?:=.*)?$/;

/** Their values may be words of their own. */
const withoutValued = /^--(?:compatible|runtime|privilege|rlimit-[a-z]+|tmpdir|sysroot|sysenv|vp)$/;

/** @throws UsageError */
export async function stapOptions(argv: readonly string[]): Promise<number | Options> {
  const script: string[] = [];
  const appended: string[] = [];
  const globals: string[] = [];
  const words: string[] = [];
  const ours: string[] = ["--lang", "systemtap"];
  const folders: string[] = [];
  const settings = new Map<string, string>();
  let last = 5;
  let list: { readonly pattern: string; readonly verbose: boolean } | undefined;

  const take = (letter: string, value: string): void => {
    switch (letter) {
      case "e":
        script.push(value);
        return;
      case "E":
        appended.push(value);
        return;
      case "c":
      case "o":
        ours.push(`-${letter}`, value);
        return;
      case "x":
        ours.push("--target", value);
        return;
      case "l":
      case "L":
        list = { pattern: value, verbose: letter === "L" };
        return;
      case "G":
        if (!/^[A-Za-z_]\w*=/.test(value)) throw new UsageError(commands.stapGlobal(value));
        globals.push(`--${value}`);
        return;
      case "p":
        if (!/^[1-5]$/.test(value)) throw new UsageError(commands.stapPass(value));
        last = Number(value);
        return;
      case "T":
        if (!/^\d+$/.test(value) || value === "0") throw new UsageError(commands.stapSeconds(value));
        ours.push("--for", `${value}s`);
        return;
      case "I":
        folders.push(value);
        return;
      case "D": {
        const [, name = "", number] = /^(\w+)(?:=(.*))?$/.exec(value) ?? [];
        if (limits.has(name) && /^\d+$/.test(number ?? "")) settings.set(name, number ?? "");
        else tell(`stap: -D ${value} has no effect: ${without["D"]}\n`);
        return;
      }
      default:
        tell(`stap: -${letter} has no effect: ${without[letter] ?? "it has no meaning here"}\n`);
    }
  };
  const flag = (letter: string): void => {
    if (letter === "g") ours.push("--unsafe");
    else if (letter === "w") ours.push("--no-warnings");
    else if (letter === "v") ours.push("-v");
    else if (letter === "t") ours.push("--stats");
    else if (letter === "h")
      print("usage: strobe stap [options] SCRIPT [arguments] (docs/systemtap.md lists the options)\n");
    else if (letter === "V") print(`strobe v${version}, for scripts in SystemTap's language\n`);
    else if (!"qW".includes(letter)) take(letter, "");
  };

  for (let at = 0; at < argv.length; at++) {
    const word = argv[at];
    if (word === "--") {
      words.push(...argv.slice(at + 1));
      break;
    }
    if (word === "--version" || word === "--help") {
      flag(word === "--help" ? "h" : "V");
      return 0;
    }
    if (word.startsWith("--")) {
      if (word.startsWith("--dump-functions")) return (await import("./stap-list.ts")).dumpFunctions();
      if (word === "--dump-probe-types") return (await import("./stap-list.ts")).dumpTypes();
      if (/^--(?:example|language-server|remote|use-server)(?:=|$)/.test(word))
        throw new UsageError(commands.stapNotThere(word, instead[/^--[a-z-]*/.exec(word)![0]] ?? ""));
      if (word === "--dump-probe-aliases") return (await import("./stap-list.ts")).dumpAliases();
      if (!withoutLong.test(word)) throw new UsageError(commands.stapUnknownOption(word));
      const why = without[word.replace(/=.*/, "")] ?? "it has no meaning here";
      tell(`stap: ${word} has no effect: ${why}\n`);
      if (withoutValued.test(word)) at++;
      continue;
    }
    if (!word.startsWith("-") || word === "-") {
      words.push(word);
      continue;
    }
    for (let i = 1; i < word.length; i++) {
      const letter = word[i];
      if (valued.includes(letter)) {
        const value = i + 1 < word.length ? word.slice(i + 1) : argv[++at];
        if (value === undefined) throw new UsageError(commands.stapRequiresArgument(letter));
        take(letter, value);
        break;
      }
      if (!plain.includes(letter)) throw new UsageError(commands.stapUnknownLetter(letter));
      flag(letter);
      if (letter === "h" || letter === "V") return 0;
    }
  }
  if (list !== undefined) return (await import("./stap-list.ts")).listPoints(list.pattern, list.verbose);
  if (script.length === 0 && words.length === 0 && appended.length > 0) script.push(appended.pop()!);
  if (script.length > 0) ours.push("-e", script.join("\n"));
  const given = [...ours, ...(script.length > 0 ? [] : words.splice(0, 1)), "--", ...words, ...globals];
  // Passes up to the fourth make what the fifth runs.
  const library = folders.length === 0 ? undefined : (await import("./stap-libraries.ts")).readLibraries(folders);
  const added = appended.length === 0 ? {} : { appended: appended.join("\n") };
  if (last < 5) {
    if (last === 1) settings.set("pass", "1");
    return (await import("./check.ts")).checkFiles(given, library, { settings, ...added });
  }
  const options = readOptions(given);
  return {
    ...options,
    ...(settings.size === 0 ? {} : { settings }),
    ...(library === undefined ? {} : { library }),
    // SystemTap says nothing where all is well.
    announces: false,
    ...added,
  };
}
