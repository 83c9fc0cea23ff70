// TypeScript's handlers.
import { says, type Message, type Shown } from "./message.ts";

export const handlers = {
  /** @example (args) => { try { return; } finally { m.clear(); } } */
  leavesTryWithFinally: (): Message =>
    says("placement", "a try with a `finally` cannot be left by a jump or a return", "let it run to its end"),
  /** @example (args) => { try { m.count(); } catch ({ message }) { } } */
  errorCaughtUnderName: (): Message =>
    says("placement", "an error is caught under a name", "catch (error) { … error.message … }"),
  /** @example (args) => { throw new Error(); } */
  errorMessageNothingElse: (): Message =>
    says("arguments", "an error has a message, and nothing else", 'throw new Error("text")'),
  /** @example (args) => m.sum(m.count()) */
  givesNoValue: (): Message => says("placement", "this has no value", "write it as a statement"),
  /** @example (args) => { m.at([1, , 2]).count(); } */
  tupleNoHoles: (): Message => says("arguments", "expected a value in the tuple"),
  /** @example (args) => m.sum(args.a ?? 1) */
  nothingCanMissingHere: (): Message =>
    says(
      "type",
      "`??` expects a value that may be missing",
      "`??` is for m.get(key) and for chains with `?.`; of a number, use `||` or ?:",
    ),
  /** @example (args) => { const x = 1; x++; } */
  constMessage: (name: Shown): Message => says("type", `\`${name}\` is a const`, "declare it with let"),
  /** @example (args) => { let n = m.get(key); n ??= 1 } */
  cannotAssigned: (name: Shown): Message =>
    says("type", `\`${name}\` cannot be assigned to`, "declare a variable: let …"),
  /** @example (args) => { $x = 5 } */
  outsideHandlerWhichSeesConstant: (name: Shown): Message =>
    says(
      "placement",
      `\`${name}\` is captured as a constant and cannot be assigned`,
      "keep what changes in a map: const m = map<[], number>(), and m.value in the handler",
    ),
  /** @example (args) => { args.x = 1; } */
  memoryWhatTracedCannotWritten: (): Message =>
    says("placement", "traced memory is read-only", "change variables, and entries of maps: m.at(key).value"),
  /** @example (args) => { let a = 1; ({ a } = args); } */
  onlyDeclarationsCanTakeThings: (): Message =>
    says("placement", "destructuring is allowed in declarations only", "write const { … } = …"),
  /** @example (args) => { let a = 1; [a = 5] = [1]; } */
  targetCannotBeAssigned: (): Message => says("placement", "this cannot be assigned to"),
  /** @example (args) => m.sum(((x) => x)(1)) */
  functionCalledWhereStandsTakes: (): Message =>
    says(
      "placement",
      "an immediately called function takes no parameters",
      "it sees the variables around it; or define it outside, and call it by its name",
    ),
  /** @example (args) => { const f = (x) => f(x - 1); m.sum(f(3)); } */
  functionHandlerMakesCannotCall: (): Message =>
    says("placement", "a function inside a handler cannot call itself", "write a loop"),
  /** @example (args) => { const f = () => 1; m.sum(f(1)); } */
  functionTakes: (what: Shown): Message => says("arguments", `this function takes ${what}`),
  /** @example (args) => { const f = ({ a }) => a; m.sum(f(args)); } */
  parametersFunctionHandlerMakesNames: (): Message =>
    says(
      "placement",
      "parameters of a function inside a handler must be names",
      "define the function outside, and call it by its name",
    ),
  /** @example (args) => m.sum((() => { if (args.a) return 1; return 2; })()) */
  functionHandlerMakesReturnsEnd: (): Message =>
    says(
      "placement",
      "a function inside a handler returns at its end only",
      "use ?: or a variable; or define it outside, and call it by its name",
    ),
  /** @example (args) => { let x = 0; for (x of ports) print(x); } */
  loopVariableOwn: (): Message => says("placement", "a loop's variable is its own", "write for (const x of …)"),
  /** @example (args) => { for (const [a] of range(3)) print(a); } */
  rangeGivesNumbers: (): Message => says("type", "range() yields numbers"),
  /** @example (args) => { for (const [a, b] of ports) print(a); } */
  listHoldsNumbersOrTexts: (): Message => says("type", "expected numbers or strings in the list"),
  /** @example (args) => { for (const [k] of m.top()) print(k); } */
  topTakesHowManyWanted: (): Message => says("arguments", "top() expects a count"),
  /** @example (args) => { for (const i of range()) print(i); } */
  rangeTakesWhereEndsOr: (): Message =>
    says("arguments", "range() expects an end, or a start and an end", "range(10), range(1, 11)"),
  /** @example (args) => { for (const i of [1, , 2]) print(i); } */
  listNoHolesHere: (): Message => says("arguments", "expected a value in the list"),
  /** @example (args) => { const n = args.n; for (const x of n) { } } */
  handlerGoesOverMapsRanges: (): Message =>
    says(
      "type",
      "`for…of` expects a map, a range, or a list written in or around the handler",
      "for (const [key, value] of m), for (const i of range(10)), for (const port of [80, 443])",
    ),
  /**
   * Only in the library: a trace of nothing, `trace([])`.
   *
   * @tested src/language/typescript/parse.test.ts
   */
  thereNoProbeTrace: (): Message => says("syntax", "no probe to trace"),
  /** @example function () { [native code] } */
  functionNoSourceCanRead: (hinted: unknown): Message =>
    says(
      "syntax",
      "the function's source is not available",
      hinted
        ? "pass the function itself, not one that bind() made"
        : "a handler is an arrow function, a function or a method",
    ),
  /** @example function */
  doesNotParse: (toLowerCase: Shown, hinted: unknown): Message =>
    says(
      "syntax",
      `syntax error: ${toLowerCase}`,
      hinted
        ? "pass the function itself, not one that bind() made"
        : "a handler is an arrow function, a function or a method",
    ),
  /** @example (args, more) => m.count() */
  handlerProbe: (count: Shown): Message => says("arguments", `the handler of this probe has ${count}`),
  /**
   * A probe's filter: the last argument of `tracepoint(…)`.
   *
   * @on filter
   * @example (args) => { if (args.a) return true; return false; }
   */
  filterOneExpression: (): Message =>
    says("placement", "a filter is one expression", "write (args) => condition, or return early in the handler"),
  /** @example (args) => print(apart(m)) */
  cannotTakenApart: (kind: Shown): Message => says("arguments", `a ${kind} cannot be destructured`),
  /** @example (args) => { let a = 1; [a] = [1, 2]; } */
  manyAssignedThereValues: (): Message => says("arguments", "expected as many targets as values"),
  /** @example (args) => { let a = 1, b = 2; [a, b] = [...ports, 1]; } */
  valuesMustWrittenOut: (): Message => says("arguments", "the values must be a literal"),
  /** @example (args) => { let a = 1; [, a] = [1, 2]; } */
  thereNothingAssignHere: (): Message => says("arguments", "expected a variable to assign to"),
  /** @example (args) => { let a = 1; a ??= 2; } */
  variableNeverMissing: (): Message =>
    says(
      "type",
      "this variable is never missing",
      "`??=` is for what m.get(key) gave, and for entries of maps: m.at(key).value ??= 0",
    ),
  /** @example (args) => print(⟨(1 + × 410⟩1⟨) × 410⟩) */
  nestedTooDeeply: (): Message => says("limit", "nesting is too deep", "use variables"),
};
