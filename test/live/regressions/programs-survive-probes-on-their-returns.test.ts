// A uretprobe's trampoline is no address that unwinders, saved contexts or Go's runtime can go on from: an exception
// that passed through a function with one ended the program. Where a program does such things, returns are seen at the
// return instructions.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compileWith, missing } from "../../support/compilers.ts";
import { strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());

before(() => {
  writeFileSync(
    join(folder.path, "throws.cpp"),
    String.raw`
    #include <cstdio>
    #include <stdexcept>
    #define N __attribute__((noinline))
    namespace app {
    N int check(int x) { if (x % 3 == 0) throw std::runtime_error("a third"); asm volatile("" ::: "memory"); return x; }
    N int middle(int x) { int r = check(x); asm volatile("" ::: "memory"); return r * 10; }
    N int outer(int x) { try { return middle(x) + 1; } catch (std::exception &) { asm volatile("" ::: "memory"); return -1; } }
    N int leaf(int x) { asm volatile("" : "+r"(x)); return x + 1; }
    N int jumps(int x) { asm volatile("" : "+r"(x)); return middle(x); }
    }
    int main() { int sum = 0; for (int i = 0; i < 9; i++) sum += app::outer(i) + app::leaf(i); printf("%d %d\n", sum, app::jumps(4)); }`,
  );
  writeFileSync(
    join(folder.path, "panics.rs"),
    `
    #[inline(never)] #[no_mangle] fn check(x: i32) -> i32 { if x % 3 == 0 { panic!("a third") } x }
    #[inline(never)] #[no_mangle] fn middle(x: i32) -> i32 { let r = check(std::hint::black_box(x)); std::hint::black_box(r) * 10 }
    fn main() {
        std::panic::set_hook(Box::new(|_| {}));
        let sum: i32 = (0..9).map(|x| std::panic::catch_unwind(|| middle(x)).unwrap_or(-1)).sum();
        println!("{}", sum);
    }`,
  );
  writeFileSync(
    join(folder.path, "changes.c"),
    `
    #define _GNU_SOURCE
    #include <setjmp.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <ucontext.h>
    #define N __attribute__((noinline))
    static ucontext_t a, b; static char stack[65536]; static jmp_buf back; int sum;
    N int there(int x) { swapcontext(&a, &b); __asm__ volatile("" ::: "memory"); return x + 1; }
    N int here(int x) { swapcontext(&b, &a); __asm__ volatile("" ::: "memory"); return x + 2; }
    N int alone(int x) { __asm__ volatile("" : "+r"(x)); return x + 3; }
    __attribute__((always_inline)) static inline void leave(int code) { printf("leaves\\n"); exit(code); }
    N int again(int x) { if (setjmp(back) == 0) longjmp(back, 1); return x; }
    static void other(void) { for (int i = 0; i < 5; i++) sum += here(i); }
    int main(int argc, char **argv) {
      if (argc > 1) leave(argc);
      getcontext(&b); b.uc_stack.ss_sp = stack; b.uc_stack.ss_size = sizeof stack; b.uc_link = &a; makecontext(&b, other, 0);
      for (int i = 0; i < 5; i++) sum += there(i) + alone(i);
      printf("%d\\n", sum + again(1000)); return 0;
    }`,
  );
});

interface Seen {
  readonly code: number | null;
  readonly program: string;
  readonly said: string;
  readonly maps: readonly string[];
}

async function over(path: string, script: string, ...options: readonly string[]): Promise<Seen> {
  const { stdout, stderr, code } = await strobe([...options, "-c", path, "-e", script]);
  const [program = "", ...maps] = stdout.split("\n").filter((line) => line !== "");
  return { code, program, said: stderr, maps };
}

const inPlace = /warning: returns are probed at the function's return instructions, as by `ret:`: /;

for (const compiler of ["g++", "clang++"]) {
  for (const level of ["-O0", "-O2"]) {
    test(
      `exceptions of C++ pass through functions whose returns are traced, by ${compiler} ${level}`,
      { skip: missing(compiler) },
      async () => {
        const path = compileWith(compiler, folder.path, "throws.cpp", "throws", level);
        const alone = spawnSync(path, { encoding: "utf8" }).stdout.trim();
        // Of 0 to 8 a third throws, below middle(); outer() catches.
        const seen = await over(
          path,
          `uretprobe:${path}:app::middle { @middle = count(); @sum = sum(retval); } uretprobe:${path}:app::outer { @outer = count(); }`,
        );
        assert.equal(seen.program, alone);
        assert.equal(seen.maps.join(" "), "@middle: 7 @outer: 9 @sum: 310");
        assert.match(seen.said, inPlace);
        assert.match(seen.said, /an exception that passes through would end the program at a return trampoline/);
        assert.match(
          seen.said,
          /help: a call that ends by an exception does not return, and is not seen; --unsafe puts a return trampoline there all the same/,
        );
        // The same by its own name, which says nothing.
        const named = await over(path, `ret:${path}:app::middle { @middle = count(); @sum = sum(retval); }`);
        assert.equal(named.maps.join(" "), "@middle: 7 @sum: 310");
        assert.doesNotMatch(named.said, /warning/);
      },
    );
  }
}

