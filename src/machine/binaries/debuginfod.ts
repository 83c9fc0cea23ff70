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
 * A thread that writes what a URL answers to a file: whoever asks cannot wait for events. (Not a Node of its own: the
 * program that runs this may have no other in it than itself.) What it tells at the end: 1 all is written, 2 it is not.
 */
const fetchScript = `
  const { workerData: { path, state, address } } = require("node:worker_threads");
  const { createWriteStream, openSync } = require("node:fs"), { pipeline } = require("node:stream/promises"), { Readable } = require("node:stream");
  const end = (how) => { Atomics.store(state, 0, how); Atomics.notify(state, 0); };
  async function* most(chunks) {
    let left = ${largest};
    for await (const chunk of chunks) {
      if ((left -= chunk.length) < 0) throw new Error();
      yield chunk;
    }
  }
  async function get() {
    const fd = openSync(path, "w");
    const url = new URL(address), { username, password } = url, headers = { "user-agent": "strobe" };
    if (username || password) {
      headers.authorization = "Basic " + Buffer.from(decodeURIComponent(username) + ":" + decodeURIComponent(password)).toString("base64");
      url.username = url.password = "";
    }
    const answer = await fetch(url, { headers });
    if (!answer.ok) throw new Error(answer.statusText);
    await pipeline(Readable.fromWeb(answer.body), most, createWriteStream("", { fd }));
  }
  get().then(() => end(1), () => end(2));`;

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
function fetchTo(fd: number, address: string): boolean {
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  const state = new Int32Array(new SharedArrayBuffer(4));
  // By the descriptor's name, it opens the file once more: ours may be closed, and its number another's, by its end.
  const workerData = { path: `/proc/self/fd/${fd}`, state, address };
  const worker = new Worker(fetchScript, { eval: true, workerData, execArgv: [], stdout: true, stderr: true });
  worker.unref();
  Atomics.wait(state, 0, 0, fetchTime);
  void worker.terminate();
  return Atomics.load(state, 0) === 1;
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
