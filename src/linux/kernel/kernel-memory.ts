// The kernel's own memory, as /proc/kcore shows it: an ELF core file whose segments are the kernel's mappings.
import { closeSync, openSync, readSync } from "node:fs";
import { Failure, type Reason } from "../../base/failure.ts";
import { machineReasons, kernelImageReasons } from "../../messages/on-demand.ts";

const KCORE = "/proc/kcore";
const PT_LOAD = 1;
const HEADER = 64;
const PROGRAM_HEADER = 56;

interface Segment {
  readonly address: bigint;
  readonly size: bigint;
  readonly offset: bigint;
}

/** Reads `length` bytes at an address of the kernel; or says why that cannot be. */
export function readKernelMemory(address: bigint, length: number): Buffer | Failure {
  let fd: number;
  try {
    fd = openSync(KCORE, "r");
  } catch (error) {
    return new Failure(whyNot(error));
  }
  try {
    for (const segment of segments(fd)) {
      const within = address - segment.address;
      if (within < 0n || within + BigInt(length) > segment.size) continue;
      const bytes = Buffer.alloc(length);
      return readSync(fd, bytes, 0, length, segment.offset + within) === length
        ? bytes
        : new Failure(machineReasons().lessThanSaid(KCORE));
    }
    return new Failure(machineReasons().noAddress(KCORE, address));
  } catch (error) {
    return new Failure(whyNot(error));
  } finally {
    closeSync(fd);
  }
}

function segments(fd: number): Segment[] {
  const header = Buffer.alloc(HEADER);
  if (readSync(fd, header, 0, HEADER, 0) < HEADER || header.readUInt32BE(0) !== 0x7f454c46) return [];
  const count = header.readUInt16LE(56);
  const table = Buffer.alloc(count * PROGRAM_HEADER);
  const got = readSync(fd, table, 0, table.length, header.readBigUInt64LE(32));
  const found: Segment[] = [];
  for (let at = 0; at + PROGRAM_HEADER <= got; at += PROGRAM_HEADER) {
    if (table.readUInt32LE(at) !== PT_LOAD) continue;
    found.push({
      offset: table.readBigUInt64LE(at + 8),
      address: table.readBigUInt64LE(at + 16),
      size: table.readBigUInt64LE(at + 32),
    });
  }
  return found;
}

function whyNot(error: unknown): Reason {
  if (!(error instanceof Error && "code" in error)) throw error;
  switch (error.code) {
    case "ENOENT":
      return kernelImageReasons().noMemoryFile(KCORE);
    case "EACCES":
    case "EPERM":
      return kernelImageReasons().memoryFileClosed(KCORE);
    default:
      return kernelImageReasons().memoryFileUnreadable(KCORE, error.message);
  }
}
