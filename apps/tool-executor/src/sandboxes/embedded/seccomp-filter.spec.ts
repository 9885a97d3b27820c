import { seccompFilter } from './seccomp-filter';

const allowed = 0x7fff0000;
const refused = (errno: number) => 0x00050000 | errno;

/** Runs a program as the kernel would, on a call with its number, architecture and first argument. */
function verdict(program: Buffer, call: { number: number; architecture: number; argument?: number }): number {
  const data = new Map([
    [0, call.number],
    [4, call.architecture],
    [16, call.argument ?? 0],
  ]);
  let accumulator = 0;
  for (let position = 0; position < program.length / 8; position += 1) {
    const code = program.readUInt16LE(position * 8);
    const operand = program.readUInt32LE(position * 8 + 4);
    const jump = (taken: boolean) => (position += program.readUInt8(position * 8 + (taken ? 2 : 3)));
    if (code === 0x20) accumulator = data.get(operand) ?? 0;
    else if (code === 0x15) jump(accumulator === operand);
    else if (code === 0x35) jump(accumulator >= operand);
    else if (code === 0x45) jump((accumulator & operand) !== 0);
    else return operand;
  }
  throw new Error('the program ran off its end');
}

const machines = [
  { name: 'x64', architecture: 0xc000003e, ptrace: 101, unshare: 272, clone: 56, socket: 41, read: 0 },
  { name: 'arm64', architecture: 0xc00000b7, ptrace: 117, unshare: 97, clone: 220, socket: 198, read: 63 },
];

describe.each(machines)('seccompFilter on $name', ({ name, architecture, ptrace, unshare, clone, socket, read }) => {
  const program = seccompFilter(name) ?? Buffer.alloc(0);
  const on = (number: number, argument?: number) =>
    verdict(program, { number, architecture, ...(argument === undefined ? {} : { argument }) });

  it('allows ordinary calls, threads and forks', () => {
    expect(on(read)).toBe(allowed);
    expect(on(clone, 0x3d0f00)).toBe(allowed); // a thread
    expect(on(clone, 0x11)).toBe(allowed); // a fork
  });

  it('refuses tracing, other processes’ descriptors and memory, and io_uring', () => {
    for (const number of [ptrace, 438, 440, 425]) expect(on(number)).toBe(refused(1));
  });

  it('refuses new namespaces by every system call', () => {
    expect(on(unshare)).toBe(refused(1));
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(on(clone, flag | 0x11)).toBe(refused(1));
    }
    expect(on(435)).toBe(refused(38)); // clone3 is refused with ENOSYS, so that libraries fall back to clone
  });

  it('allows only the socket families that programs need', () => {
    for (const family of [1, 2, 10, 16]) expect(on(socket, family)).toBe(allowed);
    for (const family of [17, 38, 40, 44]) expect(on(socket, family)).toBe(refused(97));
  });

  it('refuses calls of another architecture', () => {
    expect(verdict(program, { number: read, architecture: 0x40000003 })).toBe(refused(38));
    expect(on(0x40000000 + read)).toBe(refused(38));
  });
});

describe('seccompFilter', () => {
  it('is undefined for unknown architectures', () => {
    expect(seccompFilter('riscv64')).toBeUndefined();
  });
});
