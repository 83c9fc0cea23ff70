// Probes in files that a process has not opened yet: which specs can mean such files, and what they mean in one that
// appears.
import { statSync } from "node:fs";
import { posix } from "node:path";
import { InternalError } from "../../base/internal-error.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import type { Argument, Context } from "../../language/context.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import { i64 } from "../../language/types.ts";
import { programOf } from "../../linux/processes/child.ts";
import { namesLibrary } from "../../machine/binaries/live-binary.ts";
import type { Provider, Resolution, ResolveOptions } from "../provider.ts";
import type { Binary, System } from "../../machine/system.ts";
import { wantsVariables } from "../../machine/values/user-variables.ts";
import type { UserSite } from "../attaching/user-attachment.ts";
import { matchesPath } from "../../machine/binaries/binaries.ts";
import { hasWildcard } from "../../machine/wildcard.ts";
import { variableReasons } from "../../messages/on-demand.ts";

/** `"libfoo.so"`, `*`; undefined when a spec names its file by a path, or none: then no other file can be meant. */
export function openTarget(spec: ProbeSpec, provider: Provider, pid: number | undefined): string | undefined {
  if (provider.inFiles === undefined || provider.inFiles.means?.(spec.parts) === false) return undefined;
  const [first = "", ...rest] = spec.parts.map((part) => /^"(.*)"$/s.exec(part)?.[1] ?? part);
  // `usdt::probe`, and with -p `usdt:probe`.
  const target = first === "" || (rest.length === 0 && pid !== undefined) ? "*" : first.replace(/@.*$/s, "");
  return hasWildcard(target) || !target.includes("/") ? target : undefined;
}

/** Whether a file can be meant. */
export function meansFile(target: string, path: string): boolean {
  return hasWildcard(target) ? matchesPath(target, path) : namesLibrary(posix.basename(path), target);
}

/** What a spec means in some files alone, whatever else there is. */
export function resolveIn(
  files: readonly string[],
  spec: ProbeSpec,
  provider: Provider,
  system: System,
  options: ResolveOptions & { readonly pid: number },
): Resolution {
  const narrowed = withFiles(files, system, options.pid);
  return provider.resolve(spec, narrowed, { ...options, missing: "ignore", symbolsOnly: true });
}

/** The machine as if it had these files alone, of a process where one is given. */
export function withFiles(files: readonly string[], system: System, pid?: number): System {
  const only = {
    mappedBinaries: (): readonly string[] => files,
    binary(name: string): Binary | undefined {
      const path = files.find((file) => file === name) ?? files.find((file) => meansFile(name, file));
      return path === undefined ? undefined : system.binary(path, pid);
    },
  };
  return new Proxy(system, {
    get(target, key): unknown {
      if (key === "mappedBinaries" || key === "binary") return only[key];
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}

/** No site yet, and what handlers can see of any: so that the script is checked and its maps are there. */
export function awaiting(
  { name, inFiles }: Provider,
  system: System,
  uses: ReadonlySet<string>,
): Resolution["variants"][number] {
  if (inFiles === undefined) throw new InternalError(`${name} is in no file`);
  const context = inFiles.context(system);
  return {
    context: wantsVariables(uses) ? { ...context, ...comingVariables(uses) } : context,
    provider: name,
    sites: [],
  };
}

/** Variables that nobody knows the types of yet are numbers, which is how most lie in maps. */
function comingVariables(uses: ReadonlySet<string>): Pick<Context, "args" | "variables"> {
  const find = (name: string): Argument => {
    const apart = uses.has(`var.*${name}`) ? { absent: variableReasons().fileNotOpened() } : {};
    return { name, type: i64, fetch: { kind: "constant", value: 0n }, ...apart };
  };
  const named = [...uses].flatMap((use) => /^args\.(.+)$/s.exec(use)?.[1] ?? []).filter((name) => name !== "*");
  return { args: named.map(find), variables: { find, inScope: [], names: () => [] } };
}

/** Places that are known already, whatever path leads there. */
export class KnownPlaces {
  readonly #places = new Set<string>();
  readonly #files = new Map<string, string | undefined>();

  /** True the first time that a site's place is met. */
  add({ name, found = name, data }: SiteRef): boolean {
    const { path, offset } = (data ?? {}) as Partial<UserSite>;
    const file = path === undefined ? undefined : this.#file(path);
    if (file === undefined || offset === undefined) return false;
    // Several lines may begin at one instruction.
    const place = `${file}+${offset} ${found.slice(found.lastIndexOf(":"))}`;
    if (this.#places.has(place)) return false;
    this.#places.add(place);
    return true;
  }

  /** Files may have been replaced since the last time. */
  lookAgain(): void {
    this.#files.clear();
  }

  #file(path: string): string | undefined {
    if (!this.#files.has(path)) {
      const stat = statSync(path, { throwIfNoEntry: false });
      this.#files.set(path, stat === undefined ? undefined : `${stat.dev}:${stat.ino}`);
    }
    return this.#files.get(path);
  }
}

/** The executable that a command runs, and the libraries that it needs, as the loader would find them. */
export function filesOfCommand(command: string, system: System): string[] {
  const name = programOf(command);
  const executable = name === undefined ? undefined : system.binary(name);
  if (executable === undefined) return [];
  const found = new Map([[executable.path, executable]]);
  // Those found are looked through as well.
  for (const binary of found.values()) {
    for (const needed of binary.needed ?? []) {
      const library = system.binary(needed);
      if (library !== undefined) found.set(library.path, library);
    }
  }
  return [...found.keys()];
}
