// What cannot be compiled, or is too large.
import { says, type Message, type Shown } from "./message.ts";

export const compiler = {
  /**
   * @on systemtap
   * @example
   * function f(n) { try { f(n - 1) } catch { println(n) } return n }
   * probe begin { println(f(1)) }
   */
  recursionWithin: (name: Shown): Message =>
    says(
      "feature",
      `\`${name}\` cannot call itself from a \`try\`, or by two ways through another function`,
      "keep what is left to do in an array, and loop until it is empty",
    ),

  /**
   * Only of scripts whose nesting exhausts the stack while they are compiled: 5,000 structs in each other.
   *
   * @tested test/live/wrong-input.test.ts
   */
  scriptTooLarge: (): Message =>
    says("limit", "the script is too large: its nesting or unrolling exceeds what can be compiled"),
  /** @example test:NAME { } */
  nothingToAttach: (): Message => says("name", "nothing to attach to"),
  /**
   * With `-p`, or what else chooses among processes, which this names.
   *
   * @on pid
   * @example rawtracepoint:sched_switch { @ = count(); }
   */
  notOfProcess: (name: Shown, how: Shown, flag: string): Message =>
    says(
      "placement",
      `${flag} sees ${name} ${how}`,
      "a handler whose predicate has any_process sees every process's events, and chosen_process tells it which are meant",
    ),
  /**
   * @example
   * struct big { char text[100000]; };
   * kprobe:f { @[*(struct big *)arg0] = 1; }
   */
  tooMuchMemory: (bytes: Shown, most: Shown): Message =>
    says(
      "limit",
      `this probe needs ${bytes} bytes of working memory, and the kernel has ${most} for it`,
      "divide it into several probes, or make its values smaller: config = { max_strlen = 256 }, str(pointer, 64), hist(n) without bits",
    ),
  /** @example kprobe:f { ⟨$x{i} = nsecs + {i}; × 200⟩⟨@ = $x{i}; × 200⟩ } */
  tooMuchForKernel: (message: Shown): Message =>
    says("limit", `this probe cannot be compiled for the kernel: ${message}`),
  /**
   * @example
   * struct table { int cells[4][4]; };
   * kprobe:f { $cells = ((struct table *)arg0)->cells; print($cells[arg1]); }
   */
  copiedArrayOfArrays: (): Message => says("feature", "an element of a copied array of arrays needs a constant index"),
  /**
   * @example
   * struct table { int cells[1000]; };
   * kprobe:f { $cells = ((struct table *)arg0)->cells; print($cells[arg1]); }
   */
  copiedArrayTooLong: (length: Shown, most: Shown): Message =>
    says(
      "feature",
      `an element of a copied array of ${length} needs a constant index`,
      `arrays of up to ${most} can be copied to a variable; index this one where it is`,
    ),
  /** @example kprobe:f { $mac = ((struct file *)arg0)->mac; print(&$mac[1]); } */
  noAddress: (): Message => says("feature", "this has no address", "it is a copy: take the address where it was read"),
  /** @example begin { @[1] = 1; for ($entry : @) { $entry = (1, 2); } } */
  loopVariableAssigned: (): Message => says("feature", "the variable of a loop over a map cannot be assigned"),
  /**
   * @example
   * fn f0() : int64 { return 1; }
   * ⟨fn f{i+1}() : int64 { return f{i}(); }
   *  × 33⟩begin { print(f33()); }
   */
  callsTooDeep: (name: Shown, most: Shown): Message =>
    says(
      "feature",
      `the call of \`${name}\` is nested more than ${most} deep`,
      "functions are built into their callers",
    ),
  /** @example begin { unroll (100) { unroll (100) { @ = count(); } } } */
  unrolledTooOften: (times: Shown, most: Shown): Message =>
    says("feature", `the body is unrolled ${times} times, and at most ${most} are supported`, "use a loop"),
  /** @example struct A { char x[1073741824]; } kprobe:f { print(((struct A *)arg0)->x); } */
  recordTooLarge: (size: Shown, most: Shown): Message =>
    says(
      "limit",
      `this gives a record of ${size} bytes, and at most ${most} are supported`,
      "take a part of it: an element, a member, buf(address, length)",
    ),
  /**
   * In an iterator that is pinned: `iter:task:/sys/fs/bpf/tasks`.
   *
   * @tested test/live/pins.test.ts
   */
  notInPinnedIterator: (name: Shown): Message =>
    says(
      "feature",
      `\`${name}()\` runs in strobe, which has exited when a pinned iterator is read`,
      "print with printf(), or leave the pin out",
    ),
  /** @example kprobe:f { debugf("%.3s", comm); } */
  cannotPrint: (printer: Shown, why: Shown): Message =>
    says(
      "feature",
      `${printer} cannot print this: ${why}`,
      "the kernel prints it, and supports %d, %u, %x, %c, %p and %s with a width",
    ),
};
