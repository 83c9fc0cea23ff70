import { binaryTargets } from "./binaries.ts";
import { languageTargets } from "./languages.ts";
import { recordingTargets } from "./recordings.ts";
import type { Target } from "./target.ts";
import { textTargets } from "./texts.ts";

export const targets: readonly Target[] = [...languageTargets, ...binaryTargets, ...recordingTargets, ...textTargets];
