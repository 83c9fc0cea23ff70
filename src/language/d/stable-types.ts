// D's own library of translators, as D text: a script reads those that it names. Members that Linux has nothing for are
// left out.
import { networkTranslators } from "./stable-network.ts";

/** Of a process: a task of it. */
const psinfo = `translator psinfo_t < struct task_struct *T > {
    pr_nlwp = (int)T->signal->nr_threads;
    pr_pid = (pid_t)T->tgid;
    pr_ppid = (pid_t)T->real_parent->tgid;
    pr_pgid = (pid_t)T->signal->pids[2]->numbers[0].nr;
    pr_sid = (pid_t)T->signal->pids[3]->numbers[0].nr;
    pr_uid = (uid_t)T->real_cred->uid.val;
    pr_euid = (uid_t)T->real_cred->euid.val;
    pr_gid = (gid_t)T->real_cred->gid.val;
    pr_egid = (gid_t)T->real_cred->egid.val;
    pr_addr = (uintptr_t)T;
    pr_start = (uint64_t)T->start_time;
    pr_ttydev = T->signal->tty == 0 ? (uint64_t)-1 : (uint64_t)T->signal->tty;
    pr_fname = stringof(T->comm);
    pr_psargs = substr(__arguments(T), 0, 80);
    pr_wstat = (int)T->exit_code;
    pr_argv = (uintptr_t)T->mm->arg_start;
    pr_envp = (uintptr_t)T->mm->env_start;
    pr_dmodel = (char)((T->thread_info.flags & 0x20000000) == 0 ? 2 : 1);
    pr_nzomb = (int)0;
    pr_taskid = (int)0;
    pr_projid = (int)0;
    pr_poolid = (int)0;
    pr_zoneid = (int)0;
    pr_contract = (int)0;
  };`;

const lwpsinfo = `translator lwpsinfo_t < struct task_struct *T > {
    pr_flag = (int)((T->__state & 12) != 0);
    pr_lwpid = (int)T->pid;
    pr_addr = (uintptr_t)T;
    pr_state = (char)((T->exit_state & 0x30) != 0 ? 3 : (T->__state & 3) != 0 ? 1 : (T->__state & 12) != 0 ? 4 : 2);
    pr_sname = (char)((T->exit_state & 0x30) != 0 ? 'Z' : (T->__state & 3) != 0 ? 'S' : (T->__state & 12) != 0 ? 'T' : 'R');
    pr_pri = (int)T->prio;
    pr_name = stringof(T->comm);
    pr_onpro = (int)T->thread_info.cpu;
    pr_wchan = (uintptr_t)0;
    pr_stype = (char)0;
  };`;

const cpuinfo = `translator cpuinfo_t < int C > {
    cpu_id = (int)C;
    cpu_chip = (int)C;
    cpu_pset = (int)0;
    cpu_lgrp = (int)0;
  };`;

/** An open file; 0 is none. */
const fileinfo = `translator fileinfo_t < struct file *F > {
    fi_name = F == 0 ? "<none>" : stringof(F->f_path.dentry->d_name.name);
    fi_dirname = F == 0 ? "<none>" : dirname(d_path(&F->f_path));
    fi_pathname = F == 0 ? "<none>" : d_path(&F->f_path);
    fi_offset = (int64_t)(F == 0 ? 0 : F->f_pos);
    fi_fs = F == 0 ? "<none>" : stringof(F->f_inode->i_sb->s_type->name);
    fi_oflags = (int)(F == 0 ? 0 : F->f_flags);
  };`;

/** REQ_SYNC is the twelfth bit; the operations that write are odd (linux/blk_types.h). */
const bufinfo = `translator bufinfo_t < struct bio *B > {
    b_flags = (int)(((B->bi_opf & 1) != 0 ? 0x100 : 0x40) | ((B->bi_opf & 0x800) != 0 ? 0 : 0x400));
    b_bcount = (uint64_t)B->bi_iter.bi_size;
    b_bufsize = (uint64_t)B->bi_iter.bi_size;
    b_addr = (uintptr_t)0;
    b_lblkno = (uint64_t)B->bi_iter.bi_sector;
    b_blkno = (uint64_t)B->bi_iter.bi_sector;
    b_resid = (uint64_t)0;
    b_iodone = (uintptr_t)B->bi_end_io;
    b_error = (int)B->bi_status;
    b_edev = (uint32_t)B->bi_bdev->bd_dev;
  };`;

/** Numbers of `errno` for those of blk_status_t, from 1 on (blk_errors, block/blk-core.c); any other is EIO there, too. */
const statuses = [95, 110, 28, 67, 121, 52, 61, 84, 12, 5, 78, 11, 16, 5, 5, 5, 62, 22];

/** Of a request: what the probe's guard has given `this->`. */
const requestInfo = `translator __request_t < int N > {
    b_flags = (int)(xlate <bufinfo_t> ((struct bio *)__kernel(this->__bio))->b_flags | (this->__status != 0 ? 0x4 : 0));
    b_bcount = this->__bytes;
    b_bufsize = this->__bytes;
    b_addr = (uintptr_t)0;
    b_lblkno = this->__sector;
    b_blkno = this->__sector;
    b_resid = (uint64_t)0;
    b_iodone = (uintptr_t)((struct bio *)__kernel(this->__bio))->bi_end_io;
    b_error = (int)(this->__status == 0 ? 0 : ${statuses.reduceRight((rest, errno, i) => `this->__status == ${i + 1} ? ${errno} : ${rest}`, "5")});
    b_edev = (uint32_t)((struct bio *)__kernel(this->__bio))->bi_bdev->bd_dev;
  };`;

const devinfo = `translator devinfo_t < struct bio *B > {
    dev_major = (int)(B->bi_bdev->bd_dev >> 20);
    dev_minor = (int)(B->bi_bdev->bd_dev & 0xfffff);
    dev_instance = (int)0;
    dev_name = B->bi_bdev->bd_disk->part0->bd_device.parent == 0 ? stringof(B->bi_bdev->bd_disk->disk_name)
      : B->bi_bdev->bd_disk->part0->bd_device.parent->driver == 0 ? stringof(B->bi_bdev->bd_disk->disk_name)
      : stringof(B->bi_bdev->bd_disk->part0->bd_device.parent->driver->name);
    dev_statname = stringof(B->bi_bdev->bd_device.kobj.name);
    dev_pathname = strjoin("/dev/", stringof(B->bi_bdev->bd_device.kobj.name));
  };`;

export const libraryTranslators: Readonly<Record<string, string>> = {
  psinfo_t: psinfo,
  lwpsinfo_t: lwpsinfo,
  cpuinfo_t: cpuinfo,
  fileinfo_t: fileinfo,
  bufinfo_t: bufinfo,
  __request_t: requestInfo,
  devinfo_t: devinfo,
  ...networkTranslators,
};
