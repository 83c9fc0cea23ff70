// Linux 6.17 to 6.19.3: the verifier uses states that it has freed, and oopses, at loops in functions that a helper
// calls (compiler/bpf/map-operations.ts). What strobe generates for those kernels must not come to that.
import assert from "node:assert/strict";
import { test } from "node:test";
import { complaint, runGuest } from "./guest.ts";
import { kernels } from "./kernels.ts";
import { filesToRun, only } from "./tested-kernels.ts";

// Made smaller from a random script: generated as for other kernels, it makes 6.18.15 oops.
const script = `config = { max_map_keys=256; max_strlen=64 }
struct S { int32 x[4]; char name[16]; char *names[3]; struct S *next; uint64 n; uint16 m[2][3]; };
uprobe:/bin/node:uv_sleep {
  $i0 = arg0;
  $i2 = (int64)arg3;
  for ($kv5 : @by_both) {
    $i2 += (strcontains($kv5.0.1, $kv5.0.1) ? (arg3 & $kv5.0.0) : 7);
    $i0 |= (strcontains("the quick brown fox jumps", "abd") ? 5 : ($i0 >> (arg4 & 63)));
  }
  $i6 = arg1;
  if ((((((struct S *)arg1).x[(arg4 + ((struct S *)arg2).m[(arg0 + ((struct S *)arg4).n) & 1][(arg0 + $i2) & 3]) & 15] < (uint64)arg3) ? "abc" : "abd") == str_concat("abc", str(arg2)))) {
    if (((uint32)(arg3) == bswap((uint64)(((struct S *)arg0).x[3])))) {
      @count2_1[str(comm, (({ let $i8 = $i0; $i8 += ((struct S *)arg3).next.n; *(int32 *)arg1 })) & 7)] = count();
    } else {
      @by_both[2, comm] = strstr(@text_1, "0123456789abcdef");
      unroll(3) {
        if (@flag_2) {
          $i6 %= (arg1 | strncmp("b c", comm, 7));
        } else {
        }
      }
    }
  }
  @end_int[0] = $i0;
  @end_int[2] = $i2;
  @end_int[3] = $i6;
  if (arg5 == 24301) {
    @text_1 = "01234567";
    @n_1 = -256;
    @by_both[(9223372036854775808) & 7, "abd"] = arg2;
    @count2_1["abd"] = count();
    @flag_2 = (63 >= -63);
  }
}`;

for (const kernel of kernels.filter(({ faulty, name }) => faulty && (only === undefined || only === name))) {
  const files = filesToRun(kernel);
  test(
    `Linux ${kernel.name} takes loops over maps that it could oops at`,
    { skip: typeof files === "string" && files, timeout: 2_000_000 },
    async () => {
      assert.ok(typeof files !== "string");
      const guest = await runGuest({
        kernel: files,
        deadline: 1800,
        jobs: [{ script: `strobe --dry-run - <<'END'\n${script}\nEND\n`, deadline: 1700 }],
      });
      assert.doesNotMatch(guest.console, complaint);
      assert.equal(guest.jobs[0]?.stderr, "Attached 1 probe\n");
      assert.equal(guest.jobs[0].code, 0);
    },
  );
}
