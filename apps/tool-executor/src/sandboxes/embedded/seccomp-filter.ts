/**
 * The system calls that commands may not make, as a classic BPF program for the kernel. A list of denials, because what
 * developers run is open-ended; each entry opens kernel surface that no ordinary program needs, or reaches into another
 * process (the agent runs as the same user).
 */
type Architecture = 'x64' | 'arm64';

interface Numbers {
  auditArchitecture: number;
  clone: number;
  clone3: number;
  socket: number;
  denied: readonly number[];
}

// ptrace, process_vm_readv/writev, kcmp · bpf, perf_event_open, userfaultfd · add_key, request_key, keyctl · mount, umount2,
// pivot_root, chroot, unshare, setns, swapon/off, reboot, acct, init/delete/finit_module, kexec_load/file_load, quotactl,
// name_to/open_by_handle_at, syslog, settimeofday, clock_settime/adjtime, adjtimex, lookup_dcookie, nfsservctl
const numbers: Record<Architecture, Numbers> = {
  x64: {
    auditArchitecture: 0xc000003e,
    clone: 56,
    clone3: 435,
    socket: 41,
    denied: [
      101, 310, 311, 312, 321, 298, 323, 248, 249, 250, 165, 166, 155, 161, 272, 308, 167, 168, 169, 163, 175, 176, 313,
      246, 320, 179, 303, 304, 103, 164, 227, 305, 159, 212, 180, 172, 173,
    ],
  },
  arm64: {
    auditArchitecture: 0xc00000b7,
    clone: 220,
    clone3: 435,
    socket: 198,
    denied: [
      117, 270, 271, 272, 280, 241, 282, 217, 218, 219, 40, 39, 41, 51, 97, 268, 224, 225, 142, 89, 105, 106, 273, 104,
      294, 60, 264, 265, 116, 170, 112, 266, 171, 18, 42,
    ],
  },
};

/** The same on both: io_uring_*, open_tree … mount_setattr, quotactl_fd, pidfd_getfd, memfd_secret, process_madvise. */
const deniedEverywhere = [425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 440, 442, 443, 447];

const allowedSocketFamilies = { unix: 1, ipv4: 2, ipv6: 10, netlink: 16 };
const newNamespaceFlags = 0x7e020000; // CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
const x32Bit = 0x40000000;

const load = 0x20;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const jumpIfAnyBit = 0x45;
const answer = 0x06;
const allow = 0x7fff0000;
const errno = (code: number) => 0x00050000 | code;
const eperm = errno(1);
const enosys = errno(38);
const eafnosupport = errno(97);

const numberAt = 0;
const architectureAt = 4;
const firstArgumentAt = 16;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number];

/** Undefined for architectures whose system call numbers are not listed here. */
export function seccompFilter(architecture: string): Buffer | undefined {
  if (architecture !== 'x64' && architecture !== 'arm64') return undefined;
  const { auditArchitecture, clone, clone3, socket, denied } = numbers[architecture];
  const families = Object.values(allowedSocketFamilies);

  return assemble([
    [load, 0, 0, architectureAt],
    [jumpIfEqual, 1, 0, auditArchitecture],
    [answer, 0, 0, enosys],
    [load, 0, 0, numberAt],
    [jumpIfAtLeast, 0, 1, x32Bit],
    [answer, 0, 0, enosys],
    ...[...denied, ...deniedEverywhere].flatMap((number) => whenEqual(number, [[answer, 0, 0, eperm]])),
    // Its flags are behind a pointer, which a filter cannot follow. After ENOSYS, libraries fall back to clone.
    ...whenEqual(clone3, [[answer, 0, 0, enosys]]),
    ...whenEqual(clone, [
      [load, 0, 0, firstArgumentAt],
      [jumpIfAnyBit, 0, 1, newNamespaceFlags],
      [answer, 0, 0, eperm],
      [answer, 0, 0, allow],
    ]),
    // Network namespaces do not cover every family: AF_VSOCK, for one, reaches the hypervisor.
    ...whenEqual(socket, [
      [load, 0, 0, firstArgumentAt],
      ...families.flatMap((family) => whenEqual(family, [[answer, 0, 0, allow]])),
      [answer, 0, 0, eafnosupport],
    ]),
    [answer, 0, 0, allow],
  ]);
}

function whenEqual(value: number, then: readonly Instruction[]): Instruction[] {
  return [[jumpIfEqual, 0, then.length, value], ...then];
}

function assemble(instructions: readonly Instruction[]): Buffer {
  const program = Buffer.alloc(instructions.length * 8);
  instructions.forEach(([code, ifTrue, ifFalse, operand], index) => {
    program.writeUInt16LE(code, index * 8);
    program.writeUInt8(ifTrue, index * 8 + 2);
    program.writeUInt8(ifFalse, index * 8 + 3);
    program.writeUInt32LE(operand >>> 0, index * 8 + 4);
  });
  return program;
}
