// A captured stack as frames, for text, JSON and the library alike.
import { isInterpreted } from "../compiler/layouts/unwound-stack.ts";
import { fullStack, type StackType } from "../language/types.ts";
import type { BuildIdFrame, ConsumerServices, Frame } from "../session/events.ts";

/** The stack map that stacks of this type are captured into: its index in the plan. */
export function stackMapOf(type: StackType, { plan }: ConsumerServices): number {
  const unwind = type.unwind === true;
  const buildId = type.mode === "build_id" && !unwind;
  return plan.maps.findIndex(
    ({ stacks }) => stacks?.frames === type.limit && stacks.buildId === buildId && stacks.unwind === unwind,
  );
}

/** Addresses of a stack, innermost first; none when it was lost. Frames of interpreted functions have none. */
export function stackAddresses(type: StackType, id: bigint, services: ConsumerServices): readonly bigint[] {
  return stackWords(type, id, services).filter((word) => !isInterpreted(word));
}

/** Addresses of a stack, and what stands for interpreted frames among them. */
function stackWords(type: StackType, id: bigint, services: ConsumerServices): readonly bigint[] {
  return (services.symbols.stack(id, stackMapOf(type, services)) ?? []).slice(0, type.limit);
}

/** Frames as places in files: what is in no file that has a build id is an address without one. */
export function buildIdFrames(
  type: StackType,
  id: bigint,
  pid: number,
  services: ConsumerServices,
): readonly BuildIdFrame[] {
  const symbols = services.symbols.ofStack?.(id) ?? services.symbols;
  if (type.unwind !== true && symbols.buildIdStack) return symbols.buildIdStack(id, stackMapOf(type, services)) ?? [];
  return stackAddresses(type, id, services).map((address) => {
    const mapping = symbols.code(address, pid);
    return mapping?.buildId === undefined
      ? { buildId: "", offset: address }
      : { buildId: mapping.buildId, offset: address - mapping.start + mapping.offset };
  });
}

export function buildIdText({ buildId, offset }: BuildIdFrame): string {
  return `${buildId} 0x${offset.toString(16)}`;
}

/** What stands behind a stack that has as many frames as are ever kept: there may be more. */
const full: Frame = { address: 0n, mark: `no more than ${fullStack} frames are kept` };

/** Of the frame of a call's last byte, that of the address it returns to: the same one each time. */
function calledFrom(call: Frame, address: bigint): Frame {
  let frame = callers.get(call);
  if (frame?.address !== address) {
    frame = call.offset === undefined ? { ...call, address } : { ...call, address, offset: call.offset + 1 };
    callers.set(call, frame);
  }
  return frame;
}
const callers = new WeakMap<Frame, Frame>();

/**
 * Frames with names, and where debug information is wanted, with inlined copies and places in the source. All but the
 * innermost, and those that a signal came to, are return addresses: the call is the instruction before, which may be
 * the last of its function, so that the address itself already belongs to the next one. What is no code ends the stack,
 * with a mark.
 */
export function stackFrames(type: StackType, id: bigint, pid: number, services: ConsumerServices): readonly Frame[] {
  const { plan } = services;
  const symbols = services.symbols.ofStack?.(id) ?? services.symbols;
  if (type.mode === "build_id")
    return buildIdFrames(type, id, pid, services).map(({ buildId, offset }) => ({
      address: offset,
      ...(buildId === "" ? {} : { buildId }),
    }));
  const asked = plan.config.showDebugInfo || type.mode === "systemtap_lines";
  const withSources = asked && type.space === "user" && symbols.inlined !== undefined;
  const resolve = (address: bigint): readonly Frame[] => {
    if (withSources && symbols.inlined) return symbols.inlined(address, pid);
    return [type.space === "kernel" ? symbols.kernel(address) : symbols.user(address, pid)];
  };
  const words = stackWords(type, id, services);
  const frames: Frame[] = [];
  // Whether the address is where a call returns to.
  let returned = false;
  for (const [depth, address] of words.entries()) {
    if (isInterpreted(address)) {
      const frame = symbols.interpreted?.(address, pid);
      if (frame) frames.push(frame);
      continue;
    }
    const signal: Frame | undefined =
      returned && type.space === "user" ? symbols.signalReturn?.(address, pid) : undefined;
    const found = signal
      ? [signal]
      : !returned
        ? resolve(address)
        : resolve(address - 1n).map((call) => calledFrom(call, address));
    returned = signal === undefined;
    // Code that was compiled for the function whose frame follows has no name of its own.
    if (
      found.every(({ symbol, module }) => symbol === undefined && module === undefined) &&
      depth + 1 < words.length &&
      isInterpreted(words[depth + 1])
    )
      continue;
    frames.push(...found);
    if (found.some(({ mark }) => mark !== undefined)) return frames;
  }
  return words.length < fullStack ? frames : [...frames, full];
}
