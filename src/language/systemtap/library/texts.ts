// Texts: parts of them, what they are made of, what regular expressions found.
import type { HostTextName } from "../../host-texts.ts";
import type { Statement } from "../../program.ts";
import { computed, type LibraryFunction } from "./function.ts";
import { addressed, type Space } from "./memory.ts";
import type { ValueType } from "../syntax.ts";
import * as tree from "../tree.ts";

const { call, integer, toLong } = tree;

/** Of a text or a number that has a name when it is printed. */
const named = (of: string, parameters: readonly ValueType[], doc: string): LibraryFunction => ({
  parameters,
  result: "string",
  doc,
  text: (args, span) => ({ format: "%s", args: [call(of, args, span)] }),
});

/** Bytes at an address; an error where they cannot be read. */
const bytesAt = (space: Space, of: HostTextName, doc: string): LibraryFunction => ({
  parameters: ["long", "long", "long"],
  result: "string",
  doc,
  value: ([address, size, more], span) =>
    tree.hostText(of, [call("buf", [addressed(space, address), size], span), more], span),
});

export const texts: Readonly<Record<string, LibraryFunction>> = {
  strlen: {
    parameters: ["string"],
    result: "long",
    doc: "Bytes of a text.",
    value: (args, span) => toLong(call("strlen", args, span)),
  },
  isinstr: {
    parameters: ["string", "string"],
    result: "long",
    doc: "1 where the second text is part of the first, else 0.",
    value: (args, span) => tree.conditional(call("strcontains", args, span), integer(1, span), integer(0, span), span),
  },
  strpos: {
    parameters: ["string", "string"],
    result: "long",
    doc: "Where the second text first is in the first, or -1.",
    value: (args, span) => toLong(call("strstr", args, span)),
  },
  substr: computed("bytesOfText", ["string", "long", "long"], "string", "Bytes of a text, from one on, so many."),
  stringat: computed("byteOfText", ["string", "long"], "long", "The byte of a text at a place, from 0."),
  __word: computed("wordOfList", ["string", "long"], "string", "Of words with commas between, the one with a number."),
  __flags: computed("flagNames", ["long", "string"], "string", "Names of the flags that a number has."),
  __escaped: computed("escapedText", ["string"], "string", "A text with escapes."),
  strtol: computed("parsedNumber", ["string", "long"], "long", "The number that a text begins with, to a base."),
  tokenize: computed(
    "nextToken",
    ["string", "string"],
    "string",
    "The text's first part between any of the delimiters; of an empty text, the next one of the text before.",
  ),
  str_replace: computed(
    "replacedText",
    ["string", "string", "string"],
    "string",
    "A text with all occurrences of the second replaced by the third.",
  ),
  matched: {
    parameters: ["long"],
    result: "string",
    doc: "What the last `=~` found: all of it (0), or a group; an error where there is no such group.",
    value([group], span) {
      const groups = tree.hostText("matchedGroups", [], span);
      const words = tree.text("Attempted to get nonexistent subexpression %d", span);
      const missing: Statement = {
        kind: "if",
        condition: tree.binary(
          "&&",
          tree.binary("!=", groups, integer(0, span), span),
          tree.binary(">=", group, groups, span),
          span,
        ),
        then: tree.block([{ kind: "throw", value: tree.hostText("formattedText", [words, group], span), span }], span),
        span,
      };
      return {
        kind: "block-expression",
        statements: [missing],
        value: tree.hostText("matchedPart", [group], span),
        span,
        type: group.type,
      };
    },
  },
  __escaped_characters: computed("escapedCharacters", ["string"], "string", "A text with escapes for characters too."),
  __user_bytes: bytesAt("uptr", "quotedBytes", "Bytes at a user address in quotes, as text of so many bytes."),
  __kernel_bytes: bytesAt("kptr", "quotedBytes", "Bytes at a kernel address in quotes, as text of so many bytes."),
  __user_characters: bytesAt("uptr", "charactersOfBytes", "Bytes at a user address as characters of so many bytes."),
  __kernel_characters: bytesAt(
    "kptr",
    "charactersOfBytes",
    "Bytes at a kernel address as characters of so many bytes.",
  ),
  ngroups: computed("matchedGroups", [], "long", "How many groups the last `=~` found, all of it included."),
  syscall_name: named("syscall_name", ["long"], "Name of a system call."),
  ip_ntop: named("ntop", ["long"], "An IPv4 address as text."),
};
