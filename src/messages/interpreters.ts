// What keeps functions of an interpreter out of stacks
import type { Reason } from "../base/failure.ts";
import { reason } from "./message.ts";

/** Only of interpreters that run while a script takes stacks, in a warning. */
export const interpreterReasons = {
  namesNotTold: (): Reason => reason("it does not tell where its objects keep names (v8dbg_…)"),
  pythonMachine: (): Reason => reason("only those of x86-64 programs are"),
  oldPython: (): Reason => reason("Python before 3.11 keeps its frames otherwise"),
  unknownPython: (major: number, minor: number): Reason => reason(`Python ${major}.${minor} is not known`),
  framesNotTold: (): Reason => reason("its _PyRuntime does not say where it keeps them"),
  withoutGlobalLock: (): Reason => reason("a build without the global lock keeps them otherwise"),
  pythonMaps: (): Reason => reason("python -X perf (3.12 and later) writes maps that name them"),
  nodeMaps: (): Reason => reason("node --perf-basic-prof --interpreted-frames-native-stack writes maps that name them"),
  damagedRuntime: (): Reason => reason("its _PyRuntime is damaged"),
  compressedPointers: (): Reason => reason("its pointers are compressed"),
};
