// `strobe boot`: a script's events from the kernel's first steps on. Before: a boot configuration that makes them, as text
// or at the end of an initial RAM disk. After: what was written there is handled, and all of it removed.
import { availableParallelism } from "node:os";
import { compileScript } from "../api/compile.ts";
import { Failure } from "../base/failure.ts";
import {
  bootCommandLine,
  bootConfigText,
  bootInstance,
  bootPlan,
  type BootPlan,
  type BootSettings,
} from "../compiler/tracefs/boot-lines.ts";
import type { HostProgram } from "../compiler/plan.ts";
import { lifeEvents } from "../compiler/tracefs/tracefs-plan.ts";
import { changeBootConfig } from "../linux/kernel/boot-config.ts";
import { lazy } from "../base/lazy.ts";
import { kernelConfiguration } from "../linux/kernel/configuration.ts";
import { hasHistograms } from "../linux/kernel/tracefs.ts";
import { during, print, tell } from "./files.ts";
import { readOptions, type Options } from "./options.ts";
import { showDiagnostics } from "./run.ts";
import { compileOptions, readScript } from "./script.ts";
import { commands } from "../messages/commands.ts";
import { UsageError } from "./usage-error.ts";
import { attempts, runReasons } from "../messages/on-demand.ts";
import { RunError } from "../base/run-error.ts";

const flights = lazy<typeof import("./flight.ts")>(() => require("./flight.ts"));

/** What is done; options of a script stand beside. */
interface Asked {
  readonly flags: ReadonlySet<string>;
  readonly files: ReadonlyMap<string, string>;
  readonly rest: readonly string[];
}

/** Gives the exit code, or the script that is to run over what was traced. */
export function boot(argv: readonly string[]): number | Options {
  if (argv.includes("--flight")) return flights().flight(argv.filter((word) => word !== "--flight"));
  const { flags, files, rest } = asked(argv);
  const removed = files.get("--remove-from");
  if (removed !== undefined) {
    change(removed, withoutOurs);
    return 0;
  }
  const options = readOptions(rest);
  const { pid, only, command } = options;
  if (pid !== undefined || only !== undefined || command !== undefined)
    throw new UsageError(commands.bootWithoutProcesses());
  const compiled: Options = { ...options, engine: "tracefs" };
  if (flags.has("--collect"))
    return { ...compiled, boot: flags.has("--cmdline") ? "top-level" : "instances", bootLive: flags.has("--live") };
  const made = plannedAtBoot(compiled);
  if (made === undefined) return 1;
  const { plan, settings, hosts } = made;
  sayWhatWaits(plan, hosts);
  if (plan.events.length === 0) throw new UsageError(commands.bootNothing());
  if (flags.has("--check")) return checked(plan, flags.has("--cmdline"));
  if (flags.has("--cmdline")) print(`${bootCommandLine(plan, settings).join(" ")}\n`);
  else {
    const text = bootConfigText(plan, settings);
    const disk = files.get("--append-to");
    if (disk === undefined) print(text);
    else {
      change(disk, (old) => `${withoutOurs(old) ?? ""}${begin}${text}${end}`);
      tell(`${disk} has the boot configuration now: the kernel takes it with "bootconfig" on its command line\n`);
    }
  }
  return 0;
}

function change(disk: string, to: (old: string | undefined) => string | undefined): void {
  try {
    during(
      () => attempts().changeFile(disk),
      () => changeBootConfig(disk, to),
    );
  } catch (error) {
    if (error instanceof RunError) throw new UsageError(commands.diskNotChanged(disk, error.message));
    throw error;
  }
}

