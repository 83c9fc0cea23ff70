// What strobe was doing when the kernel refused a call
import type { Reason } from "../base/failure.ts";
import { reason } from "./message.ts";

/** Only where the kernel refuses a call: behind "cannot", with the call and the error's name behind it. */
export const attempts = {
  // memory and descriptors
  mapMemory: (bytes: number): Reason => reason(`map ${bytes} bytes`),
  mapMap: (bytes: number): Reason => reason(`map ${bytes} bytes of a BPF map`),
  reserveAddresses: (bytes: number): Reason => reason(`reserve ${bytes} bytes of addresses`),
  bindDescriptor: (): Reason => reason("bind a descriptor to its thread"),
  makePipe: (): Reason => reason("make a pipe"),
  waitForDescriptors: (): Reason => reason("wait for several descriptors"),
  // files
  readFile: (path: string): Reason => reason(`read ${path}`),
  readFolder: (path: string): Reason => reason(`read the folder ${path}`),
  changeFile: (path: string): Reason => reason(`change ${path}`),
  writeTo: (path: string): Reason => reason(`write to "${path}"`),
  writeOutput: (): Reason => reason("write the output"),
  writePlace: (place: string): Reason => reason(`write ${place}`),
  writeCapture: (path: string): Reason => reason(`write the capture file ${path}`),
  // processes
  watchProcess: (pid: number): Reason => reason(`watch process ${pid}`),
  stopCommand: (): Reason => reason("stop the command as it begins"),
  waitForCommand: (): Reason => reason("wait for the command to begin"),
  tellServiceManager: (state: string, socket: string): Reason =>
    reason(`tell the service manager "${state}" (NOTIFY_SOCKET=${socket})`),
  // bpf(2)
  createMap: (name: string, size: string): Reason => reason(`create the map "${name}" (${size})`),
  loadProgram: (name: string): Reason => reason(`load the program "${name}"`),
  loadTypes: (): Reason => reason("load type information"),
  readEntry: (): Reason => reason("read a map entry"),
  writeEntry: (): Reason => reason("write a map entry"),
  writeEntries: (): Reason => reason("write map entries"),
  deleteEntry: (): Reason => reason("delete a map entry"),
  walkMap: (): Reason => reason("walk a map"),
  readMap: (): Reason => reason("read a map"),
  testProgram: (): Reason => reason("run a program for a test"),
  openProgram: (id: number): Reason => reason(`open the BPF program ${id}`),
  askAboutObject: (): Reason => reason("ask about a BPF object"),
  countRuns: (): Reason => reason("count runs of programs"),
  attachTracing: (): Reason => reason("attach a tracing program"),
  attachRawTracepoint: (name: string): Reason => reason(`attach to the raw tracepoint ${name}`),
  attachToPerfEvent: (): Reason => reason("attach a program to a perf event"),
  attachToPlaces: (places: number, path: string): Reason => reason(`attach to ${places} places of ${path}`),
  attachToFunctions: (functions: number): Reason => reason(`attach to ${functions} kernel functions`),
  attachIterator: (): Reason => reason("attach an iterator"),
  openIterator: (): Reason => reason("open an iterator"),
  pinTo: (path: string): Reason => reason(`pin to ${path}`),
  // probes
  attach: (name: string): Reason => reason(`attach ${name}`),
  attachTo: (path: string): Reason => reason(`attach to ${path}`),
  probe: (name: string): Reason => reason(`probe ${name}`),
  watch: (name: string): Reason => reason(`watch ${name}`),
  openPerfEvent: (type: number, config: number | bigint, named: string): Reason =>
    reason(`open a perf event (type ${type}, config ${config}${named})`),
  // tracefs
  findTracefs: (): Reason => reason("find tracefs"),
  lookIntoTracefs: (): Reason => reason("look into tracefs"),
  readTracefsFile: (file: string): Reason => reason(`read ${file} of tracefs`),
  writeTracefsFile: (file: string): Reason => reason(`write ${file} of tracefs`),
  writeTextToTracefs: (text: string, file: string): Reason => reason(`write "${text}" to ${file} of tracefs`),
  makeInstance: (name: string): Reason => reason(`make an instance of tracefs, ${name}`),
  readInstanceFile: (file: string): Reason => reason(`read ${file} of an instance of tracefs`),
  writeInstanceFile: (text: string, file: string): Reason =>
    reason(`write "${text}" to ${file} of an instance of tracefs`),
  emptyInstance: (): Reason => reason("empty an instance of tracefs"),
  removeInstance: (folder: string): Reason => reason(`remove ${folder}`),
  readEventsOfCpu: (cpu: number): Reason => reason(`read the events of CPU ${cpu}`),
  readEvents: (): Reason => reason("read events from tracefs"),
  readFormat: (event: string): Reason => reason(`read the format of ${event}`),
  enableEvent: (event: string): Reason => reason(`enable ${event}`),
  disableEvent: (event: string): Reason => reason(`disable ${event}`),
  defineEvent: (probe: string): Reason => reason(`define an event for ${probe}`),
  defineKretprobe: (place: string, calls: number): Reason =>
    reason(`define a kretprobe of ${place} with room for ${calls} calls`),
  removeKretprobe: (place: string): Reason => reason(`remove a kretprobe of ${place}`),
  removeLeftKretprobe: (): Reason => reason("remove a kretprobe of a process that has gone"),
  addEvent: (event: string): Reason => reason(`add the event ${event}`),
  removeEvent: (event: string): Reason => reason(`remove the event ${event}`),
  traceCalls: (functions: string): Reason => reason(`trace the calls of ${functions}`),
  readBoot: (probe: string): Reason => reason(`read what ${probe} did at boot`),
  registerUserEvents: (): Reason => reason("register user events"),
  registerUserEvent: (name: string): Reason => reason(`register the user event ${name}`),
};
