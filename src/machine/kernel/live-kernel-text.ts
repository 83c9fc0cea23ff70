// The running kernel's code, function by function: where symbols say that one begins, as the kernel has patched it
// since it started.
import { partsOf, withoutPadding, type CodeRange } from "../../debuginfo/function-ends.ts";
import { decode, hiddenAt } from "../../debuginfo/instructions.ts";
import type { Kallsyms } from "../../linux/kernel/kallsyms.ts";
import { kprobeBlacklist } from "../../linux/kernel/kprobe-blacklist.ts";
import { readKernelMemory } from "../../linux/kernel/kernel-memory.ts";
import type { KernelCode } from "../system.ts";
import { Failure } from "../../base/failure.ts";
import { kernelImageReasons } from "../../messages/on-demand.ts";

/**
 * Bytes of the largest function that is looked at: symbols have no sizes, and behind the last one anything may follow.
 */
const limit = 1 << 17;

export class LiveKernelText {
  readonly #kallsyms: Kallsyms;
  #blacklist: ReturnType<typeof kprobeBlacklist> | undefined;

  constructor(kallsyms: Kallsyms) {
    this.#kallsyms = kallsyms;
  }

  /**
   * Of several functions of a name the one at `address`: whose cold parts are whose is not told then, and they are left
   * out.
   */
  code(name: string, address?: bigint): KernelCode | Failure {
    if (process.arch !== "x64") return new Failure(kernelImageReasons().otherMachine());
    const body = this.#range(name, address);
    if (body instanceof Failure) return body;
    const cold =
      address !== undefined || this.#kallsyms.address(`${name}.cold`) === undefined
        ? body
        : this.#range(`${name}.cold`);
    const ranges = cold instanceof Failure || cold === body ? [body] : [body, ...partsOf(body, [cold])];
    return {
      name,
      ranges,
      forbidden: (place) =>
        (this.#blacklist ??= kprobeBlacklist()).some(({ start, end }) => place >= start && place < end),
      nameAt: (place) => {
        const found = this.#kallsyms.lookup(place);
        return found && { name: found.symbol, offset: found.offset };
      },
    };
  }

  #range(name: string, address = this.#kallsyms.address(name)): CodeRange | Failure {
    if (address === undefined) return new Failure(kernelImageReasons().functionAddress(name));
    const size = (this.#kallsyms.next(address) ?? address) - address;
    if (size <= 0n || size > BigInt(limit)) return new Failure(kernelImageReasons().functionEnd(name));
    const bytes = readKernelMemory(address, Number(size));
    if (bytes instanceof Failure) return new Failure(kernelImageReasons().codeUnreadable(bytes.reason));
    const range: CodeRange = { address, bytes: bytes.subarray(0, withoutPadding(bytes)) };
    const hidden = this.#hidden(range);
    return hidden === undefined ? range : new Failure(kernelImageReasons().probeHides(name, hidden));
  }

  /** Where somebody's kprobe is: a breakpoint, or where the kernel has made it cheaper, a jump to code made for it. */
  #hidden(range: CodeRange): number | undefined {
    const jump = decode(range.bytes).instructions.find(
      ({ flow, target }) =>
        flow === "jump" &&
        target !== undefined &&
        this.#kallsyms.lookup(range.address + BigInt(target))?.symbol.startsWith("kprobe_optinsn_page"),
    );
    return hiddenAt(range.bytes) ?? jump?.offset;
  }
}
