import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import * as fc from "fast-check";
import { cpuSeconds } from "../../../test/support/cpu-time.ts";
import { bytesOf, Elf, ElfError } from "../elf.ts";
import { DwarfError } from "./cursor.ts";
import { openDebugInfo } from "./debug-info.ts";
import type { DebugInfo, LinePlace, Location } from "./facts.ts";

const folder = mkdtempSync(join(tmpdir(), "strobe-dwarf-"));
after(() => rmSync(folder, { recursive: true }));
const source = resolve("src/debuginfo/dwarf/fixture.c");
const plusSource = resolve("src/debuginfo/dwarf/fixture.cpp");
const has = (tool: string): boolean => spawnSync(tool, ["--version"]).status === 0;
const missing = !existsSync(source)
  ? "run from the project's folder"
  : !has("gcc") || !has("readelf")
    ? "needs gcc and binutils"
    : process.arch !== "x64" && "registers are those of x86-64";

interface Built {
  readonly path: string;
  readonly elf: Elf;
  readonly info: DebugInfo;
}

let count = 0;
function build(compiler: string, options: readonly string[], from = source): Built {
  const path = join(folder, `program${++count}`);
  // Compiled apart, so that split entries have a file of their own.
  execFileSync(compiler, [...options, "-c", "-o", `${path}.o`, from], { cwd: folder });
  execFileSync(compiler, [...options, "-o", path, `${path}.o`], { cwd: folder });
  return open(path);
}

function open(path: string): Built {
  const elf = new Elf(bytesOf(readFileSync(path)));
  const split = (name: string, from: string): Elf => new Elf(bytesOf(readFileSync(resolve(from, name))));
  return { path, elf, info: openDebugInfo({ binary: elf, debug: elf, split }) };
}

const placesAt = (info: DebugInfo, file: string, line: number): readonly LinePlace[] =>
  info.linePlaces(file, { ranges: [{ first: line, last: line }] }).places;

/** Address of a symbol, as nm has it. */
function symbol(path: string, name: string): bigint {
  const line = execFileSync("nm", [path], { encoding: "utf8" })
    .split("\n")
    .find((each) => each.endsWith(` ${name}`));
  assert.ok(line, name);
  return BigInt(`0x${line.split(" ")[0]}`);
}

const settings: readonly (readonly [string, ...string[]])[] = [
  ["gcc", "-g"],
  ["gcc", "-gdwarf-4"],
  ["gcc", "-g", "-gz=zlib"],
  ["gcc", "-g", "-gsplit-dwarf"],
  ["gcc", "-gdwarf-4", "-gsplit-dwarf"],
  ["gcc", "-gdwarf-4", "-fdebug-types-section"],
  ["gcc", "-g", "-fdebug-types-section"],
  ["gcc", "-g", "-ffunction-sections", "-Wl,--gc-sections"],
  ["gcc", "-g", "-no-pie"],
  ["gcc", "-gdwarf64", "-gdwarf-5"],
  ...(has("clang")
    ? ([
        ["clang", "-gdwarf-5"],
        ["clang", "-gdwarf-4"],
        ["clang", "-gdwarf-5", "-gsplit-dwarf"],
      ] as const)
    : []),
];

