import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTracepointFormat } from "./tracepoint-format.ts";

const format = (lines: string[]): string => `name: sample
ID: 372
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

${lines.map((line) => `\tfield:${line}`).join("\n")}

print fmt: "field:int no;\toffset:8;\tsize:4;\tsigned:1;"
`;

test("plain, array, pointer and located fields", () => {
  const parsed = parseTracepointFormat(
    format([
      "char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;",
      "pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;",
      "const char * filename;\toffset:32;\tsize:8;\tsigned:0;",
      "__data_loc char[] name;\toffset:40;\tsize:4;\tsigned:0;",
      "__rel_loc u8[] bytes;\toffset:44;\tsize:4;\tsigned:0;",
      "unsigned long args[6];\toffset:48;\tsize:48;\tsigned:0;",
      "char comm[TASK_COMM_LEN];\toffset:96;\tsize:16;\tsigned:1;",
    ]),
  );
  assert.equal(parsed?.id, 372);
  assert.deepEqual(
    parsed.fields.map((f) => [f.name, f.declaration, f.offset, f.size, f.signed]),
    [
      ["prev_comm", "char[16]", 8, 16, false],
      ["prev_pid", "pid_t", 24, 4, true],
      ["filename", "const char *", 32, 8, false],
      ["name", "__data_loc char[]", 40, 4, false],
      ["bytes", "__rel_loc u8[]", 44, 4, false],
      ["args", "unsigned long[6]", 48, 48, false],
      ["comm", "char[TASK_COMM_LEN]", 96, 16, true],
    ],
  );
});

test("a length that the kernel did not set", () => {
  const parsed = parseTracepointFormat(
    format([
      "__rel_loc char path[12591840];\toffset:8;\tsize:4;\tsigned:1;",
      "__rel_loc char[7] method;\toffset:12;\tsize:4;\tsigned:1;",
      "char kind[];\toffset:16;\tsize:8;\tsigned:1;",
      "char other[12591840];\toffset:24;\tsize:8;\tsigned:1;",
    ]),
  );
  assert.deepEqual(
    parsed?.fields.map(({ name, declaration }) => [name, declaration]),
    [
      ["path", "__rel_loc char[]"],
      ["method", "__rel_loc char[]"],
      ["kind", "char[8]"],
      ["other", "char[8]"],
    ],
  );
});

test("a text that is no format", () => {
  assert.equal(parseTracepointFormat("nothing"), undefined);
});
