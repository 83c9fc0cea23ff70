// D's own library of translators, as D text: a script reads those that it names. Members that Linux has nothing for are
// left out.

export const libraryTranslators: Readonly<Record<string, string>> = {
  psinfo_t: `translator psinfo_t < struct task_struct *T > {
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
    pr_fname = stringof(T->comm);
    pr_wstat = (int)T->exit_code;
    pr_argv = (uintptr_t)T->mm->arg_start;
    pr_envp = (uintptr_t)T->mm->env_start;
    pr_nzomb = (int)0;
  };`,
  lwpsinfo_t: `translator lwpsinfo_t < struct task_struct *T > {
    pr_flag = (int)((T->__state & 12) != 0);
    pr_lwpid = (int)T->pid;
    pr_addr = (uintptr_t)T;
    pr_state = (char)((T->exit_state & 0x30) != 0 ? 3 : (T->__state & 3) != 0 ? 1 : (T->__state & 12) != 0 ? 4 : 2);
    pr_sname = (char)((T->exit_state & 0x30) != 0 ? 'Z' : (T->__state & 3) != 0 ? 'S' : (T->__state & 12) != 0 ? 'T' : 'R');
    pr_pri = (int)T->prio;
    pr_name = stringof(T->comm);
    pr_onpro = (int)T->thread_info.cpu;
  };`,
  cpuinfo_t: `translator cpuinfo_t < int C > {
    cpu_id = (int)C;
    cpu_chip = (int)C;
  };`,
};