for (const [compiler, ...options] of settings) {
  test(`what ${compiler} ${options.join(" ")} tells of unoptimised code`, { skip: missing }, () => {
    const { path, info } = build(compiler, ["-O0", ...options]);
    assert.deepEqual([...new Set(info.functionNames())].sort(), ["add", "main", "twice"]);

    const [add, ...others] = info.functionsNamed("add");
    assert.equal(others.length, 0);
    assert.deepEqual([add.qualifiedName, add.language, add.declared.line, add.declared.file], ["add", "c", 14, source]);
    assert.deepEqual(
      add.parameters.map(({ name }) => name),
      ["p", "n"],
    );
    assert.equal(add.result?.kind === "base" && add.result.name, "int");
    const [body] = add.instances;
    assert.deepEqual([add.instances.length, body.kind, body.entry], [1, "body", symbol(path, "add")]);

    // Behind the prologue everything is in the frame, which rbp tells.
    const start = info.afterPrologue(body);
    assert.ok(start > body.entry && start < body.entry + 32n);
    assert.deepEqual(
      info.variablesAt(start).map(({ name, kind }) => [name, kind]),
      [
        ["sum", "local"],
        ["p", "parameter"],
        ["n", "parameter"],
      ],
    );
    for (const variable of info.variablesAt(start)) assertInFrame(variable.location(start));

    const inLoop = placesAt(info, "fixture.c", 17);
    assert.deepEqual(
      inLoop.map((place) => [place.file, place.line, place.function]),
      [[source, 17, "add"]],
    );
    assert.deepEqual(
      info.variablesAt(inLoop[0].address).map(({ name }) => name),
      ["i", "sum", "p", "n"],
    );
    assert.deepEqual(placesAt(info, source, 17), placesAt(info, "fixture.c", 17));
    assert.deepEqual(placesAt(info, "ixture.c", 17), [], "half a name is no name");
    assert.deepEqual(placesAt(info, "other.c", 17), []);
    assert.equal(placesAt(info, "fixture.c", 13)[0].line, 14, "the nearest later line");
    assert.deepEqual(placesAt(info, "fixture.c", 1000), []);

    // An inlined function: two copies, each with what called it.
    const [twice] = info.functionsNamed("twice");
    const copies = twice.instances.filter(({ kind }) => kind === "inlined");
    assert.deepEqual(
      new Set(copies.map(({ caller }) => `${caller?.name} ${caller?.position.line}`)),
      new Set(["add 17", "main 25"]),
    );
    for (const copy of copies) {
      const frames = info.framesAt(copy.entry);
      assert.deepEqual(
        frames.map((frame) => [frame.function, frame.inlined]),
        [
          ["twice", true],
          [copy.caller?.name, false],
        ],
      );
      assert.equal(frames[1].position.line, copy.caller?.position.line);
      assert.deepEqual(
        copy.parameters.map(({ name }) => name),
        ["v"],
      );
    }
    assert.equal(placesAt(info, "fixture.c", 10).length, 2, "each copy of a line");

    const [counter] = info.globalsNamed("counter");
    assert.deepEqual([counter.kind, counter.declared.line], ["static", 5]);
    assert.deepEqual(counter.location(0n), {
      kind: "memory",
      address: { kind: "static", address: symbol(path, "counter") },
    });
    const [perThread] = info.globalsNamed("per_thread");
    assert.deepEqual(
      [perThread.kind, perThread.location(0n)],
      ["thread-local", { kind: "memory", address: { kind: "thread-local", offset: 0n } }],
    );
    assert.deepEqual(info.globalsNamed("hidden"), [], "a function's own");
    const main = info.functionsNamed("main")[0].instances[0];
    const hidden = info.variablesAt(info.afterPrologue(main)).find(({ name }) => name === "hidden")!;
    assert.equal(hidden.kind, "static");

    const point = info.typeNamed("point", "struct");
    assert.ok(point?.kind === "struct" && point.tag === "struct");
    assert.deepEqual([point.bytes, point.declaration], [24, false]);
    assert.deepEqual(
      point.members().map(({ name, offset, bitOffset, bitWidth }) => [name, offset, bitOffset, bitWidth]),
      [
        ["x", 0, undefined, undefined],
        ["y", 4, undefined, undefined],
        ["flag", 8, 0, 3],
        ["next", 16, undefined, undefined],
      ],
    );
    const next = point.members()[3].type();
    assert.ok(next.kind === "pointer");
    assert.deepEqual(next.target().kind === "struct" && next.target(), point, "a type refers to itself");
    const [shade] = info.globalsNamed("shade");
    assert.ok(shade.type.kind === "enum");
    assert.deepEqual(
      [shade.type.bytes, shade.type.signed, shade.type.values()],
      [
        4,
        false,
        [
          { name: "RED", value: 0n },
          { name: "GREEN", value: 5n },
        ],
      ],
    );
    const place = info.typeNamed("place");
    assert.ok(place?.kind === "typedef" && place.target().kind === "struct");
    assert.equal(info.typeNamed("nothing"), undefined);
  });
}

function assertInFrame(location: Location): void {
  assert.ok(location.kind === "memory" && location.address.kind === "binary", JSON.stringify(location.kind));
  // rbp, or rsp where clang keeps no frame.
  assert.ok(location.address.left.kind === "register" && [6, 7].includes(location.address.left.register));
}

