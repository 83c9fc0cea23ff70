// trace_marker: lines of programs among the events of the kernel's tracing (Documentation/trace/ftrace.rst).
import { constants, openSync } from "node:fs";
import { attempts, refusalHints } from "../../messages/on-demand.ts";
import { EACCES, LinuxError } from "../error.ts";
import { tracefsRoot } from "./tracefs.ts";

/** Opened for writing, of an instance or the top-level buffer. @throws LinuxError */
export function openTraceMarker(instance?: string): number {
  const path = `${tracefsRoot()}/${instance === undefined ? "" : `instances/${instance}/`}trace_marker`;
  try {
    return openSync(path, constants.O_WRONLY);
  } catch (error) {
    const { errno = 0 } = error as NodeJS.ErrnoException;
    throw new LinuxError({
      call: "open",
      code: -errno,
      doing: attempts().writePlace(path),
      ...(errno === -EACCES ? { hint: refusalHints().writtenByOthers(path) } : {}),
    });
  }
}
