// A folder that nobody but root and ourselves can change, held by a descriptor. Every name on the way to it is looked
// at, from the root on, before the next: a name in a folder that others cannot write to, or that is ours or root's in a
// sticky one, means the same from then on, since nobody else can rename it or link something else there.
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  unlinkSync,
  type Stats,
} from "node:fs";
import { folderReasons } from "../messages/on-demand.ts";
import type { Reason } from "../base/failure.ts";

const { O_CREAT, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
/**
 * open(2): a descriptor to look with. Nothing is opened, so that nothing blocks; of a symbolic link it is the link
 * itself.
 */
const O_PATH = 0o10000000;
const STICKY = 0o1000;
const BY_OTHERS = 0o022;
/** As many links as the kernel follows (path_resolution(7)). */
const mostLinks = 40;

/** Somebody else could change a folder, or what is in it. The message says which, and whose it is. */
export class Untrusted extends Error {
  constructor(message: Reason) {
    super(message);
    this.name = "Untrusted";
  }
}

/** Behind the name of a file that is not whole yet. */
export const unfinished = /\.[0-9a-f]{8}\.new$/;

/** A file that is open. */
export interface OpenFile {
  readonly fd: number;
  /** In bytes. */
  readonly size: number;
}

export class Folder implements Disposable {
  /** Absolute, and without links. */
  readonly path: string;
  readonly #fd: number;

  private constructor(path: string, fd: number) {
    this.path = path;
    this.#fd = fd;
  }

  /**
   * The folder at an absolute path, which is our own. What is missing of the last `make` names of the path is made, for us alone.
   * @throws Untrusted, or what the kernel says of the path
   */
  static open(path: string, make = 0, links = 0): Folder {
    if (!path.startsWith("/")) throw new Untrusted(folderReasons().notAbsolute(path));
    const names = path.split("/").filter((name) => name !== "" && name !== ".");
    let stat = lstatSync("/");
    let way = "";
    for (const [i, name] of names.entries()) {
      checkPassed(stat, way || "/");
      if (name === "..") {
        way = way.slice(0, Math.max(way.lastIndexOf("/"), 0));
        stat = lstatSync(way || "/");
        continue;
      }
      const left = names.length - i;
      const next = `${way}/${name}`;
      const look = byOthers(stat) ? lookWhereAllCanWrite : lookAt;
      if (left <= make && look(way || "/", next) === undefined) makeFolder(next);
      stat = look(way || "/", next) ?? missing(next);
      if (stat.isSymbolicLink()) {
        checkOwner(stat, `the link ${next}`);
        if (links === mostLinks) throw new Untrusted(folderReasons().tooManyLinks(path));
        const target = readlinkSync(next);
        const rest = names
          .slice(i + 1)
          .map((each) => `/${each}`)
          .join("");
        return Folder.open(
          (target.startsWith("/") ? target : `${way}/${target}`) + rest,
          Math.min(make, left - 1),
          links + 1,
        );
      }
      way = next;
    }
    const fd = openSync(way || "/", O_PATH | O_NOFOLLOW);
    try {
      checkOwn(fstatSync(fd), path);
      return new Folder(way || "/", fd);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /**
   * What `use` makes of a file; undefined where there is none, or none of ours: links, FIFOs, devices, folders and what
   * others may write are not even opened, or closed unread.
   */
  open<T>(name: string, use: (file: OpenFile) => T): T | undefined {
    // Most often there is none, and an error takes Node long to make.
    if (!this.stat(name)?.isFile()) return undefined;
    const fd = openSync(within(this.#fd, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    try {
      const stat = fstatSync(fd);
      return stat.isFile() && stat.uid === process.geteuid?.() && !byOthers(stat)
        ? use({ fd, size: stat.size })
        : undefined;
    } finally {
      closeSync(fd);
    }
  }

  /**
   * A file as `fill` writes it, in the place of what had its name; nothing changes when it says no. Under the name
   * there is always a whole file: the old one, or this. @throws what the kernel says
   */
  replace(name: string, fill: (fd: number) => boolean, mode = 0o600): void {
    // Processes of several containers may have one number: names are random.
    const fresh = `${name}.${Math.floor(Math.random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0")}.new`;
    const path = within(this.#fd, fresh);
    const fd = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    let done = false;
    try {
      if (fill(fd)) {
        renameSync(path, within(this.#fd, name));
        done = true;
      }
    } finally {
      closeSync(fd);
      if (!done) this.remove(fresh);
    }
  }

  remove(name: string): void {
    try {
      unlinkSync(within(this.#fd, name));
    } catch {
      // There is none; or another strobe was faster.
    }
  }

  names(): string[] {
    return readdirSync(within(this.#fd, "."));
  }

  /** Of the file itself, if it is a link; undefined when there is none. */
  stat(name: string): Stats | undefined {
    return lstatSync(within(this.#fd, name), { throwIfNoEntry: false });
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}

/** What `use` makes of a folder that is open meanwhile; undefined where it cannot be had, or is not ours alone. */
export function inFolder<T>(open: () => Folder, use: (folder: Folder) => T): T | undefined {
  let folder: Folder | undefined;
  try {
    folder = open();
    return use(folder);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return undefined;
  } finally {
    folder?.[Symbol.dispose]();
  }
}

/** What the kernel, or a check of ours, refused; anything else is a mistake of strobe's. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Untrusted || (error instanceof Error && "code" in error);
}

/**
 * Node has no openat(2) and its like; what is below a descriptor's name in /proc is looked up in the folder that it
 * stands for.
 */
function within(fd: number, name: string): string {
  return `/proc/self/fd/${fd}/${name}`;
}

function lookAt(_folder: string, path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/**
 * Where all can write, a user can mount a file system of their own (fuse(4)), which answers what they like, or never.
 * It is asked nothing: a descriptor for looking tells its mount by itself (proc_pid_fdinfo(5)).
 */
function lookWhereAllCanWrite(folder: string, path: string): Stats | undefined {
  const opened: number[] = [];
  try {
    const [outer, inner] = [folder, path].map((each) => {
      const fd = openSync(each, O_PATH | O_NOFOLLOW);
      opened.push(fd);
      return /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1];
    });
    if (outer !== inner) throw new Untrusted(folderReasons().mountedInOpen(path));
    return fstatSync(opened[1]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

/** Unless it is there already: another strobe was faster. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, 0o700);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function missing(path: string): never {
  throw new Untrusted(folderReasons().missing(path));
}

/** Not by the owner alone. */
export function byOthers({ mode }: Stats): boolean {
  return (mode & BY_OTHERS) !== 0;
}

/**
 * A folder on the way. What is root's or ours in a sticky folder is left alone by others, who may put theirs beside it.
 */
function checkPassed(stat: Stats, path: string): void {
  checkOwner(stat, path);
  if (byOthers(stat) && (stat.mode & STICKY) === 0) throw new Untrusted(folderReasons().writable(path));
}

function checkOwner({ uid }: Stats, path: string): void {
  if (uid !== 0 && uid !== process.geteuid?.()) throw new Untrusted(folderReasons().ofOtherUser(path, uid));
}

function checkOwn(stat: Stats, path: string): void {
  if (!stat.isDirectory()) throw new Untrusted(folderReasons().noFolder(path));
  if (stat.uid !== process.geteuid?.()) throw new Untrusted(folderReasons().ofOtherUser(path, stat.uid));
  if (byOthers(stat)) throw new Untrusted(folderReasons().writable(path));
}