test(
  "what calls nothing is returned from as ever, and --unsafe does what it is told",
  { skip: missing("g++") },
  async () => {
    const path = compileWith("g++", folder.path, "throws.cpp", "throws", "-O2");
    const leaf = await over(path, `uretprobe:${path}:app::leaf { @ = sum(retval); }`);
    assert.doesNotMatch(leaf.said, /warning/);
    assert.deepEqual(leaf.maps, ["@: 45"]);
    const unsafe = await over(path, `uretprobe:${path}:app::middle { @ = count(); }`, "--unsafe");
    assert.match(unsafe.said, /terminate called after throwing/);
    assert.doesNotMatch(unsafe.said, /warning/);
  },
);

test(
  "a function of C++ that only jumps on is refused, with the reason and the way",
  { skip: missing("g++") },
  async () => {
    const path = compileWith("g++", folder.path, "throws.cpp", "throws", "-O2");
    const { said, code } = await over(path, `uretprobe:${path}:app::jumps { }`);
    assert.equal(code, 1);
    assert.match(
      said,
      /error: an exception that passes through would end the program at a return trampoline, and `app::jumps` has no return instruction: it ends with a jump to `_ZN3app6middleEi`/,
    );
    assert.match(said, /help: probe ret:.*:_ZN3app6middleEi, or --unsafe puts/);
  },
);

test("panics of Rust pass through, too", { skip: missing("rustc") }, async () => {
  for (const flags of [[], ["-O"]]) {
    const path = compileWith("rustc", folder.path, "panics.rs", "panics", ...flags);
    const alone = spawnSync(path, { encoding: "utf8" }).stdout.trim();
    const seen = await over(path, `uretprobe:${path}:middle { @ = count(); @sum = sum(retval); }`);
    assert.equal(seen.program, alone);
    assert.deepEqual(seen.maps, ["@: 6", "@sum: 270"]);
    assert.match(seen.said, inPlace);
  }
});

test("stacks are changed under functions whose returns are traced", { skip: missing("gcc") }, async () => {
  const path = compileWith("gcc", folder.path, "changes.c", "changes", "-O1");
  const seen = await over(
    path,
    `uretprobe:${path}:there, uretprobe:${path}:here { @[func] = sum(retval); } uretprobe:${path}:alone { @alone = sum(retval); }`,
  );
  assert.equal(seen.program, "1054");
  // The last call of here() is never gone back to.
  assert.deepEqual(seen.maps, ["@[here]: 14", "@[there]: 15", "@alone: 25"]);
  assert.equal(seen.said.match(/the program changes stacks \(`swapcontext`\)/g)?.length, 2);
});

test("what returns twice is not made to return through a trampoline", { skip: missing("gcc") }, async () => {
  const path = compileWith("gcc", folder.path, "changes.c", "changes", "-O1");
  const { said, code } = await over(path, "uretprobe:libc:_setjmp { }");
  assert.equal(code, 1);
  assert.match(
    said,
    /error: `_setjmp` returns twice, and the second time a return trampoline would crash the program, and `_setjmp` has no return instruction/,
  );
});

test("where a program begins there is no return address to replace", { skip: missing("gcc") }, async () => {
  const path = compileWith("gcc", folder.path, "changes.c", "changes", "-O1");
  const seen = await over(
    path,
    `config = { missing_probes = warn } uretprobe:${path}:_start { @start = count(); } uretprobe:${path}:alone { @alone = count(); }`,
  );
  assert.equal(seen.program, "1054");
  assert.deepEqual(seen.maps, ["@alone: 5"]);
  const { said, code } = await over(path, `uretprobe:${path}:_start { }`);
  assert.equal(code, 1);
  assert.match(
    said,
    /error: `_start` is jumped to, and a return trampoline would overwrite what the program has on its stack, and `_start` has no return instruction/,
  );
});

test(
  "a return that no probe sees is missing, and missing_probes says how bad that is",
  { skip: missing("gcc") },
  async () => {
    const path = compileWith("gcc", folder.path, "changes.c", "changes", "-O1");
    for (const kind of ["uretprobe", "ret"]) {
      const script = `${kind}:${path}:leave { @left = count(); } uretprobe:${path}:alone { @alone = count(); }`;
      const { said, code } = await over(path, script);
      assert.equal(code, 1);
      assert.match(said, /error: the one copy of `leave` never returns/);
      const warned = await over(path, `config = { missing_probes = warn } ${script}`);
      assert.match(warned.said, /warning: the one copy of `leave` never returns/);
      assert.deepEqual(warned.maps, ["@alone: 5"]);
    }
  },
);

test(
  "a program of C is asked no more than which functions it takes from others",
  { skip: missing("gcc") },
  async () => {
    const path = compileWith("gcc", folder.path, "changes.c", "changes", "-O1");
    const { said, maps } = await over(
      path,
      "uretprobe:libc:getcontext { @ = count(); } uretprobe:libc:printf { @printf = count(); }",
    );
    assert.equal(said.match(/warning/g)?.length, 1);
    assert.deepEqual(maps, ["@: 1", "@printf: 1"]);
  },
);