function asked(argv: readonly string[]): Asked {
  const flags = new Set<string>();
  const files = new Map<string, string>();
  const rest: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const [word, value] = argv[i].startsWith("--") ? (argv[i].split(/=(.*)/s) as [string, string?]) : [argv[i]];
    if (argv[i] === "--") {
      rest.push(...argv.slice(i));
      break;
    }
    if (["--cmdline", "--check", "--collect", "--live"].includes(argv[i])) flags.add(argv[i]);
    else if (word === "--append-to" || word === "--remove-from") {
      const file = value ?? argv[++i];
      if (file === undefined) throw new UsageError(commands.bootNeedsDisk(word));
      files.set(word, file);
    } else rest.push(argv[i]);
  }
  if (files.size + Number(flags.has("--check")) + Number(flags.has("--collect")) > 1)
    throw new UsageError(commands.bootOneThing());
  if (flags.has("--live") && !flags.has("--collect")) throw new UsageError(commands.bootLiveCollects());
  return { flags, files, rest };
}

interface Planned {
  readonly plan: BootPlan;
  readonly settings: BootSettings;
  readonly hosts: readonly HostProgram[];
}

/** Of the buffers of all CPUs together: whole events, and what tells of threads. */
const roomier = 4;
const livesBytes = 1 << 20;
/** Of a CPU. */
const fewestBytes = 1 << 18;

function plannedAtBoot(options: Options): Planned | undefined {
  const { source, positional, language } = readScript(options);
  const given = { ...compileOptions(options), atBoot: true, language, positional, named: options.named };
  const compiled = compileScript(source, given);
  showDiagnostics(compiled.program.source, compiled, options);
  const { plan, machine } = compiled;
  const cpus = availableParallelism();
  if (plan?.tracefs === undefined) return undefined;
  return {
    plan: bootPlan(plan.tracefs, {
      tracepoint: (category, name) => machine.tracepoint(category, name),
      // A command line has no triggers.
      histograms: hasHistograms(),
    }),
    settings: {
      bufferBytes: Math.max(fewestBytes, (plan.config.ringBytes * roomier) / cpus),
      livesBytes: Math.max(fewestBytes, livesBytes / cpus),
      lives: lifeEvents,
      stacks: plan.tracefs.stacks,
      title: `strobe boot ${source.name}`,
    },
    hosts: plan.hosts,
  };
}

function sayWhatWaits({ waits }: BootPlan, hosts: readonly HostProgram[]): void {
  for (const { probe, why } of waits) tell(`${probe} waits for user space: ${why}\n`);
  for (const { once, provider, sites } of hosts) {
    if (once !== undefined) tell(`${once} runs when the answers are collected\n`);
    else tell(`${sites.at(0)?.name ?? provider} does not fire: the answers are collected at once\n`);
  }
}

const needed = {
  config: ["CONFIG_BOOT_CONFIG", "CONFIG_BOOTTIME_TRACING"],
  line: ["CONFIG_EVENT_TRACING"],
  kprobes: "CONFIG_KPROBE_EVENTS",
};

/** Whether the running kernel would take it: 0, or 1 with what is missing. */
function checked({ events }: BootPlan, cmdline: boolean): number {
  const configuration = kernelConfiguration();
  if (configuration instanceof Failure) throw new RunError(runReasons().configurationUnknown(configuration.reason));
  const wanted = [
    ...(cmdline ? needed.line : needed.config),
    ...(events.some(({ definition }) => definition !== undefined) ? [needed.kprobes] : []),
  ];
  const missing = wanted.filter((name) => configuration.get(name) !== "y");
  for (const { group, name } of events) print(`${group}:${name}\n`);
  if (missing.length === 0) return 0;
  tell(
    `this kernel was built without ${missing.join(", ")}${cmdline || missing.includes(needed.kprobes) ? "" : ": --cmdline writes parameters for it"}\n`,
  );
  return 1;
}

// ── what is ours in a boot configuration ──

const begin = `# begin of ${bootInstance}\n`;
const end = `# end of ${bootInstance}\n`;

/** Undefined where nothing else is left. */
function withoutOurs(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  const rest = from < 0 || to < from ? text : text.slice(0, from) + text.slice(to + end.length);
  if (rest.trim() === "") return undefined;
  return rest.endsWith("\n") ? rest : `${rest}\n`;
}
