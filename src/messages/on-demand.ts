// Tables that most runs need nothing of: each is loaded for the first message of it.
import { lazy } from "../base/lazy.ts";

const aggregationTable = lazy<typeof import("./aggregations.ts")>(() => require("./aggregations.ts"));
const commandLineTable = lazy<typeof import("./command-line.ts")>(() => require("./command-line.ts"));
const sessionTable = lazy<typeof import("./sessions.ts")>(() => require("./sessions.ts"));

export const aggregations = () => aggregationTable().aggregations;
export const commandLine = () => commandLineTable().commandLine;
export const sessions = () => sessionTable().sessions;
