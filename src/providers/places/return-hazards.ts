// Functions that must not be returned from through the kernel's trampoline. A uretprobe puts the trampoline's address
// where a call's return address is on the stack; whoever else reads it there, or goes on from it twice, does not
// survive that: unwinders find no function at it (an exception then ends the program), Go's runtime gives up at it, and
// a context that was saved with it leaves through it once more, when the kernel follows that call no longer.
import { callsOthers } from "../../debuginfo/function-ends.ts";
import type { FunctionCode } from "./function-code.ts";
import type { Place } from "./places.ts";
import type { Binary } from "../../machine/system.ts";

/** What may happen at a trampoline, as the end of a sentence about a function. */
export interface ReturnHazard {
  readonly kind: "go" | "exceptions" | "stacks" | "twice" | "uncalled";
  readonly why: string;
}

/**
 * Routines that languages whose exceptions unwind the stack have in their functions' frames, and what raises them: C++,
 * Rust, D, Ada, Objective-C. C's own (for threads that are cancelled) does not count: its functions are not called with
 * anything to throw.
 */
const raising = [
  "__gxx_personality_v0",
  "_Unwind_RaiseException",
  "__cxa_throw",
  "rust_eh_personality",
  "__gdc_personality_v0",
  "_d_eh_personality",
  "__gnat_personality_v0",
  "__objc_personality_v0",
] as const;

/** What leaves one stack for another: of the C library, which has it for others; of Boost.Context, libco and Ruby. */
const [switchingByLibrary, switching] = [
  ["swapcontext", "setcontext"],
  ["jump_fcontext", "co_switch", "coroutine_transfer"],
] as const;

/** Functions that return again to where they returned first. */
const returningTwice = /^(?:_*sig)?_*setjmp$|^_*getcontext$|^_*swapcontext$/;

/**
 * Code that is jumped to, with something else than a return address on the stack: where a program begins (its argc),
 * where the loader binds functions (its own record of the library), where signal handlers return to (the saved
 * context).
 */
const notCalled = /^_start$|^_dl_start_user$|^_dl_runtime_(?:resolve|profile)|^__restore_rt$/;

/** What is known of one binary: asked once, and only where something is to return through a trampoline. */
export class ReturnHazards {
  readonly #binary: Binary;
  #calls: ReturnHazard | "none" | undefined;

  constructor(binary: Binary) {
    this.#binary = binary;
  }

  /**
   * Undefined where a trampoline does no harm that the binary could tell of. `code`: of the function, asked for where
   * it matters.
   */
  of(place: Place, code: () => FunctionCode | undefined): ReturnHazard | undefined {
    const go = this.#goFunctionAt(place.offset);
    if (go !== undefined)
      return {
        kind: "go",
        why: `\`${go}\` is a Go function, and a return trampoline on its stack would crash the program`,
      };
    const name = place.func ?? place.name;
    if (returningTwice.test(name))
      return {
        kind: "twice",
        why: `\`${name}\` returns twice, and the second time a return trampoline would crash the program`,
      };
    if (notCalled.test(name))
      return {
        kind: "uncalled",
        why: `\`${name}\` is jumped to, and a return trampoline would overwrite what the program has on its stack`,
      };
    const hazard = (this.#calls ??= this.#ofCallers() ?? "none");
    if (hazard === "none") return undefined;
    const found = code();
    return found === undefined || callsOthers(found.ranges) ? hazard : undefined;
  }

  #goFunctionAt(offset: bigint): string | undefined {
    const address = this.#binary.go === undefined ? undefined : this.#binary.address(offset);
    // C code that was linked in is none.
    return address === undefined ? undefined : this.#binary.go?.at(address)?.name;
  }

  /** What may happen while a function of this binary waits for one that it called. */
  #ofCallers(): ReturnHazard | undefined {
    const binary = this.#binary;
    const takes = (name: string): boolean => binary.takes?.(name) === true;
    const knows = (name: string): boolean => takes(name) || binary.symbol(name) !== undefined;
    if (raising.some(knows))
      return {
        kind: "exceptions",
        why: "an exception that passes through would end the program at a return trampoline",
      };
    const switched = switchingByLibrary.find(takes) ?? switching.find(knows);
    return switched === undefined
      ? undefined
      : { kind: "stacks", why: `the program changes stacks (\`${switched}\`), and would crash at a return trampoline` };
  }
}
