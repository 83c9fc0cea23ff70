// Attaching to places in executables and libraries: one uprobe-multi link a file, else a perf event a place. The kernel
// is given the file itself, by a descriptor: what is at the path may be another by now, in which an offset of the first is
// the middle of some instruction.
import { lazy } from "../../base/lazy.ts";
import { linkCreateUprobeMulti } from "../../linux/bpf/bpf.ts";
import { ENOENT, LinuxError } from "../../linux/error.ts";
import { cString } from "../../linux/ffi.ts";
import { openPerfEvent } from "../../linux/perf/perf.ts";
import { pmuReturnBit, pmuType } from "../../linux/kernel/tracefs.ts";
import { isAsRead } from "../../store/seen-files.ts";
import { Attaching, attachToPerfEvent } from "./attachment.ts";
import type { AttachRequest, Attachment } from "../provider.ts";
import { groupBy } from "../resolution.ts";
import { refusalHints, attempts } from "../../messages/on-demand.ts";
import { saidBy, type Reason } from "../../base/failure.ts";

// Loaded for the first place in a file.
const othersFiles = lazy<typeof import("../../linux/others-files.ts")>(() => require("../../linux/others-files.ts"));

/** The same on every architecture. */
const EBADF = 9;
const ESTALE = 116;

/**
 * A place in a file. `semaphore`: file offset of the counter that tells the program somebody is watching; 0 for none.
 */
export interface UserSite {
  readonly path: string;
  readonly offset: bigint;
  readonly semaphore: bigint;
  /** Of a probe on returns: the place itself is where something returns. */
  readonly inPlace?: boolean;
}

export function attachToUserSites(request: AttachRequest, returns: boolean): Attachment {
  const attaching = new Attaching(request);
  if (request.binding.load) {
    const files = groupBy(
      request.sites.map((site, i) => ({ i, ...(site.data as UserSite) })),
      ({ path, inPlace = false }) => `${inPlace} ${path}`,
    );
    for (const members of files.values()) {
      const [{ path, inPlace = false }] = members;
      attaching.together(
        members.map(({ i }) => i),
        (sites, cookies) => {
          const places = sites.map((site) => site.data as UserSite);
          const semaphores = places.some(({ semaphore }) => semaphore !== 0n)
            ? { refCtrOffsets: places.map(({ semaphore }) => semaphore) }
            : {};
          return inFile(path, (file) =>
            linkCreateUprobeMulti(request.program, {
              path,
              file,
              offsets: places.map(({ offset }) => offset),
              ...semaphores,
              cookies,
              isReturn: returns && !inPlace,
              ...(request.pid === undefined ? {} : { pid: request.pid }),
            }),
          );
        },
      );
    }
    return attaching.done();
  }
  const type = pmuType("uprobe");
  return attaching
    .each((site, cookie) => {
      const { path, offset, semaphore, inPlace = false } = site.data as UserSite;
      const returnBit = returns && !inPlace ? 1n << BigInt(pmuReturnBit("uprobe")) : 0n;
      if (type === undefined)
        throw new LinuxError({
          call: "perf_event_open",
          code: 2,
          doing: attempts().attach(site.name),
          hint: refusalHints().noUprobes(),
        });
      const target = request.pid === undefined ? { pid: -1, cpu: 0 } : { pid: request.pid, cpu: -1 };
      // The semaphore's offset is in the upper half of config.
      const event = inFile(path, (file) =>
        openPerfEvent({
          type,
          config: returnBit | (semaphore << 32n),
          config1: cString(`/proc/self/fd/${file}`),
          named: path,
          config2: offset,
          ...target,
        }),
      );
      return attachToPerfEvent(request.program, event, cookie);
    })
    .done();
}

/** `attach` is given a descriptor of the file that was read at the path. */
export function inFile<T>(path: string, attach: (file: number) => T): T {
  const failed = (code: number, hint?: Reason): LinuxError =>
    new LinuxError({ call: "open", code, doing: attempts().attachTo(path), ...(hint === undefined ? {} : { hint }) });
  let file: ReturnType<ReturnType<typeof othersFiles>["placeOfOthersFile"]>;
  try {
    file = othersFiles().placeOfOthersFile(path);
  } catch (error) {
    const { code, errno } = error as NodeJS.ErrnoException;
    if (code === "REFUSED") throw failed(EBADF, saidBy(error));
    if (code === undefined) throw error;
    throw failed(errno === undefined ? ENOENT : -errno);
  }
  try {
    if (!isAsRead(path, file.stat)) throw failed(ESTALE, refusalHints().otherFile());
    return attach(file.descriptor);
  } finally {
    file.close();
  }
}
