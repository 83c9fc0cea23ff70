// Tables that most runs need nothing of: each is loaded for the first message of it.
import { lazy } from "../base/lazy.ts";

const aggregationTable = lazy<typeof import("./aggregations.ts")>(() => require("./aggregations.ts"));
const attemptTable = lazy<typeof import("./attempts.ts")>(() => require("./attempts.ts"));
const commandLineTable = lazy<typeof import("./command-line.ts")>(() => require("./command-line.ts"));
const damagedBinaryTables = lazy<typeof import("./damaged-binaries.ts")>(() => require("./damaged-binaries.ts"));
const damagedInformationTable = lazy<typeof import("./damaged-debug-information.ts")>(() =>
  require("./damaged-debug-information.ts"),
);
const damagedRecordingTables = lazy<typeof import("./damaged-recordings.ts")>(() => require("./damaged-recordings.ts"));
const fileTables = lazy<typeof import("./files.ts")>(() => require("./files.ts"));
const formatTable = lazy<typeof import("./formats.ts")>(() => require("./formats.ts"));
const instructionTable = lazy<typeof import("./instructions.ts")>(() => require("./instructions.ts"));
const interpreterTable = lazy<typeof import("./interpreters.ts")>(() => require("./interpreters.ts"));
const kernelImageTable = lazy<typeof import("./kernel-images.ts")>(() => require("./kernel-images.ts"));
const kernelRefusalTable = lazy<typeof import("./kernel-refusals.ts")>(() => require("./kernel-refusals.ts"));
const libraryTable = lazy<typeof import("./library.ts")>(() => require("./library.ts"));
const kernelLimitTables = lazy<typeof import("./kernel-limits.ts")>(() => require("./kernel-limits.ts"));
const machineTable = lazy<typeof import("./machine.ts")>(() => require("./machine.ts"));
const quantityTable = lazy<typeof import("./quantities.ts")>(() => require("./quantities.ts"));
const variableTable = lazy<typeof import("./variables.ts")>(() => require("./variables.ts"));
const runTable = lazy<typeof import("./runs.ts")>(() => require("./runs.ts"));
const scriptTable = lazy<typeof import("./scripts.ts")>(() => require("./scripts.ts"));
const sessionTable = lazy<typeof import("./sessions.ts")>(() => require("./sessions.ts"));

export const aggregations = () => aggregationTable().aggregations;
export const attempts = () => attemptTable().attempts;
export const commandLine = () => commandLineTable().commandLine;
export const damagedBtf = () => damagedBinaryTables().damagedBtf;
export const damagedElf = () => damagedBinaryTables().damagedElf;
export const damagedFrames = () => damagedBinaryTables().damagedFrames;
export const damagedZip = () => damagedBinaryTables().damagedZip;
export const damagedDwarf = () => damagedInformationTable().damagedDwarf;
export const damagedPerfData = () => damagedRecordingTables().damagedPerfData;
export const damagedRecording = () => damagedRecordingTables().damagedRecording;
export const damagedTraceDat = () => damagedRecordingTables().damagedTraceDat;
export const descriptionReasons = () => fileTables().descriptionReasons;
export const fileReasons = () => fileTables().fileReasons;
export const folderReasons = () => fileTables().folderReasons;
export const formatReasons = () => formatTable().formatReasons;
export const instructionReasons = () => instructionTable().instructionReasons;
export const interpreterReasons = () => interpreterTable().interpreterReasons;
export const kernelImageReasons = () => kernelImageTable().kernelImageReasons;
export const library = () => libraryTable().library;
export const limitReasons = () => kernelLimitTables().limitReasons;
export const machineReasons = () => machineTable().machineReasons;
export const quantityReasons = () => quantityTable().quantityReasons;
export const runReasons = () => runTable().runReasons;
export const graphUsers = () => runTable().graphUsers;
export const variableReasons = () => variableTable().variableReasons;
export const refusalHints = () => kernelRefusalTable().refusalHints;
export const scripts = () => scriptTable().scripts;
export const sessionReasons = () => sessionTable().sessionReasons;
export const lossReasons = () => sessionTable().lossReasons;
export const sessions = () => sessionTable().sessions;
