// Dynamic events of the kernel by hand: on each kernel what strobe resolves is what the kernel's own tracing shows of
// calls that are known to the last; a kernel without user events says so.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { compileC, temporaryFolder } from "../support/strobe.ts";
import { complaint, runGuest } from "./guest.ts";
import { testedKernels } from "./tested-kernels.ts";
import { workSource } from "./workload.ts";

const folder = temporaryFolder();
after(() => folder.remove());
const seconds = 600;

const script = `cd /sys/kernel/tracing; echo 16384 >buffer_size_kb
strobe events add 'kprobe:vfs_read { bytes = args.count; file = str(args.file.f_path.dentry.d_name.name); flags = args.file.f_flags }' 'kretprobe:vfs_read { retval }' 'kprobe:vfs_write { size = arg2; file = ((struct file *)arg0).f_path.dentry.d_name.name }'
echo 1 >events/strobe/enable; /bin/work 1000; echo 0 >events/strobe/enable
grep -c 'vfs_read: .* bytes=512 file="zero" flags=[0-9]' trace
grep -c 'vfs_read__return: .* retval=\\(512\\|0x200\\)$' trace
grep -c 'vfs_write: .* size=64 file=0x' trace
strobe events list | grep -c '^strobe:vfs_[a-z_]*  *k[a-z]*probe  *strobe events add'
strobe events add 'kprobe:vfs_raed { }'; strobe events add 'kprobe:vfs_read { n = args.file.f_path.dentry.d_nmae }'
strobe events remove 'strobe:*'; cat dynamic_events; strobe emit app:request id=1`;

for (const { name, files } of testedKernels({ own: true })) {
  test(
    `Linux ${name} takes events in probes' words`,
    { skip: typeof files === "string" && files, timeout: (seconds + 60) * 1000 },
    async () => {
      assert.ok(typeof files !== "string");
      const guest = await runGuest({
        kernel: files,
        deadline: seconds,
        jobs: [{ script, deadline: seconds - 60 }],
        files: { "/bin/work": compileC(folder.path, "work", workSource) },
      });
      const [job] = guest.jobs;
      assert.ok(job, guest.console.slice(-3000));
      const { stdout, stderr } = job;
      const all = ["strobe:vfs_read", "strobe:vfs_read__return", "strobe:vfs_write"].join("\n");
      assert.equal(stdout, `${all}\n1000\n1000\n1000\n3\n${all}\n`, stderr);
      assert.match(stderr, /no matches for kprobe vfs_raed[^]*`vfs_read`/);
      assert.match(stderr, /d_nmae[^]*d_name/);
      assert.match(
        stderr,
        name === "own"
          ? /nobody listens to user_events:app_request/
          : /user events: not in this kernel, needs Linux 6\.4 with CONFIG_USER_EVENTS/,
      );
      assert.doesNotMatch(guest.console, complaint);
    },
  );
}
