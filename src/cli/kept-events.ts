// Events that lay in buffers of tracefs, as a file: a trace.dat, which strobe replay, trace-cmd and KernelShark read.
import { closeSync, writeSync } from "node:fs";
import { hostname, machine, release } from "node:os";
import { writeTraceDat } from "../recordings/trace-dat-writer.ts";
import type { KeptEvents } from "../session/tracefs/kept-events.ts";
import { createRecording } from "./recording-file.ts";

/** @throws LinuxError, UsageError */
export function writeKept(path: string, { events, ...head }: KeptEvents): void {
  const into = createRecording(path);
  try {
    writeTraceDat(
      { ...head, host: hostname(), kernel: release(), machine: machine() },
      () => events,
      (bytes, at) => {
        for (let done = 0; done < bytes.length;) done += writeSync(into, bytes, done, bytes.length - done, at + done);
      },
    );
  } finally {
    closeSync(into);
  }
}
