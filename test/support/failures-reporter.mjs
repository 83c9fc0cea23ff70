// A reporter of `node --test`: what failed, with its file and its error, and nothing else. `test/run.mjs` prints it
// once more after everything else, so that it is not lost between thousands of lines.
import { inspect } from "node:util";

/** Characters of a value that was compared: a whole page would bury the failures around it. */
const longest = 2000;

// oxlint-disable-next-line import/no-default-export -- how `node --test` takes a reporter
export default async function* failures(events) {
  for await (const { type, data } of events) {
    if (type !== "test:fail") continue;
    const { error } = data.details;
    // A test of which only a part failed says nothing that the part does not say.
    if (error?.failureType === "subtestsFailed") continue;
    yield `${data.name}\n  ${data.file ?? ""}:${data.line ?? ""}\n${inspect(error?.cause ?? error, { maxStringLength: longest }).replace(/^/gm, "  ")}\n\n`;
  }
}
