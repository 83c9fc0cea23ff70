// Plans of scripts that ran before, on disk: the same script needs no compiling the next time, nor what compiles it. A
// plan is kept when all it was made from lasts as long as the running kernel, its modules and some files do.
import type { Plan } from "../compiler/plan.ts";
import type { Diagnostic, Source } from "../language/diagnostic.ts";
import { pidNamespace } from "../linux/processes/pid-namespace.ts";
import { dynamicEvents } from "../linux/kernel/tracefs.ts";
import { hostName } from "../linux/kernel/running-kernel.ts";
import { runningKernel } from "../store/boot.ts";
import { KeptFiles } from "../store/kept-files.ts";
import { unchanged, type SeenFile } from "../store/seen-files.ts";
import { nameFor } from "../store/whole.ts";
import type { ScriptOptions } from "./compile.ts";
import { fromText, NotPlain, toText } from "./plan-text.ts";
import { lazy } from "../base/lazy.ts";

const kept = new KeptFiles({ folder: "plans", names: /^[0-9a-f]{16}$/, files: 64 });
/** A plan of more takes about as long to write down, and to read, as the script to compile. */
const mostSites = 1000;

/** What settings come from, and where programs, libraries and debug information are looked for. */
const variables = /^(?:BPFTRACE_.*|STROBE_.*|DEBUGINFOD_.*|PATH|LD_LIBRARY_PATH)$/;

/** A plan, and what is to be said of its script every time. */
export interface KnownPlan {
  readonly plan: Plan;
  readonly said?: { readonly source: Source; readonly diagnostics: readonly Diagnostic[] };
}

interface Kept extends KnownPlan {
  readonly files: readonly SeenFile[];
}

// Loaded for a plan that has types of structs.
const decoding = lazy<typeof import("../compiler/plain-plan.ts")>(() => require("../compiler/plain-plan.ts"));

/** Undefined where something in it is no plain data. */
function written(kept: Omit<Kept, "plan"> & { readonly plan: Plan | undefined }): string | undefined {
  if (kept.plan === undefined) return undefined;
  try {
    return toText(kept);
  } catch (error) {
    if (error instanceof NotPlain) return undefined;
    throw error;
  }
}

/** The place of one script's plan, for what it would be compiled with now. */
export class KeptPlan {
  readonly #name: string;
  /** All that decides what the plan is. */
  readonly #key: string;

  /** Of events that come and go: what they are by number is another thing every time. */
  readonly #passing: readonly string[];

  private constructor(kernel: string, script: string, passing: readonly string[]) {
    this.#passing = passing;
    this.#key = `${JSON.stringify(kernel)}\n${script}\n`;
    this.#name = nameFor(script);
  }

  /** `build`: of strobe, another for every change of its code. Undefined where plans do not last. */
  static of(build: string, source: Source, options: ScriptOptions): KeptPlan | undefined {
    const kernel = runningKernel();
    const dynamic = dynamicEvents();
    if (kernel === undefined || dynamic === undefined) return undefined;
    const { env = process.env, named, probeFilter, ...others } = options;
    const settings = Object.keys(env)
      .filter((name) => variables.test(name))
      .sort()
      .map((name) => [name, env[name]]);
    const parameters = named instanceof Map ? [...named] : Object.entries(named ?? {});
    // Who may do less has a kernel that offers less; and numbers of processes are another thing in a container.
    const machine = [build, process.geteuid?.(), pidNamespace()?.inode.toString()];
    // A file more to open: for scripts that ask.
    const host = /\bhostname\b/i.test(source.text) ? hostName() : "";
    // Settings and commands may have passwords in them: they are told by a sum.
    return new KeptPlan(
      kernel,
      JSON.stringify([
        ...machine,
        host,
        source,
        dynamic.lines === "" ? "" : nameFor(dynamic.lines),
        nameFor(
          JSON.stringify([others, parameters, probeFilter?.source, settings], (_, value: unknown) =>
            value instanceof Map ? [...value] : value,
          ),
        ),
      ]),
      dynamic.groups,
    );
  }

  find(): KnownPlan | undefined {
    const text = kept.read(this.#name)?.toString();
    if (!text?.startsWith(this.#key)) return undefined;
    const { files, ...known } = fromText(text.slice(this.#key.length)) as Kept;
    return unchanged(files) ? known : undefined;
  }

  /** `files`: what the plan was made from. */
  keep(known: KnownPlan, files: readonly SeenFile[]): void {
    const { plan } = known;
    if ([...plan.bpf.programs, ...plan.hosts].reduce((sum, { sites }) => sum + sites.length, 0) > mostSites) return;
    const text = written({ ...known, files }) ?? written({ ...known, plan: decoding().plainPlan(plan), files });
    if (text === undefined || this.#passing.some((group) => text.includes(group))) return;
    kept.write(this.#name, this.#key + text);
  }

  /** It did not do: it will be compiled anew. */
  forget(): void {
    kept.remove(this.#name);
  }
}
