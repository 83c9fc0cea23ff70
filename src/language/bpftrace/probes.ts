// Probe headers: `uprobe:/bin/bash:readline, interval:s:1 /pid == 3/ { … }`. They have no tokens: a part holds any
// character but `:` `,` `{` and white space, and `/` only where a path can be.
import { parameters } from "../../messages/macros.ts";
import { syntax } from "../../messages/syntax.ts";
import type { Span } from "../diagnostic.ts";
import type { ProbeSpec } from "../probe-spec.ts";
import type { Probe } from "../program.ts";
import { splitKind, withOptions } from "../probe-spelling.ts";
import type { Cursor } from "./cursor.ts";
import { parseExpression, spanOf } from "./expressions.ts";
import { stringValue } from "./literals.ts";
import { positionalArgument } from "./parameters.ts";
import { parseBlock } from "./statements.ts";
import { isDigit, nameEnd, scan, skipTrivia } from "./tokens.ts";

/** `WHERE@FILE`, in `kprobe:tun@net/tun.c:120` or `uprobe:./server:handle@net/server.c:120`: a path, lines to come. */
const sourceFile = /^\w+\b[^@]*@[^:@]*$/;
/** What is behind a slash of that path; a predicate is otherwise. */
const pathGoesOn = /^\/[\w.+*?[\]/-]*:/;
/** Behind a file and a colon, `10,20,30-35`: a comma with a number behind it is in a list of lines. */
const sourceLines = /@[^:@]*:[\d+,-]+$/;

const longestPath = 4096;

export function parseProbe(p: Cursor): Probe {
  const start = p.token.start;
  const specs: ProbeSpec[] = [];
  let at = start;
  do {
    at = skipTrivia(p.text, at);
    // A comma behind the last probe is harmless.
    if (specs.length > 0 && p.text[at] === "{") break;
    const spec = readSpec(p, at);
    if (spec.end === at) {
      p.seek(at);
      p.fail(syntax.expected(specs.length === 0 ? "a probe" : "another probe after `,`", p.describe()));
    }
    specs.push(spec.spec);
    p.last = spec.end;
    at = skipTrivia(p.text, spec.end);
  } while (p.text[at] === "," && ++at);
  p.seek(at);

  let predicate: Probe["predicate"];
  if (p.at("/")) {
    p.advance();
    p.predicate = true;
    try {
      predicate = parseExpression(p);
    } finally {
      p.predicate = false;
    }
    p.expect("/", "after the predicate");
  } else if (!p.at("{")) {
    const last = specs.at(-1)!;
    const bare = last.parts.length === 0 && p.spelling(last.provider)?.alone !== true;
    p.fail(syntax.expectedBody(last.text, p.describe(), bare), spanOf(p.token));
  }
  const body = parseBlock(p, "of the probe");
  return { specs, ...(predicate === undefined ? {} : { predicate }), body, span: { start, end: body.span.end } };
}

/** The spec at an offset, and where it ends. */
function readSpec(p: Cursor, start: number): { spec: ProbeSpec; end: number } {
  const { text } = p;
  let at = start;
  // `name=provider:…`: a name for the probe, which means nothing yet.
  const named = nameEnd(text, start);
  if (named > start && !isDigit(text.charCodeAt(start)) && text[named] === "=" && text[named + 1] !== "=")
    at = named + 1;
  const from = at;
  const parts: string[] = [""];
  const add = (piece: string): void => {
    parts[parts.length - 1] += piece;
  };
  reading: for (; at < text.length; at++) {
    const character = text[at];
    switch (character) {
      case ":":
        parts.push("");
        break;
      case ",":
        if (!/^,[+\d]/.test(text.slice(at, at + 2)) || !sourceLines.test(parts.join(":"))) break reading;
        add(character);
        break;
      case "{":
      case "}":
      case ";":
      case " ":
      case "\t":
      case "\r":
      case "\n":
        break reading;
      case "/":
        if (
          p.spelling(parts[0])?.path !== parts.length - 1 &&
          !(
            p.spelling(/^\w*/.exec(parts[0])![0])?.lines !== undefined &&
            sourceFile.test(parts.join(":")) &&
            pathGoesOn.test(text.slice(at, at + longestPath))
          )
        )
          break reading;
        add(character);
        break;
      case '"': {
        const token = scan(text, at);
        if (token.kind !== "string") p.fail(token.problem!, spanOf(token));
        add(stringValue(token.text).value);
        at = token.end - 1;
        break;
      }
      case "$": {
        const end = nameEnd(text, at + 1);
        const number = text.slice(at + 1, end);
        if (/^\d+$/.test(number)) {
          // It may be several parts, or all of them.
          const [first, ...more] = positionalForProbe(p, number, { start: at, end }).split(":");
          add(first);
          parts.push(...more);
          at = end - 1;
        } else if (text[at + 1] === "#") {
          add(String(p.positional.length));
          at++;
        } else {
          add(character);
        }
        break;
      }
      default:
        add(character);
    }
  }
  // `KIND@FILE:LINES`: the file becomes a part of its own.
  const [kind, behind] = splitKind(parts[0], p.spelling);
  const [provider, ...rest] = behind === undefined ? parts : [kind, behind, ...parts.slice(1)];
  return {
    spec: {
      provider,
      ...withOptions(rest, p.spelling(provider)),
      text: text.slice(from, at),
      span: { start: from, end: at },
    },
    end: at,
  };
}

function positionalForProbe(p: Cursor, number: string, span: Span): string {
  const given = number === "0" ? undefined : p.positional[Number(number) - 1];
  if (given !== undefined) return given;
  if (number === "0") positionalArgument(p, number, span);
  else p.report("error", span, parameters.notGivenForProbe(number));
  return "";
}
