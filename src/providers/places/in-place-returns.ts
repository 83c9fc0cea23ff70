// Returns that a uretprobe was asked for, where a trampoline would harm the program: seen at the functions' return
// instructions instead, as `ret:` sees them, and said.
import { places as placesMessages } from "../../messages/places.ts";
import type { Diagnostic } from "../../language/diagnostic.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import type { Place } from "./places.ts";
import type { Resolution, ResolveOptions } from "../provider.ts";
import { missing } from "../resolution.ts";
import { ReturnHazards, type ReturnHazard } from "./return-hazards.ts";
import { noReturns, otherEnds, ReturnPlaces, type Ending } from "./return-places.ts";
import type { Binary } from "../../machine/system.ts";

const unsafely = "--unsafe puts a return trampoline there all the same";

/** One spec's. */
export class InPlace {
  readonly #spec: ProbeSpec;
  readonly #endings: Ending[] = [];
  #shownPath = "";
  /** Why, and of how many functions. */
  readonly #hazards = new Map<string, { readonly hazard: ReturnHazard; functions: number }>();
  /** Functions that cannot be probed in place either. */
  readonly #lost: { readonly name: string; readonly why: string }[] = [];

  constructor(spec: ProbeSpec) {
    this.#spec = spec;
  }

  /** The places to probe instead of the functions at these. */
  of(binary: Binary, places: readonly Place[]): readonly Place[] {
    this.#shownPath = binary.shownPath;
    const hazards = new ReturnHazards(binary);
    const returns = new ReturnPlaces(binary);
    return places.flatMap((place) => {
      if (place.inlined !== undefined) return [place];
      const hazard = hazards.of(place, () => returns.ending(place)?.code);
      if (hazard === undefined) return [place];
      const found = binary.machine === "x86-64" ? returns.of(place) : undefined;
      if (found === undefined) {
        this.#lost.push({ name: place.name, why: hazard.why });
        return [];
      }
      const known = this.#hazards.get(hazard.kind);
      if (known === undefined) this.#hazards.set(hazard.kind, { hazard, functions: 1 });
      else known.functions++;
      this.#endings.push(found.ending);
      return found.places;
    });
  }

  /** What to say where nothing can be probed that was asked for; undefined where nothing was asked for. */
  none(options: ResolveOptions): Resolution | undefined {
    const [hazard] = this.#hazards.values();
    if (hazard !== undefined) {
      const refusal = noReturns(this.#spec, options, this.#endings, `ret:${this.#shownPath}:`, unsafely);
      return {
        ...refusal,
        diagnostics: refusal.diagnostics.map((said) => ({
          ...said,
          message: `${hazard.hazard.why}, and ${said.message}`,
        })),
      };
    }
    const [lost] = this.#lost;
    return lost && missing(this.#spec, options, placesMessages.returnsOutOfReach(lost.why, unsafely));
  }

  /** What to say of it. */
  diagnostics(): Diagnostic[] {
    const { span } = this.#spec;
    const said = [...this.#hazards.values()].map(({ hazard, functions }): Diagnostic => ({
      severity: "warning",
      span,
      ...placesMessages.returnsProbedReturnInstructionsRet(
        functions === 1 ? "the function's" : `${functions} functions'`,
        hazard.why,
        hazard.kind === "exceptions"
          ? `a call that ends by an exception does not return, and is not seen; ${unsafely}`
          : unsafely,
      ),
    }));
    const [lost] = this.#lost;
    if (lost !== undefined) {
      said.push({
        severity: "warning",
        span,
        ...placesMessages.functionsLeftOutOne(this.#lost.length, lost.name, lost.why, unsafely),
      });
    }
    return [...said, ...otherEnds(this.#spec, this.#endings, unsafely)];
  }
}
