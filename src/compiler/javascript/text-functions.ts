// What the host does with texts (language/host-texts.ts): functions of strings and BigInts that generated sources carry
// along. Texts that are bytes have a character for each.

export const textFunctions = {
  /** A text in memory, up to its NUL. */
  textIn: `function textIn(bytes, at, capacity, encoding) {
  return Buffer.from(bytes.subarray(at, at + stringLength(bytes, at, capacity))).toString(encoding);
}`,
  /** As much as there is room for, in whole characters, and zeroes behind it. */
  putText: `function putText(bytes, at, capacity, text, encoding) {
  const all = Buffer.from(text, encoding), nul = all.indexOf(0);
  let end = Math.min(nul < 0 ? all.length : nul, capacity - 1);
  if (encoding === "utf8" && end < all.length) while (end > 0 && (all[end] & 0xc0) === 0x80) end--;
  bytes.fill(0, at, at + capacity);
  bytes.set(all.subarray(0, end), at);
}`,
  formattedText: `function formattedText(format, ...args) {
  let next = 0;
  const pattern = /%([-+ #0]*)(\\*|\\d*)(?:\\.(\\*|\\d*))?l*([a-zA-Z%])/g;
  return format.replace(pattern, (whole, flags, width, precision, letter) => {
    if (letter === "%") return "%";
    const wide = width === "*" ? Number(args[next++]) : Number(width);
    const most = precision === "*" ? Number(args[next++]) : precision === undefined ? -1 : Number(precision);
    const value = args[next++] ?? "";
    let sign = "", digits = "", number = true;
    switch (letter) {
      case "s": number = false; digits = most < 0 ? String(value) : String(value).slice(0, most); break;
      case "c": number = false; digits = String.fromCharCode(Number(BigInt.asUintN(8, BigInt(value)))); break;
      case "d": case "i":
        sign = value < 0n ? "-" : flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";
        digits = String(value < 0n ? -value : value);
        break;
      default: {
        const base = { x: 16, X: 16, o: 8 }[letter] ?? 10;
        digits = BigInt.asUintN(64, BigInt(value)).toString(base);
        if (flags.includes("#")) sign = { x: "0x", X: "0X", o: "0" }[letter] ?? "";
        if (letter === "X") digits = digits.toUpperCase();
      }
    }
    if (number && most >= 0) digits = digits.padStart(most, "0");
    const size = Math.abs(wide);
    if (flags.includes("-") || wide < 0) return (sign + digits).padEnd(size);
    if (number && most < 0 && flags.includes("0")) return sign + digits.padStart(size - sign.length, "0");
    return (sign + digits).padStart(size);
  });
}`,
  bytesOfText: `function bytesOfText(text, from, size) {
  return from < 0n || from >= BigInt(text.length) || size <= 0n ? "" : text.substr(Number(from), size > 65535n ? 65535 : Number(size));
}`,
  byteOfText: `function byteOfText(text, at) {
  return at < 0n || at >= BigInt(text.length) ? 0n : BigInt(text.charCodeAt(Number(at)));
}`,
  escapedText: `function escapedText(text) {
  const short = { "\\n": "\\\\n", "\\t": "\\\\t", "\\r": "\\\\r", "\\f": "\\\\f", "\\v": "\\\\v", "\\b": "\\\\b", "\\x07": "\\\\a", '"': '\\\\"', "\\\\": "\\\\\\\\" };
  return text.replace(/[^ !#-[\\]-~]/g, (one) => short[one] ?? "\\\\" + one.charCodeAt(0).toString(8).padStart(3, "0"));
}`,
  escapedCharacter: `function escapedCharacter(number) {
  const short = { 7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 39: "'", 92: "\\\\" };
  const code = Number(number & 255n);
  if (short[code] !== undefined) return "\\\\" + short[code];
  return code < 32 || code > 126 ? "\\\\" + code.toString(8).padStart(3, "0") : String.fromCharCode(code);
}`,
  wordOfList: `function wordOfList(words, number) {
  return number < 0n ? "" : (words.split(",")[Number(number)] ?? "");
}`,
  flagNames: `function flagNames(number, words) {
  const bits = BigInt.asUintN(64, number);
  const pairs = (list = "") =>
    list === "" ? [] : list.split(",").map((one) => one.split("=")).map(([name, value]) => [name, BigInt(value)]);
  const [values, flags] = words.split("|");
  const [mask, named] = values.split(":");
  const within = BigInt.asUintN(64, BigInt(mask));
  const value = bits & within;
  let left = bits & ~within;
  const found = [];
  for (const [name, flag] of pairs(flags)) {
    if ((left & flag) !== flag) continue;
    left &= ~flag;
    found.push(name);
  }
  const own = pairs(named).find(([, of]) => of === value)?.[0];
  const hex = (of) => "0x" + of.toString(16);
  if (within !== 0n) found.unshift(own ?? (within === 2n ** 64n - 1n ? String(number) : hex(value)));
  if (left !== 0n) found.push(hex(left));
  return found.length > 0 ? found.join("|") : (own ?? "0x0");
}`,
  replacedText: `function replacedText(text, before, after) {
  return before === "" ? text : text.split(before).join(after);
}`,
  nextToken: `function nextToken(text, delimiters) {
  if (text !== "") nextToken.rest = text;
  const rest = nextToken.rest ?? "";
  let from = 0;
  while (from < rest.length && delimiters.includes(rest[from])) from++;
  let to = from;
  while (to < rest.length && !delimiters.includes(rest[to])) to++;
  nextToken.rest = rest.slice(to + 1);
  return rest.slice(from, to);
}`,
  dateText: `function dateText(seconds) {
  const date = new Date(Number(seconds) * 1000);
  if (Number.isNaN(date.getTime())) return "";
  const [, day, month, year, time] = /^(\\w+), \\d+ (\\w+) (-?\\d+) (\\S+)/.exec(date.toUTCString()) ?? [];
  return \`\${day} \${month} \${String(date.getUTCDate()).padStart(2)} \${time} \${Number(year)}\`;
}`,
  zoneDateText: `function zoneDateText(seconds) {
  const date = new Date(Number(seconds) * 1000);
  const [, day, month, , year, time, name = ""] =
    /^(\\w+) (\\w+) (\\d+) (-?\\d+) (\\S+) \\S+ \\((.*)\\)$/.exec(date.toString()) ?? [];
  const zone = name === "Coordinated Universal Time" ? "UTC" : name.replace(/[a-z ]/g, "");
  return \`\${day} \${month} \${String(date.getDate()).padStart(2)} \${time} \${Number(year)} \${zone}\`;
}`,
  parsedNumber: `function parsedNumber(text, wanted) {
  const [, minus, unsigned] = /^(-?)([^]*)$/.exec(text);
  const hexadecimal = /^0[xX][0-9a-fA-F]/.test(unsigned);
  const base = wanted === 0n ? (hexadecimal ? 16 : unsigned[0] === "0" ? 8 : 10) : Number(wanted);
  let value = 0n;
  for (const letter of base === 16 && hexadecimal ? unsigned.slice(2) : unsigned) {
    const digit = /[0-9a-zA-Z]/.test(letter) ? Number.parseInt(letter, 36) : NaN;
    if (!(digit < base)) break;
    value = BigInt.asUintN(64, value * BigInt(base) + BigInt(digit));
  }
  return minus === "" ? value : -value;
}`,
  matchesPattern: `function matchesPattern(text, pattern) {
  const known = (matchesPattern.patterns ??= new Map());
  let compiled = known.get(pattern);
  if (compiled === undefined) known.set(pattern, (compiled = new RegExp(pattern, "s")));
  let found = compiled.exec(text);
  // Of alternatives the longest that matches there is meant, not the first.
  if (found !== null && pattern.includes("|") && !pattern.includes("$")) {
    const whole = new RegExp("(?:" + pattern + ")$", "sy");
    for (let end = text.length; end > found.index + found[0].length; end--) {
      whole.lastIndex = found.index;
      const longer = whole.exec(text.slice(0, end));
      if (longer !== null) { found = longer; break; }
    }
  }
  if (found !== null) matchesPattern.found = found;
  return found === null ? 0n : 1n;
}`,
  matchedPart: `function matchedPart(group) {
  return matchesPattern.found?.[Number(group)] ?? "";
}`,
  subtext: `function subtext(text, from, size) {
  const length = BigInt(text.length);
  let start = from, count = size;
  if (start < 0n) {
    start += length;
    if (start < 0n) {
      if (count >= 0n) { count += start; if (count < 0n) count = 0n; }
      start = 0n;
    }
  }
  if (start >= length) return "";
  let end = count < 0n ? length + count : start + count;
  if (end > length) end = length;
  return end <= start ? "" : text.slice(Number(start), Number(end));
}`,
  indexOfText: `function indexOfText(text, part, from) {
  const start = from < 0n ? 0 : Number(from);
  return start > text.length ? -1n : BigInt(text.indexOf(part, start));
}`,
  lastIndexOfText: `function lastIndexOfText(text, part, from) {
  return from < 0n ? (part === "" ? 0n : -1n) : BigInt(text.lastIndexOf(part, Number(from)));
}`,
  textFromByte: `function textFromByte(text, byte) {
  const at = text.indexOf(String.fromCharCode(Number(BigInt.asUintN(8, byte))));
  return at < 0 ? "" : text.slice(at);
}`,
  textFromLastByte: `function textFromLastByte(text, byte) {
  const at = text.lastIndexOf(String.fromCharCode(Number(BigInt.asUintN(8, byte))));
  return at < 0 ? "" : text.slice(at);
}`,
  textFromPart: `function textFromPart(text, part) {
  const at = text.indexOf(part);
  return at < 0 ? "" : text.slice(at);
}`,
  baseName: `function baseName(path) {
  const [, last] = /([^/]*)\\/*$/.exec(path);
  return path === "" ? "." : last === "" ? "/" : last;
}`,
  directoryName: `function directoryName(path) {
  const [, before] = /^(.*?)\\/*[^/]*\\/*$/s.exec(path);
  return before !== "" ? before : path.startsWith("/") ? "/" : ".";
}`,
  cleanPath: `function cleanPath(path) {
  const parts = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (!path.startsWith("/")) parts.push(part);
  }
  return (path.startsWith("/") ? "/" : "") + parts.join("/");
}`,
  numberText: `function numberText(number, base) {
  if (base === 10n) return String(BigInt.asIntN(64, number));
  if (base < 2n || base > 36n) return "";
  const digits = BigInt.asUintN(64, number).toString(Number(base));
  return base === 16n ? "0x" + digits : base === 8n ? "0" + digits : digits;
}`,
  quotedBytes: `function quotedBytes(bytes, most) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const short = { 10: "\\\\n", 9: "\\\\t", 13: "\\\\r", 12: "\\\\f", 11: "\\\\v", 8: "\\\\b", 7: "\\\\a", 34: '\\\\"', 92: "\\\\\\\\" };
  const parts = [...bytes.subarray(4, 4 + size)].map((one) =>
    short[one] ?? (one < 32 || one > 126 ? "\\\\" + one.toString(8).padStart(3, "0") : String.fromCharCode(one)),
  );
  const room = Number(most) - 2, whole = parts.join("");
  if (whole.length <= room) return '"' + whole + '"';
  let text = "", at = 0;
  while (at < parts.length && text.length + parts[at].length <= room - 3) text += parts[at++];
  return '"' + text + '"...';
}`,
  charactersOfBytes: `function charactersOfBytes(bytes, width) {
  const view = new DataView(bytes.buffer, bytes.byteOffset), size = view.getUint32(0, true);
  const units = Array.from({ length: Math.floor(size / Number(width)) }, (_, i) =>
    width === 2n ? view.getUint16(4 + i * 2, true) : view.getUint32(4 + i * 4, true),
  );
  const end = units.indexOf(0), all = end < 0 ? units : units.slice(0, end);
  const text = width === 2n ? String.fromCharCode(...all) : String.fromCodePoint(...all.map((one) => (one > 0x10ffff ? 0xfffd : one)));
  return Buffer.from(text, "utf8").toString("latin1");
}`,
  escapedCharacters: `function escapedCharacters(text) {
  const short = { "\\n": "\\\\n", "\\t": "\\\\t", "\\r": "\\\\r", "\\f": "\\\\f", "\\v": "\\\\v", "\\b": "\\\\b", "\\x07": "\\\\a", '"': '\\\\"', "\\\\": "\\\\\\\\" };
  return Array.from(Buffer.from(text, "latin1").toString("utf8"), (one) => {
    const code = one.codePointAt(0);
    if (short[one] !== undefined) return short[one];
    if (code >= 32 && code < 127) return one;
    if (code < 128) return "\\\\" + code.toString(8).padStart(3, "0");
    return code < 65536 ? "\\\\u" + code.toString(16).toUpperCase().padStart(4, "0") : "\\\\U" + code.toString(16).toUpperCase().padStart(8, "0");
  }).join("");
}`,
  zoneOffset: `function zoneOffset() {
  return BigInt(new Date().getTimezoneOffset() * 60);
}`,
  joinedWords: `function joinedWords(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const all = Buffer.from(bytes.subarray(4, 4 + size)).toString("latin1").replace(/\\0+$/, "");
  return all.replaceAll("\\0", " ");
}`,
  hexOfBytes: `function hexOfBytes(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return Buffer.from(bytes.subarray(4, 4 + size)).toString("hex");
}`,
  textOfBytes: `function textOfBytes(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return Buffer.from(bytes.subarray(4, 4 + size)).toString("latin1").replace(/\\0.*$/s, "");
}`,
  /** What is 0 is left out, but for what stands at the address itself. */
  dumpedBytes: `function dumpedBytes(bytes) {
  const lines = ["", " ".repeat(13) + "0123456789abcdef".split("").map((one) => one.padEnd(3)).join("").trimEnd() + "  0123456789abcdef"];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = [...bytes.subarray(at, at + 16)];
    const hex = row.map((one) => one.toString(16).padStart(2, "0")).join(" ").padEnd(47);
    lines.push(at.toString(16).padStart(10) + ": " + hex + "  " + row.map((one) => (one < 32 || one > 126 ? "." : String.fromCharCode(one))).join(""));
  }
  return lines.join("\\n") + "\\n";
}`,
  tracedBytes: `function tracedBytes(bytes, from, width) {
  const own = bytes.subarray(Number(from));
  const text = Buffer.from(own).toString("latin1");
  const end = text.search(/\\0*$/);
  if (width >= 0n && end > 0 && /^[ -~\\s\\x07\\b]+$/.test(text.slice(0, end)))
    return width === 0n ? text.slice(0, end) : "  " + text.slice(0, end).padEnd(Number(width));
  return dumpedBytes(own);
}`,
  tracedNumber: `function tracedNumber(value, size) {
  const all = Buffer.alloc(8);
  all.writeBigInt64LE(BigInt.asIntN(64, value));
  return dumpedBytes(all.subarray(0, Number(size)));
}`,
  tracedText: `function tracedText(text, size) {
  const all = Buffer.alloc(Math.min(Number(size), 65536));
  all.write(text, "latin1");
  return dumpedBytes(all);
}`,
  printedMemory: `function printedMemory(description, bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const memory = new DataView(bytes.buffer, bytes.byteOffset + 4, length);
  const number = (of, at, bit = 0, bits = of.size * 8) => {
    let value = 0n;
    for (let i = of.size - 1; i >= 0; i--) value = (value << 8n) | BigInt(at + i < length ? memory.getUint8(at + i) : 0);
    value = BigInt.asUintN(bits, value >> BigInt(bit));
    return of.kind === "unsigned" || of.kind === "pointer" ? value : BigInt.asIntN(bits, value);
  };
  const isZero = (of, at) => {
    for (let i = 0; i < of.size; i++) if (at + i < length && memory.getUint8(at + i) !== 0) return false;
    return true;
  };
  const scalar = (of, value) => {
    if (of.kind === "pointer") return "0x" + value.toString(16);
    if (of.kind === "character") return "'" + String.fromCharCode(Number(BigInt.asUintN(8, value))) + "'";
    return of.names?.find(([one]) => BigInt(one) === value)?.[1] ?? String(value);
  };
  const lines = [];
  const show = (of, at, indent, name, top, bit, bits) => {
    const start = " ".repeat(indent) + (name === "" ? "" : "." + name + " = ") + "(" + of.name + ")";
    const end = top && of.kind === "struct" ? "" : ",";
    if (of.kind === "struct") {
      lines.push(start + " {");
      for (const [member, offset, type, from, size] of of.members) {
        if (at + offset >= length) {
          lines.push(" ".repeat(indent + 1) + "...");
          break;
        }
        if (from === undefined ? !isZero(type, at + offset) : number(type, at + offset, from, size) !== 0n)
          show(type, at + offset, indent + 1, member, false, from, size);
      }
      lines.push(" ".repeat(indent) + "}" + end);
    } else if (of.kind === "array") {
      lines.push(start + " [");
      for (let i = 0; i < of.count; i++)
        if (!isZero(of.element, at + i * of.element.size)) show(of.element, at + i * of.element.size, indent + 1, "", false);
        else if (of.element.kind === "character") break;
      lines.push(" ".repeat(indent) + "]" + end);
    } else lines.push(start + scalar(of, number(of, at, bit, bits)) + end);
  };
  show(JSON.parse(description), 0, 44, "", true);
  return lines.join("\\n") + "\\n";
}`,
  /** The URL standard shortens IPv6 addresses as inet_ntop() does, but for IPv4 ones in them. */
  addressText: `function addressText(bytes) {
  const four = [...bytes.subarray(-4)].join(".");
  if (bytes.length === 4) return four;
  const front = Buffer.from(bytes.subarray(0, 12)).toString("hex");
  if (front === "00000000000000000000ffff") return "::ffff:" + four;
  if (/^0+$/.test(front) && (bytes[12] !== 0 || bytes[13] !== 0)) return "::" + four;
  const words = Buffer.from(bytes).toString("hex").match(/.{4}/g).join(":");
  return new URL("http://[" + words + "]").hostname.slice(1, -1);
}`,
  /** Of file systems whose files have no path (linux/magic.h) the kernel makes a name. */
  joinedPath: `function joinedPath(magic, inode, gone, more, ...names) {
  if (magic === 0x534f434bn) return "socket:[" + inode + "]";
  if (magic === 0x50495045n) return "pipe:[" + inode + "]";
  if (magic === 0x09041934n) return "anon_inode:" + names[0];
  const whole = names.filter((name) => name !== "").map((name) => (name.length < 127 ? name : name + "..."));
  const path = (more ? "..." : "") + "/" + whole.reverse().join("/");
  return gone ? path + " (deleted)" : path;
}`,
  matchedGroups: `function matchedGroups() {
  return BigInt(matchesPattern.found?.length ?? 0);
}`,
  doubleComputed: `function doubleComputed(operation, left, right) {
  const view = new DataView(new ArrayBuffer(8));
  const double = (bits) => { view.setBigUint64(0, BigInt.asUintN(64, bits)); return view.getFloat64(0); };
  const bits = (value) => { view.setFloat64(0, value); return view.getBigInt64(0); };
  const a = double(left), b = double(right);
  switch (operation) {
    case "long": return bits(Number(BigInt.asIntN(64, left)));
    case "single": view.setUint32(0, Number(BigInt.asUintN(32, left))); return bits(view.getFloat32(0));
    case "+": return bits(a + b);
    case "-": return bits(a - b);
    case "*": return bits(a * b);
    case "/": return bits(a / b);
    case "sqrt": return bits(Math.sqrt(a));
    case "==": return a === b ? 1n : 0n;
    case "<=": return a <= b ? 1n : 0n;
    case "<": return a < b ? 1n : 0n;
  }
  // Of the nearest multiple; of the even one of two as near.
  if (!Number.isFinite(a) || b === 0 || Number.isNaN(b)) return bits(NaN);
  if (!Number.isFinite(b)) return bits(a);
  const size = Math.abs(b), wide = size <= Number.MAX_VALUE / 2;
  let rest = wide ? Math.abs(a) % (size * 2) : Math.abs(a);
  if (rest > size - rest) {
    rest -= size;
    if (rest >= size - rest) rest -= size;
  }
  return bits(a < 0 || Object.is(a, -0) ? -rest : rest);
}`,
  /** A double is a whole number times a power of two: its digits are those of whole numbers. */
  doubleText: `function doubleText(bits, places) {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt.asUintN(64, bits));
  const value = view.getFloat64(0);
  return Number.isFinite(value) ? value.toFixed(Math.min(Math.max(Number(places), 0), 100)) : String(value);
}`,
  parsedDouble: `function parsedDouble(text) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Number.parseFloat(text));
  return view.getBigInt64(0);
}`,
  doubleAsNumber: `function doubleAsNumber(bits, mode) {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt.asUintN(64, bits));
  const value = view.getFloat64(0);
  const down = Math.floor(value), part = value - down, up = Math.ceil(value);
  const even = down % 2 === 0 ? down : up;
  const rounded =
    mode === 1n ? Math.trunc(value)
    : mode === 2n ? down
    : mode === 3n ? up
    : mode === 6n ? (part === 0 || down % 2 !== 0 ? down : up)
    : part < 0.5 ? down : part > 0.5 ? up
    : mode === 4n ? (value < 0 ? down : up) : even;
  // What no number of 64 bits is, is the least, as of the processor's cvtsd2si.
  return rounded >= -(2 ** 63) && rounded < 2 ** 63 ? BigInt(rounded) : -(1n << 63n);
}`,
  upperCase: `function upperCase(text) { return text.toUpperCase(); }`,
  lowerCase: `function lowerCase(text) { return text.toLowerCase(); }`,
  /** At both ends (0), at the beginning, at the end. */
  trimmedText: `function trimmedText(text, end) {
  return end === 0n ? text.trim() : end === 1n ? text.trimStart() : text.trimEnd();
}`,
  partOfText: `function partOfText(text, separator, index) {
  return text.split(separator)[Number(index)] ?? "";
}`,
  paddedText: `function paddedText(text, size, fill, end) {
  const wanted = Number(size < 0n ? 0n : size > 65535n ? 65535n : size);
  return end === 0n ? text.padStart(wanted, fill) : text.padEnd(wanted, fill);
}`,
  parsedInteger: `function parsedInteger(text, base) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Number.parseInt(text, Number(base)));
  return view.getBigInt64(0);
}`,
  hasPattern: `function hasPattern(text, pattern, flags) {
  const known = (hasPattern.patterns ??= new Map()), key = flags + "/" + pattern;
  let compiled = known.get(key);
  if (compiled === undefined) known.set(key, (compiled = new RegExp(pattern, flags)));
  compiled.lastIndex = 0;
  return compiled.test(text) ? 1n : 0n;
}`,
} as const;
