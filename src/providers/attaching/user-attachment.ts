// Attaching to places in executables and libraries: one uprobe-multi link a file, else a perf event a place.
import { linkCreateUprobeMulti } from "../../linux/bpf/bpf.ts";
import { LinuxError } from "../../linux/error.ts";
import { cString } from "../../linux/ffi.ts";
import { openPerfEvent } from "../../linux/perf/perf.ts";
import { pmuReturnBit, pmuType } from "../../linux/kernel/tracefs.ts";
import { Attaching, attachToPerfEvent } from "./attachment.ts";
import type { AttachRequest, Attachment } from "../provider.ts";
import { groupBy } from "../resolution.ts";

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
          return linkCreateUprobeMulti(request.program, {
            path,
            offsets: places.map(({ offset }) => offset),
            ...semaphores,
            cookies,
            isReturn: returns && !inPlace,
            ...(request.pid === undefined ? {} : { pid: request.pid }),
          });
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
          doing: `attach ${site.name}`,
          hint: "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)",
        });
      const target = request.pid === undefined ? { pid: -1, cpu: 0 } : { pid: request.pid, cpu: -1 };
      // The semaphore's offset is in the upper half of config.
      const event = openPerfEvent({
        type,
        config: returnBit | (semaphore << 32n),
        config1: cString(path),
        config2: offset,
        ...target,
      });
      return attachToPerfEvent(request.program, event, cookie);
    })
    .done();
}
