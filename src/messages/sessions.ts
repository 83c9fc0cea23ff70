// What was lost, missed or cut while a script ran: warnings that stand among its output.
import type { Reason } from "../base/failure.ts";
import { counted, reason, sessionSays as says, type SessionMessage, type Shown } from "./message.ts";

export const sessions = {
  /** Only of handlers that send more than is read meanwhile, and of more keys than the kernel's histograms have room for. */
  lost: (probe: string, count: number, help: Reason | undefined): SessionMessage =>
    says(`lost ${counted(count, "event")} of ${probe} (${help ?? "a larger perf_rb_pages holds more"})`),
  /** Only of a map with as many entries as it may have. */
  mapFull: (map: string, count: number, declaration: string | undefined): SessionMessage =>
    says(
      `Map full; can't update element: ${counted(count, "update")} of ${map} failed ` +
        `(raise max_map_keys${declaration === undefined ? "" : `, or declare how many entries it has: ${declaration}`})`,
    ),
  /** Only of maps of more than 256 MB, whose entries get their memory one by one. */
  mapWithoutMemory: (map: string, count: number): SessionMessage =>
    says(
      `Can't update element: ${counted(count, "update")} of ${map} failed: the kernel had no memory for a new entry at that moment ` +
        "(ENOMEM; the map was not full: only one of up to 256 MB has its memory from the start)",
    ),
  /** Only of handlers that interrupt each other in one map. */
  mapBusy: (map: string, count: number): SessionMessage =>
    says(
      `Can't update element: ${counted(count, "update")} of ${map} failed: the handler interrupted another one, or was kept waiting, in the same part of the map ` +
        "(EBUSY; one probe for each map avoids that)",
    ),
  /** Only of a loop with more rounds than the kernel lets it have. */
  loopCut: (times: number): SessionMessage =>
    says(
      `the kernel cut this loop short ${times === 1 ? "once" : `${times} times`}: ` +
        "it had as many rounds, or took as long, as a loop may there",
    ),
  /** Only of stacks that are unwound by tables. */
  stacksOfUnknownProcess: (count: number): SessionMessage =>
    says(
      `${counted(count, "stack follows", "stacks follow")} frame pointers only: what the process runs was not known yet`,
    ),
  /** Only of stacks that are unwound by tables. */
  stacksBroken: (count: number): SessionMessage =>
    says(`${counted(count, "stack ends", "stacks end")} early: the memory could not be followed`),
  /** Only of stacks with functions of an interpreter. */
  stacksWithoutFunctions: (count: number): SessionMessage =>
    says(
      `${counted(count, "stack lacks", "stacks lack")} frames of interpreted functions: there is no room for the names of more`,
    ),
  /** Only of events that come while the handler runs, or of calls whose entry was not seen. */
  missed: (probe: string, count: number, why: Shown): SessionMessage =>
    says(`${probe} missed ${counted(count, "event")} (${why ?? "its handler was already running"})`),
  /** Only with `config = { missing_probes = "warn" }`, or where the kernel refuses some of many. */
  notAttached: (probe: string, why: string): SessionMessage => says(`could not attach ${probe}: ${why}`),
  /** Only of files that a traced process opens while a script runs. */
  openedNotProbed: (pid: number, files: string, why: string): SessionMessage =>
    says(`what process ${pid} opened is not probed (${files}): ${why}`),
  /** Only where stacks go through an interpreter whose frames cannot be read. */
  notInStacks: (functions: string, path: string, why: string, help: string): SessionMessage =>
    says(`${functions} functions of ${path} are not shown in stacks: ${why}; ${help}`),
  /** Only where /proc/kallsyms tells no addresses. */
  kernelWithoutNames: (why: string): SessionMessage => says(`kernel functions have no names: ${why}`),
  /** Only over a recording that lost events. `before`: seconds from its beginning. */
  lostInRecording: (what: string, cause: string, before: string): SessionMessage =>
    says(`${what} were lost when they were recorded (${cause}), before ${before} s`),
  /** Only where BPF is refused and tracefs is not. */
  usingTracefs: (): SessionMessage => says("BPF is refused here (EPERM); using tracefs"),
  /** Only with --max-overhead. The rate is a second's; shares are of all CPUs. */
  throttled: (probe: string, rate: string, share: string, limit: string, every: string): SessionMessage =>
    says(
      `${probe} fires ${rate} times a second and takes ${share} of the CPUs (the limit is ${limit}): ` +
        `its handler runs for one event in ${every} now`,
    ),
  /** Only with --max-overhead. */
  detached: (probe: string, rate: string, share: string, limit: string): SessionMessage =>
    says(
      `detached ${probe}: ${rate} events a second take ${share} of the CPUs even without the handler ` +
        `(the limit is ${limit}); its events are not seen any more`,
    ),
  /** Only with --max-overhead, at the end. */
  skipped: (probe: string, count: string): SessionMessage =>
    says(`${count} ${count === "1" ? "event" : "events"} of ${probe} left out to keep within --max-overhead`),
  /** Only of processes that ended before their stacks were named. */
  namelessProcesses: (count: number): SessionMessage =>
    says(
      `addresses of ${counted(count, "process have", "processes have")} no names: the code was not known any more, or not yet, when the process had ended`,
    ),
  /** Only of stacks with functions of an interpreter. */
  namelessFunctions: (count: number): SessionMessage =>
    says(
      `${counted(count, "interpreted function has", "interpreted functions have")} no name: the process's memory did not tell one`,
    ),
  /** Only of scripts that run commands by system(). */
  commandsLeft: (count: number): SessionMessage =>
    says(`${counted(count, "command")} of system() not run: strobe was told to end`),
  /** Only with several processes behind -p. */
  processesGone: (pids: readonly number[]): SessionMessage =>
    says(
      `${counted(pids.length, "process")} of -p ${pids.length === 1 ? "was" : "were"} not there, or had ended: ${pids.join(", ")}`,
    ),
  /** Only where a command that is traced begins in a way that strobe cannot stop. */
  watchedLate: (why: string): SessionMessage =>
    says(`variables are watched some time after the command has begun: ${why}`),
  /** Only of watchpoints on variables of programs that begin later. */
  processesWatchedLate: (name: string, count: number, milliseconds: number): SessionMessage =>
    says(
      `${name}: ${counted(count, "process was", "processes were")} watched from up to ${milliseconds} ms after mapping the file on: what was done until then is not seen`,
    ),
  /** Only of watchpoints on variables of programs that begin later. */
  processesNotWatched: (name: string, count: number): SessionMessage =>
    says(
      `${name}: ${counted(count, "process", "processes")} ended before being watched: nothing of what was done there is seen`,
    ),
  /** Only of watchpoints on variables of programs that begin later. */
  beginningsLost: (name: string, count: number): SessionMessage =>
    says(
      `${name}: processes that began may not be watched: ${counted(count, "record of processes was", "records of processes were")} lost`,
    ),
  /** Only of watch() in handlers. */
  addressesWatchedLate: (count: number, milliseconds: number): SessionMessage =>
    says(
      `${counted(count, "address was", "addresses were")} watched from up to ${milliseconds} ms after watch() on: what was done until then is not seen`,
    ),
  /** Only of watch() in handlers. */
  watchRefused: (count: number): SessionMessage =>
    says(`${counted(count, "call of watch() was", "calls of watch() were")} refused`),
  /** Only of watch() in handlers. */
  watchTooLate: (count: number): SessionMessage =>
    says(`${counted(count, "process", "processes")} had ended before watch() was heard of`),
  /** Only of `strobe boot --collect`. */
  bootTies: (count: number): SessionMessage =>
    says(
      `${counted(count, "event has", "events have")} the time of one on another processor: the clock of a kernel that starts is coarse, and which of them was first is not known`,
    ),
  /** Only on the tracefs engine. */
  threadsUnknown: (count: number): SessionMessage =>
    says(
      count === 1
        ? "1 thread had gone before anybody said whose it was: its pid is the thread's, comm is empty"
        : `${count} threads had gone before anybody said whose they were: their pid is the thread's, comm is empty`,
    ),
  /** Only on the tracefs engine. */
  threadsReused: (count: number): SessionMessage =>
    says(
      `${counted(count, "number of threads was", "numbers of threads were")} given away again: what the kernel counted for both is the later one's`,
    ),
  /** Only on the tracefs engine. */
  histogramsUnread: (count: number): SessionMessage =>
    says(
      count === 1
        ? "1 histogram of the kernel could not be read: its events are missing"
        : `${count} histograms of the kernel could not be read: their events are missing`,
    ),
  /** Only of cat() with a file that cannot be opened. */
  fileNotOpened: (path: string, why: string): SessionMessage => says(`failed to open file '${path}' (${why})`),
  /** Only of cat() with a file that cannot be read. */
  fileNotRead: (path: string, why: string): SessionMessage => says(`failed to read file '${path}' (${why})`),
  /** Only of system() with a command that cannot be run. */
  commandNotRun: (command: string, why: Shown): SessionMessage => says(`could not run "${command}": ${why}`),
  /** Only of system() with a command that a signal ends. */
  commandEnded: (signal: string, why: string | undefined): SessionMessage =>
    says(`command was ended by ${signal}${why === undefined ? "" : `: ${why}`}`),
  /** Only of system() with a command that fails. */
  commandFailed: (status: number): SessionMessage => says(`command exited with code ${status}`),
  /** Only of speculations in D; in DTrace's words. */
  speculationsFailed: (count: number): SessionMessage =>
    says(`dtrace: ${counted(count, "failed speculation")} (no speculative buffer available)`),
  /** Only of speculations in D; in DTrace's words. */
  speculationsDropped: (count: number): SessionMessage => says(`dtrace: ${counted(count, "speculative drop")}`),
};

/** Only of files that a traced process opens while a script runs, behind `what process … opened is not probed`. */
export const sessionReasons = {
  /** Of names that are longer than all that there was room for. */
  largerEntries: (map: string): Reason =>
    reason(`names of its probes are too long for ${map}, whose entries keep the size that they have`),
  tooManyPrograms: (most: number): Reason => reason(`a script that runs has room for ${most} programs`),
};

/** Only where histograms in the kernel are full: behind `lost 5 events of PROBE`. */
export const lossReasons = {
  keysOfHistograms: (): Reason =>
    reason("a larger max_map_keys has room for more keys in the kernel's histogram, 131072 at most"),
  notRecorded: (): Reason => reason("the kernel did not take them: tracing_on is 0, or its buffer has no room"),
  keysOfPairs: (most: number): Reason => reason(`the kernel finds pairs of ${most} keys in a session`),
};
