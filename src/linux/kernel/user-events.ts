// User events: events that programs define in the kernel's tracing and write themselves, with a word of the program's
// memory that the kernel sets while anybody listens (Documentation/trace/user_events.rst, linux/user_events.h).
import { openSync, statSync } from "node:fs";
import { kernelFeatures, MissingFeature } from "../../base/kernel-features.ts";
import { lazy } from "../../base/lazy.ts";
import { EACCES, EINVAL, ENOENT, LinuxError } from "../error.ts";
import { addressOf, cString, ownMemory, pageSize, SYS, syscall } from "../ffi.ts";
import { refusalHints, attempts } from "../../messages/on-demand.ts";

const runningKernel = lazy<typeof import("./running-kernel.ts")>(() => require("./running-kernel.ts"));

/** _IOWR('*', 0, struct user_reg *) and _IOW('*', 2, struct user_unreg *) */
const DIAG_IOCSREG = 0xc008_2a00;
const DIAG_IOCSUNREG = 0x4008_2a02;
const USER_EVENT_REG_MULTI_FORMAT = 2;

export const EADDRINUSE = 98;
/** Nobody listens any more (user_events_write_core). */
export const EBADF = 9;

/** Where tracefs is; in a container it may be that nothing but this file of it is shown. */
const places = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

let descriptor: number | undefined;
/** A page of words for the kernel to set: a word an event. Never unmapped: the kernel may still write to it. */
let words: Int32Array | undefined;
let used = 0;

export interface UserEventRegistration extends Disposable {
  /** `words[word]` is not 0 while anybody listens. */
  readonly words: Int32Array;
  readonly word: number;
  /** To be put in front of each record, as a u32. */
  readonly index: number;
  /** Gives bytes written, or a negative errno. */
  write(record: Uint8Array, length: number): number;
}

/**
 * Registers an event by the kernel's words: `app_request u64 id; __rel_loc char[] path`. The event is gone when nobody
 * has it registered or listens. `multiFormat`: beside events of its name that have other fields (from Linux 6.9 on).
 * @throws LinuxError; of EADDRINUSE when there is one of this name with other fields
 */
export function registerUserEvent(declaration: string, multiFormat: boolean): UserEventRegistration {
  const fd = (descriptor ??= openData());
  if (words === undefined || used === words.length) {
    words = new Int32Array(ownMemory(pageSize()));
    used = 0;
  }
  const own = words;
  const word = used++;
  const address = BigInt(addressOf(own)) + BigInt(word * 4);
  const text = cString(declaration);
  // struct user_reg { u32 size; u8 enable_bit, enable_size; u16 flags; u64 enable_addr, name_args; u32 write_index; }
  const registration = new DataView(new ArrayBuffer(28));
  registration.setUint32(0, registration.byteLength, true);
  registration.setUint8(5, 4);
  registration.setUint16(6, multiFormat ? USER_EVENT_REG_MULTI_FORMAT : 0, true);
  registration.setBigUint64(8, address, true);
  registration.setBigUint64(16, BigInt(addressOf(text)), true);
  const result = syscall(SYS.ioctl, fd, DIAG_IOCSREG, new Uint8Array(registration.buffer));
  const name = declaration.split(" ", 1)[0];
  if (result < 0)
    throw new LinuxError({
      call: "ioctl(DIAG_IOCSREG)",
      code: -result,
      doing: attempts().registerUserEvent(name),
      ...(result === -EADDRINUSE ? { hint: refusalHints().otherFields() } : {}),
      ...(result === -EINVAL && multiFormat ? { missing: new MissingFeature(kernelFeatures.userEventFormats) } : {}),
    });
  let registered = true;
  return {
    words: own,
    word,
    index: registration.getUint32(24, true),
    write: (record, length) => syscall(SYS.write, fd, record, length),
    [Symbol.dispose]() {
      if (!registered) return;
      registered = false;
      // struct user_unreg { u32 size; u8 disable_bit, reserved; u16 reserved; u64 disable_addr; }
      const end = new DataView(new ArrayBuffer(16));
      end.setUint32(0, end.byteLength, true);
      end.setBigUint64(8, address, true);
      syscall(SYS.ioctl, fd, DIAG_IOCSUNREG, new Uint8Array(end.buffer));
    },
  };
}

function openData(): number {
  for (const place of places) {
    try {
      return openSync(`${place}/user_events_data`, "r+");
    } catch (error) {
      const { code, errno = 0 } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") continue;
      throw new LinuxError({
        call: "open",
        code: -errno,
        doing: attempts().registerUserEvents(),
        ...(errno === -EACCES ? { hint: refusalHints().writtenByOthers(`${place}/user_events_data`) } : {}),
      });
    }
  }
  const mounted = places.some((place) => isThere(`${place}/trace`));
  throw new LinuxError({
    call: "open",
    code: ENOENT,
    doing: attempts().registerUserEvents(),
    ...(mounted
      ? { missing: new MissingFeature(kernelFeatures.userEvents, runningKernel().kernelRelease()) }
      : { hint: refusalHints().notMounted(places[0]) }),
  });
}

function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
