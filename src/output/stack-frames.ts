// A captured stack as frames, for text, JSON and the library alike.
import type { StackType } from "../language/types.ts";
import type { ConsumerServices, Frame } from "../session/events.ts";

/** The stack map that stacks of this type are captured into: its index in the plan. */
export function stackMapOf(type: StackType, { plan }: ConsumerServices): number {
  const buildId = type.mode === "build_id";
  const unwind = type.unwind === true;
  return plan.maps.findIndex(({ storage }) => (
    storage.kind === "stacks" && storage.frames === type.limit && storage.buildId === buildId && (storage.unwind ?? false) === unwind));
}

/** Addresses of a stack, innermost first; none when it was lost. */
export function stackAddresses(type: StackType, id: bigint, services: ConsumerServices): readonly bigint[] {
  return (services.symbols.stack(id, stackMapOf(type, services)) ?? []).slice(0, type.limit);
}

/**
 * Frames with names, and where debug information is wanted, with inlined copies and places in the source. All but the innermost are return addresses: the call is the instruction before, which may be the last of
 * its function, so that the address itself already belongs to the next one.
 */
export function stackFrames(type: StackType, id: bigint, pid: number, services: ConsumerServices): readonly Frame[] {
  const { symbols, plan } = services;
  const withSources = plan.config.showDebugInfo && type.space === "user" && symbols.inlined !== undefined;
  const resolve = (address: bigint): readonly Frame[] => {
    if (withSources && symbols.inlined) return symbols.inlined(address, pid);
    return [type.space === "kernel" ? symbols.kernel(address) : symbols.user(address, pid)];
  };
  return stackAddresses(type, id, services).flatMap((address, depth) => {
    if (depth === 0) return resolve(address);
    return resolve(address - 1n).map((caller) => (
      caller.offset === undefined ? { ...caller, address } : { ...caller, address, offset: caller.offset + 1 }));
  });
}
