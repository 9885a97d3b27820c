interface Advice {
  when: RegExp;
  advice: string;
}

const general =
  'Sandboxes need Linux with bubblewrap and user namespaces. On a machine of your own you may run without isolation by setting SANDBOX_UNSAFE_HOST=1.';

export const limitsAreMissing =
  'No control group limits the memory and the processes of sandboxes here: one of them can use up those of the machine.';

export const hardDiskIsMissing =
  'Workspaces cannot have a hard disk limit here, and SANDBOX_DISK_HARD=required asks for one.';

const known: readonly Advice[] = [
  {
    when: /bwrap\S*: (No such file|command not found)|failed to execute/,
    advice: 'Install bubblewrap (apt install bubblewrap, dnf install bubblewrap) or name its path.',
  },
  {
    when: /setting up uid map|No permissions to create (a )?new namespace|Creating new namespace failed/i,
    advice:
      'User namespaces are switched off for this program. On Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or give bubblewrap an AppArmor profile. On Debian: sysctl kernel.unprivileged_userns_clone=1.',
  },
  {
    when: /mount proc/i,
    advice:
      'This container masks /proc. Start it with --security-opt systempaths=unconfined (Docker) or --security-opt unmask=ALL (Podman).',
  },
  {
    when: /Process \d+ is open/,
    advice: 'Commands could change the process that runs them. Set sysctl fs.suid_dumpable=0.',
  },
  {
    when: /source path.*Permission denied|execvp.*Permission denied/i,
    advice:
      'Running as root, every sandbox has a user of its own, which must be able to reach the sandbox directory and Node: choose a root outside /root (directories on the way need o+x).',
  },
];

const adviceOnLimits =
  'Run the tool-executor as root, in a container with its own writable control groups (--cgroupns=private and a writable /sys/fs/cgroup), ' +
  'or as a systemd service with Delegate=yes. SANDBOX_REQUIRE_LIMITS=0 runs tools all the same.';

const adviceOnDisks =
  'Run the tool-executor as root, with e2fsprogs and util-linux, the capability CAP_SYS_ADMIN and loop devices (/dev/loop-control, /dev/loop*). ' +
  'SANDBOX_DISK_HARD=auto runs tools all the same.';

/** What an operator can do about the failure of a boot. */
export function adviceFor(failure: string): string {
  if (failure === limitsAreMissing) return adviceOnLimits;
  if (failure.startsWith(hardDiskIsMissing)) return adviceOnDisks;
  const match = known.find(({ when }) => when.test(failure));
  return match ? `${match.advice} ${general}` : general;
}
