// Functions of handlers, and what they give: in the kernel, on the host, and, where JavaScript means the same, as
// JavaScript. Each takes a number that the compiler does not know (it is 5), so that nothing is computed before it
// runs.

export interface FunctionCase {
  readonly name: string;
  /** The body of `(x: number): number`. */
  readonly body: string;
  /** What it gives for 5; absent where JavaScript gives the same. */
  readonly gives?: bigint;
}

export const functionCases: readonly FunctionCase[] = [
  // numbers: 64 bits, C's rules
  { name: "arithmetic", body: "return (x + 3) * 2 - x % 3 - -x;" },
  { name: "division truncates", body: "return 7 / (x - 3);", gives: 3n },
  { name: "division of negative numbers truncates", body: "return (x - 12) / 2;", gives: -3n },
  { name: "the rest has the sign of what is divided", body: "return (x - 12) % 4;" },
  { name: "numbers wrap at 64 bits", body: "return (1 << 62) * (x - 1);", gives: 0n },
  { name: "shifts are 64 bits wide", body: "return 1 << (x + 35);", gives: 1n << 40n },
  { name: "a shift to the right keeps the sign", body: "return (x - 21) >> 2;" },
  { name: "an unsigned shift does not", body: "return (x - 6) >>> 60;", gives: 15n },
  { name: "an unsigned shift that assigns", body: "let y = x - 6; y >>>= 61; return y;", gives: 7n },
  { name: "bits", body: "return ((x & 6) | 16) ^ 3;" },
  { name: "the complement", body: "return ~x;" },
  { name: "casts cut", body: "return u8(x + 300) * 1000 + u16(x + 65536);", gives: 49n * 1000n + 5n },
  {
    name: "casts have a sign",
    body: "return i8(x + 250) + i16(x + 0xfffa) + i32(x + 0xfffffff9);",
    gives: -1n - 1n - 2n,
  },
  { name: "unsigned of 32 bits", body: "return u32(x - 6) / 2;", gives: 0x7fffffffn },
  { name: "a difference of unsigned numbers is signed", body: "return (u32(x) - u32(x + 1)) < 0 ? 1 : 2;", gives: 1n },
  { name: "narrow numbers do not wrap until they are cut", body: "return u8(x + 250) + u8(x + 250);", gives: 510n },
  { name: "unsigned numbers compare as such", body: "return u64(x - 6) > u64(x) ? 1 : 2;", gives: 1n },
  { name: "signed numbers compare as such", body: "return (x - 6) < x ? 1 : 2;" },
  { name: "what is mixed compares by its value", body: "return (x - 6) < u32(x) ? 1 : 2;", gives: 1n },
  { name: "bigints", body: "return Number(BigInt(x) * 3n);" },
  { name: "digits", body: "return 0x1f + 0b101 + 0o17 + 1_000 + 1e3 + x;" },
  { name: "great numbers are exact", body: "return 9007199254740993n - 9007199254740990n + BigInt(x);", gives: 8n },
  { name: "truth is 0 and 1", body: "return Number(x > 3) + Number(!(x > 3)) * 10 + Number(Boolean(x)) * 100;" },
  { name: "truth in variables is, too", body: "const yes = x > 3; const no = !yes; return Number(yes) * 10 + +no;" },

  // what is assigned
  {
    name: "compound assignments",
    body: "let y = x; y += 3; y *= 2; y -= 1; y <<= 2; y |= 1; y ^= 3; y %= 50; y &= 14; y >>= 1; return y;",
  },
  { name: "a division that assigns", body: "let y = x + 4; y /= 2; return y;", gives: 4n },
  {
    name: "steps in expressions",
    body: "let y = x; const a = y++ * 10; const b = ++y; const c = y-- - --y; return a + b + c * 1000 + y;",
  },
  { name: "logical assignments", body: "let a = 0; let b = x; a ||= 7; b &&= 9; a ||= 1; return a * 10 + b;" },
  { name: "assignments have values", body: "let a = 0; let b = 0; a = b = x + 1; return a * 10 + b;" },
  {
    name: "an assignment in a condition",
    body: "let n = x; let sum = 0; let y = 0; while ((y = n--) > 2) sum += y; return sum * 10 + y;",
  },
  { name: "swaps", body: "let a = x; let b = 2; [a, b] = [b, a]; return a * 10 + b;" },
  { name: "commas", body: "let a = x; const b = (a++, a * 2); return b;" },

  // names
  {
    name: "names that hide others",
    body: "let y = x; { let y = 100; y++; } for (let y = 0; y < 3; y++) { } return y;",
  },
  {
    name: "what is taken apart",
    body: "const t = [x, x + 1]; const [a, b] = t; const { p, q: r } = { p: a * 2, q: b }; return a + b * 10 + p * 100 + r * 1000;",
  },
  {
    name: "tuples in tuples",
    body: "const t = [[x, 2], { n: 7 }]; const [[a], { n }] = t; return a + n + t[0][1];",
    gives: 14n,
  },
  { name: "constants of the file", body: "return x + limit + Number(yes) + text.length;" },
  {
    name: "members of constants",
    body: "return limits.low * x + limits.deep.high + list[1] + list.length + Level.high;",
  },
  {
    name: "whether a list has a number",
    body: "return Number(list.includes(x + 15)) + Number(list.includes(x)) * 10;",
  },
  { name: "whether a list has a text", body: 'const t = x > 3 ? "one" : "two"; return Number(words.includes(t));' },

  // branches
  { name: "conditions", body: "if (x > 9 || (x > 3 && x !== 4)) return x === 5 ? 1 : 2; else return 3;" },
  { name: "a value or another", body: "const zero = x - 5; return (zero || 7) * 10 + (x && 3);" },
  {
    name: "the right side runs only when it is needed",
    body: "let n = 0; if (x > 9 && n++ > 0) { } if (x < 9 || n++ > 0) { } return n;",
  },
  {
    name: "a switch",
    body: "let r = 0; for (let i = 0; i < 5; i++) { switch (i) { case 0: case 1: r += 1; break; case 2: r += 10; break; default: r += 100; } } return r;",
  },
  {
    name: "a switch that goes on",
    body: "let r = 0; for (let i = 0; i < 6; i++) { switch (i) { case 0: r += 1; case 1: r += 10; break; default: r += 1000; case 3: if (i > x - 2) break; r += 100; case 5: r += 10000; } } return r;",
  },
  {
    name: "a switch in a loop goes on with it",
    body: "let r = 0; for (let i = 0; i < 6; i++) { switch (i % 3) { case 1: if (i > 3) continue; r += 10; break; case 2: continue; } r += 1; } return r;",
  },
  {
    name: "a switch that returns",
    body: "switch (x) { case 4: return 1; case 5: { const y = x * 2; return y; } default: return 3; }",
  },
  {
    name: "a switch on text",
    body: 'const t = x > 3 ? "a" : "b"; switch (t) { case "b": return 1; case "a": return 2; } return 3;',
  },

  // what fails
  {
    name: "a division by zero",
    body: 'let y = x - 5; try { return 8 / y; } catch (e) { return e.kind === "division" ? 3 : 4; }',
    gives: 3n,
  },
  { name: "a try in which nothing fails", body: "let y = x; try { y = 20 / y; } catch (e) { y = 0; } return y;" },
  {
    name: "an error thrown, caught and thrown again",
    body: 'let r = 0; try { try { if (x > 3) throw new Error("more than three"); r += 1; } catch (e) { r += 10; throw e; } } catch (e) { if (e.message === "more than three") r += 100; } return r;',
  },
  {
    name: "out of loops",
    body: 'let r = 0; try { for (let i = 0; i < 9; i++) { do { r++; if (r > x) throw new Error("enough"); } while (r % 3); } } catch { r += 100; } return r;',
  },
  {
    name: "a catch that goes on with a loop",
    body: 'let r = 0; for (let i = 0; i < 6; i++) { try { if (i % 2) throw new Error("odd"); r += i; } catch (e) { if (i > x - 2) break; continue; } r += 10; } return r;',
  },

  // loops
  {
    name: "a loop over numbers",
    body: "let sum = 0; for (let i = 0; i < x; i++) { if (i === 2) continue; if (i === 4) break; sum += i; } return sum;",
  },
  {
    name: "a loop with a step",
    body: "let sum = 0; for (let i = 0; i < 20; i += 3) { if (i === 6) continue; sum += i; } return sum;",
  },
  {
    name: "a loop downwards",
    body: "let sum = 0; for (let i = x; i > 0; i--) { if (i === 3) continue; sum = sum * 10 + i; } return sum;",
  },
  { name: "a loop over two", body: "let n = 0; for (let i = 0, j = 10; i < j; i++, j--) n += j - i; return n;" },
  { name: "while", body: "let n = 0; let y = x; while (y > 0) { y--; if (y % 2) continue; n += y; } return n;" },
  { name: "do while", body: "let n = 0; do { n++; if (n === 3) continue; } while (n < x); return n;" },
  { name: "do once", body: "let n = 0; do n++; while (n < 0); return n;" },
  {
    name: "labels",
    body: "let n = 0; outer: for (let i = 0; i < x; i++) { for (let j = 0; j < x; j++) { if (j === 2) continue outer; if (i === 3) break outer; n += i * 10 + j; } n += 1000; } return n;",
  },
  {
    name: "labels of three loops",
    body: "let n = 0; a: for (let i = 0; i < 3; i++) { b: for (let j = 0; j < 3; j++) { let k = 0; while (k < 9) { k++; if (k === 2) continue b; if (j === 2) continue a; if (i === 2) break a; n += 1; } n += 100; } n += 1000; } return n;",
  },
  { name: "a block that is left", body: "let n = 1; done: { if (x > 3) break done; n = 2; } return n;" },
  {
    name: "a return in loops",
    body: "for (let i = 0; i < 9; i++) for (let j = 0; j < 9; j++) if (i * j === 6) return i * 10 + j; return 0;",
  },
  { name: "a loop without a condition", body: "let i = 0; for (;;) { if (i > x) break; i++; } return i;" },

  // functions
  { name: "functions", body: "return twice(x) + twice(twice(x));" },
  { name: "functions return early", body: "return clamp(x) * 100 + clamp(x * 100);" },
  { name: "defaults", body: "return scaled(x) + scaled(x, 3) * 1000;" },
  { name: "functions with records", body: "return area({ width: x, height: 3 }) + sumOf([x, 2]);" },
  { name: "a function where it stands", body: "return (() => { let y = x; y *= 3; return y + 1; })() * 2;" },

  {
    name: "functions of the handler",
    body: "let sum = 0; const add = (n, times = 2) => { const y = n * times; sum += y; }; const half = (n) => n >> 1; { const y = 7; add(y); add(x, 3); } return sum * 10 + half(half(20));",
  },
  {
    name: "functions of the handler, with names of theirs",
    body: "const y = x; const g = (n) => { let y = n; y += x; return y; }; { let n = 3; n += g(n) + g(y); return n * 100 + later(n) + y; } function later(x) { return x * 2; }",
  },

  // mathematics
  {
    name: "the least and the greatest",
    body: "return Math.min(x, 9) + Math.min(x * 2, 3, x) * 10 + Math.max(1, x, x - 1) * 100 + Math.max(-x, -7) * 1000;",
  },
  {
    name: "signs",
    body: "return Math.abs(x) + Math.abs(2 - x) * 10 + Math.sign(x - 9) * 100 + Math.sign(x) * 1000 + Math.sign(x - 5);",
  },
  {
    name: "divisions that round",
    body: "return Math.floor(x / 2) + Math.floor((x - 12) / 2) * 10 + Math.ceil(x / 2) * 100 + Math.ceil((x - 12) / 2) * 1000 + Math.trunc((x - 12) / 2) * 10000;",
  },
  {
    name: "divisions by what is negative",
    body: "return Math.floor(x / (x - 7)) + Math.ceil(x / (x - 7)) * 10 + Math.floor(-x / (x - 7)) * 100 + Math.ceil(-x / (x - 7)) * 1000;",
  },
  {
    name: "divisions without a rest",
    body: "return Math.floor((x - 11) / 3) * 10 + Math.ceil((x + 1) / 3) + Math.floor(x + 1) * 100;",
  },
  { name: "powers of what is written", body: "return x * 2 ** 10 + 1024 ** 2;" },

  // lists and objects around
  {
    name: "a list by a number",
    body: "let sum = 0; for (let i = 0; i < list.length; i++) sum = sum * 100 + list[i]; return sum;",
  },
  {
    name: "a list that is gone over",
    body: "let sum = 0; for (const n of list) { if (n === 20) continue; sum = sum * 100 + n; if (sum > x) break; } return sum;",
  },
  {
    name: "a written list that is gone over",
    body: "let n = 0; for (const y of [x, 3, x * 2]) n = n * 100 + y; return n;",
  },
  {
    name: "a written list is read before",
    body: "let y = x; let sum = 0; for (const z of [y, y + 1]) { y = 100; sum += z; } return sum;",
  },
  {
    name: "a list of texts that is gone over",
    body: 'let n = 0; for (const word of words) n = n * 10 + word.length + Number(word === "one") * 5; return n;',
  },
  {
    name: "whether a written list has it",
    body: 'const t = x > 3 ? "one" : "two"; return Number([1, x, 3].includes(5)) + Number(["a", "one"].includes(t)) * 10 + Number([x].includes(4)) * 100;',
  },
  { name: "an object by a key", body: 'const t = x > 3 ? "b" : "a"; return codes[t] * 10 + codes.a;' },
  {
    name: "an object by a number",
    body: 'return byNumber[x].length * 10 + Number(byNumber[x] === "five") + (byNumber[x + 1] ?? "none").length * 100;',
  },
  {
    name: "Sets and Maps",
    body: "return Number(some.has(x)) + Number(some.has(x + 1)) * 10 + some.size * 100 + (prices.get(x) ?? 9) * 1000 + (prices.get(x + 1) ?? 7) * 10000 + Number(prices.has(x + 1)) + Number(prices.get(x) === undefined);",
  },
  {
    name: "what is around is taken apart",
    body: "const { low, deep: { high } } = limits; const [first, , third = 8] = list; return low + high * 10 + first * 100 + third;",
  },
  {
    name: "what is undefined around",
    body: "const none = nothing.at !== undefined && x === nothing.at; if (nothing.at !== undefined) return nothing.at; return Number(none) + (nothing.at ?? x) * 10 + (nothing.there ?? 7) * 100 + (nothing.at ? 1 : 2) * 1000;",
  },
  { name: "a constant that is 0 is there", body: "return nothing.zero === undefined ? 1 : 2 + (nothing.zero ?? 5);" },
  {
    name: "defaults where nothing is missing",
    body: "const { a = 9, b } = { a: x, b: 2 }; const [c = 8] = [x]; return a + b * 10 + c * 100;",
  },

  {
    name: "a variable that may have got nothing",
    body: "const has = x === 5 ? 1 : 0; let a; if (has) a = x - 5; let b; if (!has) b = 7; b ??= 3; return (a ?? 9) + Number(a === undefined) * 10 + b * 100 + Number(b === undefined) * 1000;",
  },

  // texts
  {
    name: "parts of texts from anywhere",
    body: 'const t = x > 3 ? "strobe" : "else"; const is = (x > 3 ? t.slice(2, 4) === "ro" : false); return Number(is) + Number(t.slice(3) === "obe") * 10 + Number(t.slice(-2) === "be") * 100 + Number(t.slice(1, -1) === "trob") * 1000 + Number(t.slice(x, 3) === "") * 10000 + Number(t.substring(x - 1) === "be") * 100000;',
  },
  {
    name: "parts of texts beyond them",
    body: 'const t = x > 3 ? "strobe" : "else"; return Number(t.slice(9) === "") + Number(t.slice(4, 99) === "be") * 10 + Number(t.slice(-99) === "strobe") * 100 + Number(t.slice(x + 1) === "") * 1000 + Number(t.charAt(7) === "") * 10000;',
  },
  {
    name: "the end of a text",
    body: 'const t = x > 3 ? "strobe" : "else"; const be = x > 3 ? "be" : "se"; return Number(t.endsWith("obe")) + Number(t.endsWith("ob")) * 10 + Number(t.endsWith(be)) * 100 + Number(t.endsWith("a strobe")) * 1000 + Number(t.endsWith("")) * 10000;',
  },
  {
    name: "a beginning that is not known before",
    body: 'const t = x > 3 ? "strobe" : "else"; const a = x > 3 ? "str" : "x"; return Number(t.startsWith(a)) + Number(a.startsWith(t)) * 10 + Number(t.charAt(1) === "t") * 100 + Number(t.charAt(x) === "e") * 1000;',
  },
  {
    name: "texts",
    body: 'const t = x > 3 ? "strobe" : "else"; return Number(t === "strobe") + Number(t.startsWith("stro")) * 10 + Number(t.includes("rob")) * 100 + t.indexOf("be") * 1000;',
  },
  {
    name: "texts that are not there",
    body: 'const t = x > 3 ? "strobe" : "else"; return Number(t === "strob") + Number(t.startsWith("Stro")) * 10 + Number(t.includes("rib")) * 100 + t.indexOf("x") * 1000;',
  },
  {
    name: "texts have an order",
    body: 'const t = x > 3 ? "strobe" : "else"; const u = x > 3 ? "stroke" : "else"; return Number(t < u) + Number(t > "strob") * 10 + Number("strobes" < t) * 100 + Number(u <= "stroke") * 1000 + Number(t >= u) * 10000;',
  },
  { name: "texts have a length", body: 'const t = x > 3 ? "four" : "else"; return t.length * 10 + (t + "ty").length;' },
  {
    name: "parts of texts",
    body: 'const t = x > 3 ? "strobe" : "else"; return Number(t.slice(0, 3) === "str") + Number(t.slice(0, 9) === "strobe") * 10 + t.charCodeAt(1);',
  },
  {
    name: "templates",
    body: 'const t = x > 3 ? "b" : "else"; return Number(`a${t}c${t}` === "abcb") + Number(t + "c" === "bc") * 10;',
  },
];
