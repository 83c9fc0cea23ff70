// What is wrong with a command line about recordings: strobe record, replay, cut, convert, info.
import { usage, type UsageMessage } from "./message.ts";

export const recordingFiles = {
  /** @example strobe info src */
  notRegular: (path: string): UsageMessage => usage(`${path} is no recording: it is no regular file, and no pipe`),
  /**
   * Only of what comes through a pipe.
   * @tested src/cli/piped-bytes.test.ts
   */
  pipedTooLong: (path: string, gigabytes: number): UsageMessage =>
    usage(`${path} has more than ${gigabytes} GB, which are held in memory: keep it in a file`),
  /** @example strobe info package.json */
  noRecording: (path: string): UsageMessage =>
    usage(`${path} is no recording: strobe record -o FILE makes one, and perf.data and trace.dat are read as well`),
  /** Only of a file that another user made. */
  belongsToAnother: (path: string): UsageMessage =>
    usage(`${path} belongs to another user, who could read the recording: remove it, or name another`),
  /** Only of a file with several names. */
  hasOtherNames: (path: string): UsageMessage =>
    usage(`${path} has other names, by which others could read the recording: remove it, or name another`),
  /** Only of what another tool recorded, with --append or strobe convert. */
  notOurs: (path: string): UsageMessage => usage(`${path} is no recording of strobe's`),
  /** Only of what is no regular file: `strobe record -o /dev/null 'tracepoint:sched:*'`. */
  writtenToFile: (path: string): UsageMessage => usage(`a recording is written to a regular file, and ${path} is none`),
  /** Only with --append. */
  ofAnotherMachine: (path: string): UsageMessage =>
    usage(`${path} is of another machine, or of before it was started again: its times are others`),
  /** Only with --append. */
  ofAnotherVersion: (path: string, version: number): UsageMessage =>
    usage(`${path} is of version ${version} of the format: record into another file`),
  /** Only with --append. */
  hasHashes: (path: string): UsageMessage =>
    usage(`${path} has its texts as hashes, whose key is gone: record into another file`),
  /** @example strobe record --all */
  recordHasNoOption: (option: string): UsageMessage => usage(`strobe record has no option ${option}`),
  /** @example strobe record */
  nothingToRecord: (): UsageMessage =>
    usage("nothing to record: name probes, as in strobe record 'tracepoint:sched:*', or a script"),
  /** @example strobe record --stack all 'tracepoint:sched:*' */
  stack: (found: string): UsageMessage => usage(`--stack takes kernel, user or kernel,user, not "${found}"`),
  /** @example strobe record --redact all 'tracepoint:sched:*' */
  redact: (found: string): UsageMessage => usage(`--redact takes strings, not "${found}"`),
  /** @example strobe record --append --ring 30s 'tracepoint:sched:*' */
  appendAndRing: (): UsageMessage => usage("cannot use both --append and --ring"),
  /** @example strobe record --append -c true 'tracepoint:sched:*' */
  appendAndCommand: (): UsageMessage =>
    usage("cannot use both --append and -c: `cpid` is the process that the recording began with"),
  /** @example strobe record --append --redact strings 'tracepoint:sched:*' */
  appendAndRedact: (): UsageMessage =>
    usage("cannot use both --append and --redact: hashes have a key of their own in each run"),
  /** @example strobe record --when 'kprobe:panic' 'tracepoint:sched:*' */
  whenWithoutRing: (): UsageMessage => usage("--when says what a flight recorder is written at: add --ring 30s"),
  /** @example strobe record script.bt -e 'begin { }' */
  oneScript: (): UsageMessage => usage("one script is recorded at a time: a file, or a program behind -e"),
  /** @example strobe replay */
  replayTakes: (): UsageMessage =>
    usage("strobe replay takes a recording's path, and then what strobe takes: -e 'PROGRAM', a script …"),
  /** Only over a recording. */
  forLiveTraces: (option: string): UsageMessage => usage(`${option} is for live traces: a recording is only read`),
  /** @example strobe info */
  infoTakes: (): UsageMessage => usage("strobe info takes a recording's path"),
  /** @example strobe cut --all run.strobe */
  cutHasNoOption: (option: string): UsageMessage => usage(`strobe cut has no option ${option}`),
  /** @example strobe cut run.strobe --to 2s */
  cutTakes: (): UsageMessage =>
    usage("strobe cut takes a recording, --from and --to, and where to: strobe cut run.strobe --to 2s -o part.strobe"),
  /** @example strobe cut run.strobe -o part.strobe */
  cutWants: (): UsageMessage => usage("strobe cut wants --from, --to, or both"),
  /** @example strobe cut run.strobe --from 2s --to 1s -o part.strobe */
  cutBackwards: (): UsageMessage => usage("--from is not before --to"),
  /** @example strobe merge --all a.strobe b.strobe */
  mergeHasNoOption: (option: string): UsageMessage => usage(`strobe merge has no option ${option}`),
  /** @example strobe merge a.strobe -o all.strobe */
  mergeTakes: (): UsageMessage =>
    usage("strobe merge takes two recordings or more, and where to: strobe merge a.strobe b.strobe -o all.strobe"),
  /** Only of a recording that was merged. */
  ofSeveralHosts: (what: string): UsageMessage =>
    usage(`${what} is of one machine, and the recording is of several: convert each before it is merged`),
  /** @example strobe convert run.strobe --to 2s -o trace.dat */
  convertHasNoOption: (option: string): UsageMessage => usage(`strobe convert has no option ${option}`),
  /** @example strobe convert run.strobe */
  convertTakes: (): UsageMessage =>
    usage("strobe convert takes a recording, and where to: strobe convert run.strobe -o trace.dat"),
  /** @example strobe convert run.strobe -o run */
  convertToWhat: (path: string, formats: readonly string[]): UsageMessage =>
    usage(`${path} does not end as a format does: -f says which (${formats.join(", ")})`),
  /** @example strobe convert run.strobe -o run.txt -f text */
  noSuchConversion: (format: string, formats: readonly string[]): UsageMessage =>
    usage(`a recording is not converted to ${format}: ${formats.join(", ")}`),
  /** Only of a recording without stacks. */
  noStacks: (format: string): UsageMessage =>
    usage(`${format} shows stacks, and none were recorded: strobe record --stack kernel,user records them`),
  /** Only of a recording with an event of more bytes than a page of the kernel's ring buffer has. */
  eventTooLong: (bytes: number, most: number): UsageMessage =>
    usage(`an event has ${bytes} bytes, and in a trace.dat ${most} at most`),
  /** Only of a recording of more than 65,000 probes. */
  tooManyProbes: (most: number): UsageMessage => usage(`a trace.dat has ${most} kinds of events at most`),
  /** Only of a damaged recording. */
  noSuchCpu: (cpu: number): UsageMessage => usage(`an event is said to be on CPU ${cpu}`),
};