for (const [compiler, ...options] of [
  ["gcc", "-O2", "-g"],
  ["gcc", "-O3", "-gdwarf-4"],
  ["clang", "-O2", "-gdwarf-5"],
]) {
  test(
    `what ${compiler} ${options.join(" ")} tells of optimised code`,
    { skip: missing || (!has(compiler) && `needs ${compiler}`) },
    () => {
      const { path, info } = build(compiler, options);
      const body = info.functionsNamed("add")[0].instances.find(({ kind }) => kind === "body")!;
      assert.equal(body.entry, symbol(path, "add"));
      assert.equal(info.afterPrologue(body), body.entry, "lists tell where arguments are at the entry");
      // The calling convention: rdi is DWARF's 5, rsi its 4.
      assert.deepEqual(
        body.parameters.map((each) => [each.name, each.location(body.entry)]),
        [
          ["p", { kind: "register", register: 5 }],
          ["n", { kind: "register", register: 4 }],
        ],
      );
      const last = body.ranges.reduce((high, range) => (range.high > high ? range.high : high), 0n) - 1n;
      for (const variable of info.variablesAt(last)) assert.ok(variable.location(last).kind);
      for (const copy of info.functionsNamed("twice")[0].instances) assert.equal(copy.kind, "inlined");
    },
  );
}

test(
  "C++: qualified and linkage names, templates, base classes, references",
  { skip: missing || (!has("g++") && "needs g++") },
  () => {
    for (const options of [["-g"], ["-gdwarf-4", "-fdebug-types-section"], ["-g", "-gsplit-dwarf"], ["-g", "-O1"]]) {
      const { path, info } = build("g++", options, plusSource);
      const linkage = "_ZNK3app6Server6handleEPKci";
      for (const name of ["handle", "app::Server::handle", linkage]) {
        const [handle, ...others] = info.functionsNamed(name);
        assert.equal(others.length, 0);
        assert.deepEqual(
          [handle.qualifiedName, handle.linkageName, handle.language, handle.declared.line],
          ["app::Server::handle", linkage, "c++", 12],
        );
        assert.deepEqual(
          handle.parameters.map((each) => each.name),
          ["this", "path", "n"],
        );
        assert.equal(handle.instances.find(({ kind }) => kind === "body")?.entry, symbol(path, linkage));
      }
      assert.deepEqual(
        info
          .functionsNamed("app::biggest")
          .map(({ name }) => name)
          .sort(),
        ["biggest<double>", "biggest<int>"],
      );
      assert.deepEqual(
        info.functionsNamed("biggest<int>").map(({ qualifiedName }) => qualifiedName),
        ["app::biggest<int>"],
      );
      assert.equal(info.functionsNamed("hidden")[0].qualifiedName, "app::(anonymous namespace)::hidden");
      const server = info.typeNamed("app::Server");
      assert.ok(server?.kind === "struct");
      assert.deepEqual(
        server.members().map((each) => [each.name, each.offset, each.base]),
        [
          ["app::Base", 0, true],
          ["port", 8, undefined],
          ["route", 12, undefined],
        ],
      );
      assert.equal(info.typeNamed("app::Server::Route")?.kind, "struct");
      assert.deepEqual(
        info.globalsNamed("app::Server::count").map((each) => each.location(0n)),
        [{ kind: "memory", address: { kind: "static", address: symbol(path, "_ZN3app6Server5countE") } }],
      );
      const main = info.functionsNamed("main")[0].instances[0];
      const port = info.variablesAt(placesAt(info, "fixture.cpp", 20)[0].address).find(({ name }) => name === "port");
      assert.ok(port?.type.kind === "pointer" && port.type.flavour === "reference", main.kind);
    }
  },
);

for (const [packer, compiler, ...options] of [
  ["dwp", "gcc", "-gdwarf-4", "-gsplit-dwarf", "-fdebug-types-section"],
  ["llvm-dwp", "clang", "-gdwarf-5", "-gsplit-dwarf"],
]) {
  test(
    `split entries packed by ${packer}`,
    { skip: missing || ([packer, compiler].some((tool) => !has(tool)) && `needs ${packer} and ${compiler}`) },
    () => {
      const { path, elf } = build(compiler, ["-O0", ...options]);
      const split = execFileSync("readelf", ["--debug-dump=info", path], { encoding: "utf8" }).match(
        /dwo_name.*?(\S+\.dwo)/,
      )![1];
      execFileSync(packer, [resolve(folder, split), "-o", `${path}.dwp`]);
      const info = openDebugInfo({
        binary: elf,
        debug: elf,
        package: () => new Elf(bytesOf(readFileSync(`${path}.dwp`))),
      });
      const [add] = info.functionsNamed("add");
      assert.deepEqual([add.instances[0].entry, add.declared.file], [symbol(path, "add"), source]);
      const start = info.afterPrologue(add.instances[0]);
      assert.deepEqual(
        info.variablesAt(start).map(({ name }) => name),
        ["sum", "p", "n"],
      );
      const pointer = add.parameters[0].type;
      const target = pointer.kind === "pointer" ? pointer.target() : undefined;
      const point = target?.kind === "typedef" ? target.target() : undefined;
      assert.deepEqual(point?.kind === "struct" && point.members().map(({ name }) => name), ["x", "y", "flag", "next"]);
    },
  );
}

