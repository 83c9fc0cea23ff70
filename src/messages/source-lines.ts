// Source lines that a probe names.
import { says, type Message, type Shown } from "./message.ts";

export const sourceLines = {
  /** @example uprobe:/bin/app@main.c:x { } */
  notALine: (item: Shown): Message =>
    says(
      "name",
      `\`${item}\` is not a line`,
      "lines are written 12, 12,20,30-35, +2 from a function's first line on, or *",
    ),
  /** @example uprobe:/bin/app@main.c:9-5 { } */
  endBeforeTheyBegin: (item: Shown): Message => says("name", `the lines ${item} end before they begin`),
  /** @example uprobe:/bin/stripped@main.c:5 { } */
  unknown: (reason: Shown): Message => says("name", `lines are not known: ${reason}`),
  /** @example uprobe:/bin/app@main.c:5:1:1 { } */
  notLineAndColumn: (text: Shown): Message =>
    says("name", `\`${text}\` is not a line and a column`, "a column stands behind one line: FILE:LINE:COLUMN"),
  /** @example uprobe:/bin/app@main.c:+2 { } */
  countsFromFunction: (item: Shown, file: Shown, lines: Shown): Message =>
    says("name", `\`${item}\` counts from the first line of a function`, `name one, as in FUNCTION@${file}:${lines}`),
  /** Of more than 50,000 places in a program, or 1,000 in the kernel. */
  tooManyPlaces: (file: Shown, lines: Shown, most: Shown): Message =>
    says(
      "name",
      `${file}:${lines} means more than ${most} places, which is too many for one probe`,
      "name fewer lines or files",
    ),
  /** @example uprobe:/bin/app:mian@main.c:5 { } */
  noFunction: (binary: Shown, func: Shown, where: Shown, help?: string): Message =>
    says("name", `${binary} has no function \`${func}\`${where}`, help),
  /** @example uprobe:/bin/app:main@other.c:5 { } */
  functionElsewhere: (func: Shown, file: Shown, files: readonly string[]): Message =>
    says("name", `\`${func}\` is not in a file ${file}`, `it is in ${files.join(" and ")}`),
  /** @example uprobe:/bin/app@mein.c:5 { } */
  noFile: (binary: Shown, file: Shown, help?: string): Message =>
    says("name", `no code of ${binary} comes from a file ${file}`, help),
  /** @example uprobe:/bin/app@main.c:90 { } */
  noCodeThere: (binary: Shown, what: Message): Message =>
    says("name", `no code of ${binary} is there: ${what.message}`),
  /** @example uprobe:/bin/app@main.c:5:40 { } */
  noStatementAtColumn: (line: Shown, file: Shown, column: Shown): Message =>
    says("name", `no statement of line ${line} of ${file} begins at column ${column}`),
  /** @example uprobe:/bin/app@main.c:4 { } */
  moved: (line: Shown, file: Shown, to: Shown): Message =>
    says("name", `line ${line} of ${file} has no code: probing line ${to}`),
  /** @example uprobe:/bin/app@main.c:5,90 { } */
  withoutCode: (lines: Shown, one: boolean, where: Shown, near: readonly number[]): Message =>
    says(
      "name",
      `${lines} of ${where} ${one ? "has" : "have"} no code${
        near.length === 0
          ? ""
          : `; the nearest ${near.length === 1 ? "line that has some is" : "lines that have some are"} ${near.join(" and ")}`
      }`,
    ),
  /** @example uprobe:/bin/app@main.c:7 { } */
  notProbed: (place: Shown, reason: Shown): Message =>
    says("name", `the instruction that ${place} begins with cannot be probed: ${reason}`),
  /** @example uprobe:/bin/app@main.c:5,7 { } */
  leftOut: (count: number, all: Shown, why: Message): Message =>
    says("name", `${count} of ${all} places ${count === 1 ? "is" : "are"} left out: ${why.message}`),
};
