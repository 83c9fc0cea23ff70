// `node --import strobe/register file.ts`: handlers carry what they capture, "strobe" is this installation, and
// TypeScript runs on every version of Node that strobe runs on.
import { installHooks } from "./rewrite/install.ts";

installHooks();
