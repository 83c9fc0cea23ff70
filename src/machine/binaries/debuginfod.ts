// Debug files from debuginfod servers (https://sourceware.org/elfutils/Debuginfod.html), when $DEBUGINFOD_URLS names
// some.
import { Folder, inFolder } from "../../store/folder.ts";
import { KeptFiles } from "../../store/kept-files.ts";
import { userCache } from "../../store/place.ts";
import { noteElsewhere } from "../../store/seen-files.ts";
import type { SearchPaths } from "../search-paths.ts";

/** How long a server has, in milliseconds: a debug file may have hundreds of megabytes. */
const fetchTime = 300_000;
/** Bytes of one: a kernel's, the largest that there are, has less than one gigabyte. */
const largest = 4 * 2 ** 30;

/** Where there is no cache of debuginfod's own client. */
const inStore = new KeptFiles({ folder: "debuginfod", names: /^[0-9a-f]+$/, files: 256, bytes: 2 * largest });

/**
 * Writes what a URL answers to standard output; run apart, since whoever asks cannot wait for events. The URL comes by
 * standard input: arguments are for all to see, and it may have a password.
 */
const fetchScript = `
  const { createWriteStream, readFileSync } = require("node:fs"), { pipeline } = require("node:stream/promises"), { Readable } = require("node:stream");
  const url = new URL(readFileSync(0, "utf8")), { username, password } = url, headers = { "user-agent": "strobe" };
  if (username || password) {
    headers.authorization = "Basic " + Buffer.from(decodeURIComponent(username) + ":" + decodeURIComponent(password)).toString("base64");
    url.username = url.password = "";
  }
  async function* most(chunks) {
    let left = ${largest};
    for await (const chunk of chunks) {
      if ((left -= chunk.length) < 0) throw new Error("too large");
      yield chunk;
    }
  }
  fetch(url, { headers }).then((answer) => {
    if (!answer.ok) process.exit(answer.status === 404 ? 4 : 1);
    return pipeline(Readable.fromWeb(answer.body), most, createWriteStream("", { fd: 1 }));
  }).catch(() => process.exit(1));`;

/**
 * What `open` makes of the debug file of a build id: of one that was fetched before, or is fetched now. Undefined where
 * no server has one that `open` takes.
 */
export function downloaded<T>(
  id: string,
  { servers = [], downloads }: SearchPaths,
  open: (path: string) => T | undefined,
): T | undefined {
  if (servers.length === 0 || !/^[0-9a-f]{8,}$/.test(id)) return undefined;
  const openKept = (): T | undefined => {
    const path =
      inClients(id, downloads, false, (folder) => folder.open(file, () => `${folder.path}/${file}`)) ??
      inStore.path(id);
    return path === undefined ? undefined : open(path);
  };
  const known = openKept();
  if (known !== undefined) return known;
  noteElsewhere();
  for (const server of servers) {
    const fill = (fd: number): boolean => fetchTo(fd, `${server.replace(/\/$/, "")}/buildid/${id}/debuginfo`);
    const tried = inClients(id, downloads, true, (folder) => {
      folder.replace(file, fill);
      return true;
    });
    if (!tried) inStore.make(id, fill);
    const found = openKept();
    if (found !== undefined) return found;
    // Not what was asked for.
    inStore.remove(id);
  }
  return undefined;
}

/** False where the server has it not, or does not answer. */
function fetchTo(fd: number, url: string): boolean {
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  return (
    spawnSync(process.execPath, ["-e", fetchScript], { input: url, timeout: fetchTime, stdio: ["pipe", fd, "ignore"] })
      .status === 0
  );
}

/** The name of a debug file in the client's folder for its build id. */
const file = "debuginfo";

/**
 * In the cache of debuginfod's own client, so that gdb and others find it there as well; undefined where it is not ours
 * alone. Root has one when it is named: in a home, it may be somebody else's.
 */
function inClients<T>(
  id: string,
  given: string | undefined,
  make: boolean,
  use: (folder: Folder) => T | undefined,
): T | undefined {
  if (!given && process.geteuid?.() === 0) return undefined;
  const cache = given ? { path: given, make: Infinity } : userCache("debuginfod_client");
  return inFolder(() => Folder.open(`${cache.path}/${id}`, make ? cache.make + 1 : 0), use);
}