test("code at the kernel's addresses, described by .debug_frame", { skip: missing }, () => {
  const { path, info } = build("gcc", [
    "-g",
    "-O1",
    "-fno-inline",
    "-fno-pie",
    "-no-pie",
    "-mcmodel=kernel",
    "-ffreestanding",
    "-nostdlib",
    "-static",
    "-fno-asynchronous-unwind-tables",
    "-fno-stack-protector",
    "-Wl,-Ttext-segment=0xffffffff81000000",
    "-Wl,-e,main",
  ]);
  const main = info.functionsNamed("main")[0].instances[0];
  assert.equal(main.entry, symbol(path, "main"));
  assert.ok(main.entry > 0xffffffff81000000n);
  assert.equal(info.framesAt(main.entry)[0].function, "main");
  const call = placesAt(info, "fixture.c", 26)[0].address;
  const point = info
    .variablesAt(call)
    .find(({ name }) => name === "p")!
    .location(call);
  // Below the frame address, which the stack pointer tells.
  assert.ok(point.kind === "memory", point.kind);
  const base = point.address.kind === "binary" ? point.address.left : point.address;
  assert.deepEqual(base, { kind: "register", register: 7 });
});

test("line tables are those of readelf", { skip: missing }, () => {
  for (const options of [
    ["-g", "-O2"],
    ["-gdwarf-4", "-O0"],
    ["-gdwarf-3", "-O1"],
  ]) {
    const { path, info } = build("gcc", options);
    const text = execFileSync("readelf", ["--debug-dump=decodedline", path], { encoding: "utf8" });
    const expected = new Set<string>();
    for (const [, line, address] of text.matchAll(/^fixture\.c\s+(\d+)\s+0x([0-9a-f]+)(?:\s+\d+)?\s+x$/gm)) {
      expected.add(`${line} ${BigInt(`0x${address}`)}`);
    }
    assert.ok(expected.size > 10);
    assert.deepEqual(new Set([...info.lines("fixture.c")].map(({ line, address }) => `${line} ${address}`)), expected);
  }
});

test("functions that the linker dropped are not there", { skip: missing }, () => {
  const { info } = build("gcc", [
    "-g",
    "-O0",
    "-ffunction-sections",
    "-Wl,--gc-sections",
    "-Wl,--entry=add",
    "-nostartfiles",
  ]);
  assert.equal(info.functionsNamed("add").length, 1);
  assert.equal(info.functionsNamed("main").length, 0);
  assert.deepEqual(placesAt(info, "fixture.c", 25), []);
});

test("damaged debug information is refused, or read as something else, in bounded time", { skip: missing }, () => {
  const { path, elf } = build("gcc", ["-g", "-O2"]);
  const good = readFileSync(path);
  const sections = elf.sections.filter(({ name }) => name.startsWith(".debug_"));
  const damage = fc.record({
    section: fc.nat(sections.length - 1),
    at: fc.nat(4000),
    value: fc.nat(255),
    more: fc.array(fc.nat(255), { maxLength: 6 }),
  });
  fc.assert(
    fc.property(fc.array(damage, { minLength: 1, maxLength: 4 }), (damages) => {
      const bytes = Buffer.from(good);
      for (const { section, at, value, more } of damages) {
        const { offset, size } = sections[section];
        [value, ...more].forEach((byte, i) => {
          bytes[offset + ((at + i) % size)] = byte;
        });
      }
      const file = new Elf(bytesOf(bytes));
      const info = openDebugInfo({ binary: file, debug: file });
      const asked = [
        () => info.functionNames(),
        () => placesAt(info, "fixture.c", 17),
        () => info.sourceFiles(),
        () =>
          info
            .functionsNamed("twice")
            .map((fn) =>
              fn.instances.map((each) => [
                info.framesAt(each.entry),
                info.variablesAt(each.entry).map((one) => one.location(each.entry)),
              ]),
            ),
        () => info.functionsNamed("add").map((fn) => fn.parameters.map((each) => each.type)),
        () => info.typeNamed("point")?.kind,
      ];
      const seconds = cpuSeconds(() => {
        for (const ask of asked) {
          try {
            ask();
          } catch (error) {
            if (!(error instanceof DwarfError || error instanceof ElfError)) throw error;
          }
        }
      });
      assert.ok(seconds < 20, `${seconds} s`);
    }),
    { numRuns: 300 },
  );
});
