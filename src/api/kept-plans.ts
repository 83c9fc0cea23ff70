// Plans of scripts that ran before, on disk: the same script needs no compiling the next time, nor what compiles it. A plan is kept
// when all it was made from lasts as long as the running kernel and its modules do.
import { fstatSync, closeSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { Plan } from "../compiler/plan.ts";
import type { Source } from "../language/diagnostic.ts";
import { cacheFolder } from "../linux/cache-folder.ts";
import { runningKernel } from "../linux/running-kernel.ts";
import { onlyStaticEvents } from "../linux/tracefs.ts";
import type { ScriptOptions } from "./compile.ts";
import { fromText, toText } from "./plan-text.ts";

/** Those that ran last. */
const mostKept = 64;
/** In characters; a longer one takes about as long to read as the script to compile. */
const longestPlan = 1 << 20;
const end = "\nend\n";

const folder = (): string => cacheFolder("plans");

/** The place of one script's plan, for what it would be compiled with now. */
export class KeptPlan {
  readonly #path: string;
  /** All that decides what the plan is. */
  readonly #key: string;

  private constructor(kernel: string, script: string) {
    this.#key = `${JSON.stringify(kernel)}\n${script}`;
    this.#path = `${folder()}/${hashOf(script)}`;
  }

  /** `build`: of strobe, another for every change of its code. Undefined where plans do not last. */
  static of(build: string, source: Source, options: ScriptOptions): KeptPlan | undefined {
    const kernel = runningKernel();
    if (kernel === undefined || !onlyStaticEvents()) return undefined;
    const { env = process.env, named, probeFilter, ...others } = options;
    const settings = Object.entries(env).filter(([name]) => /^(BPFTRACE|STROBE)_/.test(name)).sort();
    const parameters = named instanceof Map ? [...named] : Object.entries(named ?? {});
    // Who may do less has a kernel that offers less.
    return new KeptPlan(kernel, JSON.stringify([build, process.geteuid?.(), source, others, parameters, probeFilter?.source, settings]));
  }

  find(): Plan | undefined {
    let file: number | undefined;
    try {
      file = openSync(this.#path, "r");
      const { uid, mode } = fstatSync(file);
      // What is in it will run in the kernel.
      if (uid !== process.geteuid?.() || (mode & 0o022) !== 0) return undefined;
      const text = readFileSync(file, "utf8");
      // Cut short, or zeros, after a power cut.
      if (!text.startsWith(`${this.#key}\n`) || !text.endsWith(end) || text.includes("\0")) return undefined;
      return fromText(text.slice(this.#key.length + 1, -end.length)) as Plan;
    } catch (error) {
      // There is none, or something else in its place.
      if (error instanceof SyntaxError || (error instanceof Error && "code" in error)) return undefined;
      throw error;
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  keep(plan: Plan): void {
    const text = toText(plan);
    if (text.length > longestPlan) return;
    const unfinished = `${this.#path}.${process.pid}`;
    try {
      mkdirSync(folder(), { recursive: true, mode: 0o700 });
      writeFileSync(unfinished, `${this.#key}\n${text}${end}`, { flag: "wx", mode: 0o600 });
      renameSync(unfinished, this.#path);
      tidy();
    } catch {
      // A folder that is not ours to write, a full disk: the next start compiles again.
      rmSync(unfinished, { force: true });
    }
  }

  /** It did not do: it will be compiled anew. */
  forget(): void {
    try {
      rmSync(this.#path, { force: true });
    } catch {
      // Then it was not ours.
    }
  }
}

/** Two of FNV-1a: node:crypto takes some milliseconds to load. The key in the file tells whether it is the right one. */
function hashOf(key: string): string {
  let [a, b] = [0x811c9dc5, 0x01000193];
  for (let i = 0; i < key.length; i++) {
    a = Math.imul(a ^ key.charCodeAt(i), 0x01000193);
    b = Math.imul(b ^ key.charCodeAt(i), 0x85ebca6b);
  }
  return [a, b].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

function tidy(): void {
  const names = readdirSync(folder());
  if (names.length <= mostKept) return;
  const files = names.map((name) => ({ path: `${folder()}/${name}`, time: statSync(`${folder()}/${name}`).mtimeMs }));
  for (const { path } of files.sort((a, b) => b.time - a.time).slice(mostKept)) rmSync(path, { force: true });
}
