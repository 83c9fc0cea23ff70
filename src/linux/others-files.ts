// Files that other people can have put there: mapped by their processes, named by them, in their containers. Opening
// one never waits and touches no device, and what was looked at is what is read.
import { closeSync, fstatSync, openSync, readSync, type BigIntStats } from "node:fs";
import { errnoName } from "./error.ts";
import { closeFd, cString, syscall } from "./ffi.ts";
import { refusal, type RefusedFile } from "./refused-files.ts";
import { fileReasons } from "../messages/on-demand.ts";

/** The same on every architecture. */
const OPENAT2 = 437;
const O_RDONLY = 0;
const O_NOCTTY = 0o400;
const O_NONBLOCK = 0o4000;
const O_NOFOLLOW = process.arch === "arm64" ? 0o100000 : 0o400000;
const O_CLOEXEC = 0o2000000;
const O_PATH = 0o10000000;
/** Symbolic links, absolute ones and `..` stay below the folder that the path is in (openat2(2), Linux 5.6). */
const RESOLVE_IN_ROOT = 0x10n;

export interface OthersFile {
  readonly descriptor: number;
  readonly stat: BigIntStats;
}

export interface Demands {
  /** Whose it may be, besides root's; absent: anybody's. */
  readonly owner?: number | undefined;
  /** The path itself is no symbolic link. */
  readonly direct?: boolean;
}

/**
 * Opens a regular file for reading; the descriptor is the caller's. Below /proc/PID/root a path means what it means to that process.
 * @throws RefusedFile, which is kept for `takeRefusals`; Node's error, with its `code`, when it cannot be opened
 */
export function openOthersFile(path: string, { owner, direct = false }: Demands = {}): OthersFile {
  const place = openPlace(path, direct ? O_NOFOLLOW : 0);
  try {
    const stat = fstatSync(place.descriptor, { bigint: true });
    if (!stat.isFile()) throw refusal(path, fileReasons().irregular(kindOf(stat)), stat.isDirectory());
    if (owner !== undefined && stat.uid !== 0n && stat.uid !== BigInt(owner))
      throw refusal(path, fileReasons().ofOtherUser(stat.uid, owner));
    return { descriptor: reopened(place.descriptor, path, stat), stat };
  } finally {
    place.close();
  }
}

/**
 * A regular file where it is, without reading it: for the kernel, by `/proc/self/fd/N`, which no other file can take
 * the place of meanwhile. The caller closes it.
 * @throws as openOthersFile
 */
export function placeOfOthersFile(path: string): OthersFile & { readonly close: () => void } {
  const place = openPlace(path, 0);
  const stat = fstatSync(place.descriptor, { bigint: true });
  if (stat.isFile()) return { ...place, stat };
  place.close();
  throw refusal(path, fileReasons().irregular(kindOf(stat)));
}

/** The bytes of such a file, at most so many. @throws as openOthersFile */
export function readOthersFile(path: string, demands: Demands & { readonly limit: number }): Buffer {
  const { descriptor, stat } = openOthersFile(path, demands);
  try {
    const { limit } = demands;
    const tooLarge = (): RefusedFile => refusal(path, fileReasons().tooLarge(limit >> 20));
    if (stat.size > limit) throw tooLarge();
    // Files of the kernel's own file systems tell no size, and others may grow meanwhile.
    let buffer = Buffer.allocUnsafe(Math.max(Number(stat.size) + 1, 4096));
    for (let length = 0; ;) {
      const got = readSync(descriptor, buffer, length, buffer.length - length, null);
      length += got;
      if (length > limit) throw tooLarge();
      if (got === 0) return buffer.subarray(0, length);
      if (length === buffer.length) buffer = Buffer.concat([buffer], 2 * buffer.length);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Node counts the descriptors that it opens in a worker thread: those are closed by it, and no others. */
interface OpenPlace {
  readonly descriptor: number;
  readonly close: () => void;
}

function openedByNode(descriptor: number): OpenPlace {
  return { descriptor, close: () => closeSync(descriptor) };
}

/** Where it is, without what opening does to a FIFO or a device. */
function openPlace(path: string, flags: number): OpenPlace {
  const inRoot = /^(\/proc\/\d+\/root)\/(.*)$/s.exec(path);
  if (inRoot === null) return openedByNode(openSync(path, O_PATH | O_CLOEXEC | flags));
  const [, root = "", rest = ""] = inRoot;
  const folder = openSync(root, O_PATH | O_CLOEXEC);
  try {
    // struct open_how: flags, mode, resolve
    const how = new BigUint64Array([BigInt(O_PATH | O_CLOEXEC | flags), 0n, RESOLVE_IN_ROOT]);
    const result = syscall(OPENAT2, folder, cString(rest), new Uint8Array(how.buffer), how.byteLength);
    if (result < 0)
      throw Object.assign(new Error(`${errnoName(-result)}: openat2 '${path}'`), { code: errnoName(-result), path });
    return { descriptor: result, close: () => closeFd(result) };
  } finally {
    closeSync(folder);
  }
}

/** The file that is at the place, whatever has the path by now. */
function reopened(place: number, path: string, stat: BigIntStats): number {
  try {
    return openSync(`/proc/self/fd/${place}`, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EAGAIN") throw refusal(path, fileReasons().leased());
    if (code !== "ENOENT") throw error;
  }
  // Without /proc, or of an ended process.
  const descriptor = openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  const { dev, ino } = fstatSync(descriptor, { bigint: true });
  if (dev === stat.dev && ino === stat.ino) return descriptor;
  closeSync(descriptor);
  throw refusal(path, fileReasons().replaced());
}

function kindOf(stat: BigIntStats): string {
  if (stat.isFIFO()) return "a FIFO";
  if (stat.isDirectory()) return "a folder";
  if (stat.isSymbolicLink()) return "a symbolic link";
  if (stat.isSocket()) return "a socket";
  return "a device";
}
