#!/bin/sh
# The first hour with strobe, in a folder of its own: what it offers, on commands whose doings are known, each answer
# compared with what the command says of itself. Run it as root, with strobe on the PATH:
#
#     sudo sh examples/first-hour.sh
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# is WHAT EXPECTED FOUND
is() {
    if [ "$2" = "$3" ]; then echo "ok: $1"; else echo "not ok: $1: expected \"$2\", found \"$3\""; exit 1; fi
}
has() {
    case "$3" in *"$2"*) echo "ok: $1" ;; *) echo "not ok: $1: no \"$2\" in \"$3\""; exit 1 ;; esac
}

# Which system calls does a command make? dd says how many blocks it read and wrote.
copy='dd if=/dev/zero of=copied bs=4096 count=321'
said=$($copy 2>&1 | sed -n 's/+0 records out//p')
reads=$(strobe -q -c "$copy status=none" -e 'tracepoint:syscalls:sys_enter_read /pid == cpid && args.count == 4096 && args.fd == 0/ { @ = count(); }' | tr -dc 0-9)
is "dd's reads" "$said" "$reads"
bytes=$(strobe -q -c "$copy status=none" -e 'tracepoint:syscalls:sys_exit_write /pid == cpid && args.ret > 0/ { @ = sum(args.ret); }' | tr -dc 0-9)
is "dd's bytes are the file's" "$(stat -c %s copied)" "$bytes"

# A tool by its name, on one command: the files that cat opens, and the one that it does not find.
echo hello >found
opened=$(strobe opens -q -c 'cat found missing' --comm cat 2>/dev/null || true)
has "strobe opens: a file" found "$opened"
failed=$(strobe opens -q --failed -c 'cat found missing' --comm cat 2>/dev/null || true)
has "strobe opens --failed: the file that is not there" missing "$failed"
has "strobe tools" opens "$(strobe tools)"
has "strobe opens --help" --failed "$(strobe opens --help)"

# For so long, and no longer.
strobe -q --for 300ms -e 'interval:ms:100 { @ = count(); }' >ticks
has "--for" '@: ' "$(cat ticks)"

# A histogram, as text, JSON, and a picture; stacks for flame graphs.
reads='tracepoint:syscalls:sys_exit_read /pid == cpid && args.ret > 0/ { @bytes = hist(args.ret); }'
has "a histogram: as many as blocks" " 321 |" "$(strobe -q -c "$copy status=none" -e "$reads")"
has "-f json" '"count":321' "$(strobe -q -f json -c "$copy status=none" -e "$reads" | tr -d ' ')"
strobe -q -c "$copy status=none" -f svg=reads.svg -f text -e "$reads" >reads.txt
has "-f svg" '</svg>' "$(cat reads.svg)"
stacks='tracepoint:syscalls:sys_enter_write /pid == cpid/ { @[ustack] = count(); }'
strobe -q -c "$copy status=none" -f speedscope=writes.json -f pprof=writes.pprof -f folded -e "$stacks" >writes.folded
is "-f folded: as many as blocks" "$said" "$(awk '{ sum += $NF } END { print sum }' writes.folded)"
has "-f speedscope" speedscope "$(cat writes.json)"
is "-f pprof: compressed" 1f8b "$(od -An -tx1 -N2 writes.pprof | tr -d ' ')"

# Record now, ask later.
strobe record -q -o writes.strobe -c "$copy status=none" 'tracepoint:syscalls:sys_enter_write'
is "strobe replay" "$said" "$(strobe replay writes.strobe -q -e 'tracepoint:syscalls:sys_enter_write /comm == "dd"/ { @ = count(); }' | tr -dc 0-9)"

# Mistakes are found without running anything.
echo 'begin { print(pidd); }' >wrong.bt
if strobe check wrong.bt 2>wrong.txt; then is "strobe check" refused accepted; fi
has "strobe check" 'did you mean `pid`?' "$(cat wrong.txt)"
has "another tracer's word" 'hist' "$(strobe -e 'begin { @ = quantize(1); }' 2>&1 || true)"
has "strobe help" 'pid' "$(strobe help pid)"
has "completion" opens "$(strobe complete ope)"

# Handlers in TypeScript.
cat >writes.ts <<'TS'
import { cpid, pid, map, trace, tracepoint } from "strobe";

const writes = map<number, "count">();
const session = await trace(
  tracepoint("syscalls:sys_enter_write", () => {
    if (pid === cpid) writes.at(0).count();
  }),
  { command: process.argv[2] },
);
await session.ended;
console.log(String(writes.get(0)));
TS
has "strobe run --dry-run" tracepoint:syscalls:sys_enter_write "$(strobe run --dry-run writes.ts true)"
is "strobe run" "$said" "$(strobe run writes.ts "$copy status=none")"

# Everything is gone with the folder; of strobe nothing stays in the kernel.
echo "done"
