// DTrace's language: from text to the tree. No I/O; every mistake becomes a diagnostic.
import { dPreprocessor } from "../../messages/d-preprocessor.ts";
import { dSyntax } from "../../messages/d-syntax.ts";
import type { Diagnostic, Source } from "../diagnostic.ts";
import type { Given, Parsed } from "../language.ts";
import { nearest } from "../nearest.ts";
import * as nodes from "../nodes.ts";
import type { Probe, Program } from "../program.ts";
import { failure } from "../words.ts";
import { actionNames } from "./actions.ts";
import { aggregatingNames } from "./aggregations.ts";
import { declared, heading, helperClauses, unassigned, unprinted } from "./around.ts";
import { clause } from "./clauses.ts";
import { Cursor } from "./cursor.ts";
import { declaration, declares } from "./declarations.ts";
import { watched } from "./faults.ts";
import { maybeNullIn } from "./nulls.ts";
import { defaultOptions, optionNames, readOption, withoutEffect } from "./options.ts";
import { preprocess } from "./preprocess.ts";
import { dRules } from "./rules.ts";
import { optionsSetIn } from "./setopt.ts";
import type { Token } from "./tokens.ts";
import { textSize } from "./types.ts";
import { Unit, type Options } from "./unit.ts";

export function parse(source: Source, given: Given): Parsed {
  const { tokens, options, diagnostics } = preprocess(source, given);
  const cursor = new Cursor(source, tokens, diagnostics);
  const settings: Options = defaultOptions();
  // A text that is cut is shown as it is.
  const config: Program["config"][number][] = [{ name: "str_trunc_trailer", value: "", span: { start: 0, end: 0 } }];
  for (const [name, value] of given.settings ?? []) {
    const span = { start: 0, end: 0 };
    // The command has looked at what it was given; what the script says itself counts more.
    const read = readOption({ name, ...(value === "" ? {} : { value }), span }, settings);
    if (typeof read !== "string") config.push(...read);
    if (withoutEffect.has(name)) cursor.warn(span, dPreprocessor.optionWithoutEffect(name));
  }
  for (const option of options) {
    const read = readOption(option, settings);
    if (read === "unknown") {
      const [near] = nearest(option.name, optionNames);
      cursor.report(
        option.span,
        dPreprocessor.unknownOption(option.name, near === undefined ? undefined : `did you mean \`${near}\`?`),
      );
    } else if (read === "invalid")
      cursor.report(option.span, dPreprocessor.optionValue(option.name, option.value ?? ""));
    else config.push(...read);
    if (withoutEffect.has(option.name)) cursor.warn(option.span, dPreprocessor.optionWithoutEffect(option.name));
  }
  // What is said last counts.
  const sizes = config.filter(({ name }) => name === "max_strlen");
  for (const one of sizes.slice(0, -1)) config.splice(config.indexOf(one), 1);
  if (sizes.length === 0) config.push({ name: "max_strlen", value: String(textSize), span: { start: 0, end: 0 } });
  const unit = new Unit(
    cursor,
    given,
    settings,
    { actions: actionNames, aggregating: aggregatingNames },
    addressedNames(tokens),
  );
  unit.switched = optionsSetIn(tokens);
  unit.maybeNull = maybeNullIn(tokens);
  const probes: Probe[] = [];
  while (cursor.token.kind !== "end") {
    try {
      if (cursor.accept(";")) continue;
      if (declares(unit)) declaration(unit);
      else probes.push(...clause(unit));
    } catch (error) {
      if (error !== failure) throw error;
      break;
    }
  }
  if (tokens.length === 1 && cursor.diagnostics.length === 0) cursor.report(tokens[0], dSyntax.noClauses());
  const span = { start: source.text.length, end: source.text.length };
  if (!settings.defaultargs && !settings.argref && cursor.diagnostics.length === 0)
    for (const [i, text] of given.positional.entries())
      if (!unit.usedMacros.has(String(i + 1))) cursor.report(span, dPreprocessor.macroUnused(text, i + 1));
  const needed = helperClauses(unit, span);
  const behind = unassigned(unit, span);
  const own =
    behind.length === 0
      ? probes
      : probes.map((probe) => {
          const block = nodes.block([probe.body, ...behind], probe.span);
          unit.clauseOf.set(block, unit.clauseOf.get(probe.body) ?? 0);
          return { ...probe, body: block };
        });
  const program: Program = {
    source,
    rules: dRules,
    config,
    structs: unit.structs,
    enums: unit.enums,
    maps: needed.maps,
    functions: [],
    probes: [
      ...heading(unit, span),
      ...declared(unit, span),
      ...needed.first,
      ...own.map((probe) => watched(probe, unit)),
      ...needed.last,
      ...unprinted(unit, span),
    ],
  };
  return { program, diagnostics: sorted(cursor.diagnostics) };
}

/** `&x`, but for `y & x`. */
function addressedNames(tokens: readonly Token[]): ReadonlySet<string> {
  return new Set(
    tokens.flatMap(({ kind, text }, i) => {
      const [before, sign] = [tokens[i - 2], tokens[i - 1]];
      const operator = before?.kind === "punctuation" && before.text !== ")" && before.text !== "]";
      return kind === "identifier" && sign?.text === "&" && sign.kind === "punctuation" && operator ? [text] : [];
    }),
  );
}

function sorted(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [...diagnostics].sort((a, b) => a.span.start - b.span.start);
}
