// Places of the kernel that only its debug information knows: source lines, and the copies of functions that were inlined. And
// what a handler sees there: parameters and locals.
import type { SiteRef } from "../language/check/checked.ts";
import type { Context } from "../language/context.ts";
import type { Diagnostic } from "../language/diagnostic.ts";
import type { ProbeSpec } from "../language/program.ts";
import type { KprobeSite } from "./kernel-functions.ts";
import type { Resolution, ResolveOptions } from "./provider.ts";
import { missing, refused, variantsOf, type Variant } from "./resolution.ts";
import type { KernelImage, System } from "./system.ts";
import { placesNamed, placesOfLine, type Places } from "./user-places.ts";
import { withVariables } from "./user-variables.ts";

/** What the handler mentions that no BTF tells. */
export function wantsKernelVariables(uses: ReadonlySet<string>): boolean {
  return uses.has("var") || uses.has("vars");
}

/** `kprobe@FILE:LINE[:COLUMN]`; the parts are `@FILE`, `LINE` and the rest. */
export function kernelLine(spec: ProbeSpec, context: Context, system: System, options: ResolveOptions): Resolution {
  const [file = "", ...rest] = spec.parts;
  const image = kernelImageOf(system);
  if (typeof image === "string") return missing(spec, options, `lines of the kernel are not known: ${image}`);
  return resolution(spec, `${spec.provider}${file}`, placesOfLine(image.binary, file.slice(1), rest), image, context, system, options);
}

/** The copies of a function that was inlined wherever it is called; nothing where debug information knows none. */
export function inlinedKernelFunction(spec: ProbeSpec, name: string, returns: boolean, context: Context, system: System, options: ResolveOptions): Resolution | undefined {
  const image = kernelImageOf(system);
  if (typeof image === "string") return undefined;
  const places = placesNamed(image.binary, name, { cpp: false, inlined: true, returns });
  if ("places" in places && places.places.length === 0) return undefined;
  return resolution(spec, context.provider, places, image, context, system, options);
}

/** A context with what debug information tells of the variables at an address of the running kernel. */
export function withKernelVariables(context: Context, address: bigint, returns: boolean, system: System, options: Pick<ResolveOptions, "uses">): { readonly context: Context; readonly key: string } {
  const image = kernelImageOf(system);
  if (typeof image === "string") return { context: { ...context, variables: image }, key: image };
  const { binary, slide } = image;
  const offset = binary.fileOffset(address - slide);
  if (offset === undefined) return { context: { ...context, variables: `the place is in no code of ${binary.shownPath}: modules have debug information of their own` }, key: "" };
  return withVariables(context, { binary, offset, returns, kernelSlide: slide }, system, options);
}

function kernelImageOf(system: System): KernelImage | string {
  return system.kernelImage?.() ?? "this machine has none";
}

function resolution(spec: ProbeSpec, shown: string, places: Places, { binary, slide }: KernelImage, context: Context, system: System, options: ResolveOptions): Resolution {
  if ("problem" in places) return refused(spec, "name", places.problem, places.help);
  const diagnostics = places.notes.map((note): Diagnostic => ({ severity: "warning", code: "name", span: spec.span, ...note }));
  const variants = new Map<string, Variant>();
  // Several places: the kernel would name the functions that copies are in.
  const named: Context = { ...context, func: "site" };
  for (const { name, offset, func } of places.places) {
    const linked = binary.address(offset);
    if (linked === undefined) continue;
    const address = linked + slide;
    const site: SiteRef = { name: `${shown}:${name}`, func: func ?? name, data: { offset: address } satisfies KprobeSite };
    const seen = options.uses.has("args") || wantsKernelVariables(options.uses) ? withKernelVariables(named, address, false, system, options) : { context: named, key: "" };
    const known = variants.get(seen.key);
    variants.set(seen.key, known === undefined ? { context: seen.context, provider: context.provider, sites: [site] } : { ...known, sites: [...known.sites, site] });
  }
  return { variants: [...variants.values()].flatMap((variant) => (variant.context === "host" ? [variant] : variantsOf(variant.context, variant.sites, options))), diagnostics };
}
