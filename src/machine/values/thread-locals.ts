// Where the current thread has a variable of its own: in the executable's storage, at a fixed distance from the
// thread's pointer, or in a library's, which the C library's vector of the thread leads to.
import type { LibraryThreadLocals } from "../../debuginfo/thread-locals.ts";
import type { Fetch } from "../../language/context.ts";
import { roundUp } from "../../language/layout.ts";
import type { Type } from "../../language/types.ts";
import { displaced, type Seen } from "./locations.ts";
import { hostMachine } from "../contexts/registers.ts";
import type { Binary, System } from "../system.ts";
import { Failure } from "../../base/failure.ts";
import { variableReasons } from "../../messages/on-demand.ts";

/**
 * The address of what is `offset` bytes into a binary's thread-local storage, seen from a place in it; or why it cannot
 * be told.
 */
export function threadLocalAddress(
  { threadLocals }: Binary,
  offset: bigint,
  seen: Seen,
  system: System,
): Fetch | Failure {
  if (threadLocals === undefined) return new Failure(variableReasons().noThreadLocals());
  if (threadLocals instanceof Failure) return threadLocals;
  const pointer = threadPointer(system);
  if (pointer === undefined) return new Failure(variableReasons().threadPointerUntold());
  if (threadLocals.kind === "library") return inLibrary(threadLocals.access, offset, pointer, seen);
  // ELF Handling For Thread-Local Storage: the executable's block is just below the thread pointer (variant II), or
  // above (I).
  const { size, align } = threadLocals;
  const distance = Number(align > 1n ? align : 1n);
  return displaced(
    pointer,
    hostMachine === "arm64" ? BigInt(roundUp(16, distance)) + offset : offset - BigInt(roundUp(Number(size), distance)),
  );
}

/** The current thread's pointer, which the kernel keeps in its task. */
function threadPointer(system: System): Fetch | undefined {
  let type = system.types.find("task_struct", "struct");
  let offset = 0;
  for (const name of hostMachine === "arm64" ? ["thread", "uw", "tp_value"] : ["thread", "fsbase"]) {
    const member: { readonly offset: number; readonly type: Type } | undefined =
      type?.kind === "struct" ? type.members.find((one) => one.name === name) : undefined;
    if (member === undefined) return undefined;
    offset += member.offset;
    ({ type } = member);
  }
  return { kind: "pointed", base: { kind: "task" }, offset, size: 8, signed: false, space: "kernel" };
}

const constant = (value: bigint): Fetch => ({ kind: "constant", value });
const binary = (operator: "+" | "-" | "&" | "^" | ">>" | "<<", left: Fetch, right: Fetch): Fetch => ({
  kind: "binary",
  operator,
  left,
  right,
});
const word = (base: Fetch, offset = 0): Fetch => ({
  kind: "pointed",
  base,
  offset,
  size: 8,
  signed: false,
  space: "user",
});
/** All ones where a number is below zero, else zero. */
const negative = (value: Fetch): Fetch => binary(">>", value, constant(63n));
/** One of two, without a branch: the second where the mask is all ones. */
const either = (first: Fetch, second: Fetch, mask: Fetch): Fetch =>
  binary("^", first, binary("&", binary("^", first, second), mask));

function inLibrary(
  { kind, slot, behind, image }: LibraryThreadLocals,
  offset: bigint,
  pointer: Fetch,
  seen: Seen,
): Fetch | Failure {
  const entry = seen.loaded(slot);
  if (entry instanceof Failure) return entry;
  const near = (distance: Fetch): Fetch => displaced(binary("+", pointer, distance), offset - behind);
  if (kind === "offset") return near(word(entry));
  // A thread has no copy before it first asks for it. Its variable is then what it will begin as: that is in the file,
  // or zero, which reading from address zero gives.
  const fresh = offset < image.size ? seen.loaded(image.address) : constant(0n);
  if (fresh instanceof Failure) return fresh;
  const far = (module: Fetch): Fetch => displaced(inVector(pointer, module, fresh), offset);
  if (kind === "module") return far(word(entry));
  const argument = word(displaced(entry, 8n));
  return either(far(word(argument)), near(argument), negative(argument));
}

/**
 * glibc (sysdeps/x86_64/nptl/tls.h, sysdeps/generic/dl-dtv.h): behind the word at the thread pointer is that of its
 * vector, of 16 bytes a module: the storage's address, -1 for none yet. How many there are stands before it; later ones
 * have none.
 */
function inVector(pointer: Fetch, module: Fetch, fresh: Fetch): Fetch {
  const vector = word(pointer, 8);
  const known = negative(binary("-", binary("-", module, constant(1n)), word(vector, -16)));
  const storage = binary(
    "&",
    {
      kind: "pointed",
      base: vector,
      index: binary("<<", module, constant(1n)),
      scale: 8,
      offset: 0,
      size: 8,
      signed: false,
      space: "user",
    },
    known,
  );
  return either(storage, fresh, negative(binary("-", storage, constant(1n))));
}
