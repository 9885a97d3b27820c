import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { run } from '../testing/run-command';
import { SandboxFixture } from './testing/sandbox-fixture';
import type { Sandbox } from '../provider/sandbox';

const onHost = promisify(execFile);
const secret = `secret-${randomUUID()}`;

/** Printed by an attack that works. Each attack is run outside a sandbox first, where it must work, or it would prove nothing. */
const success = 'ATTACK WORKED';

describe('a sandbox', () => {
  let fixture: SandboxFixture;
  let sandbox: Sandbox;
  let secrets: string;
  let service: Server;
  let otherThread: string;

  beforeAll(async () => {
    fixture = await SandboxFixture.open({ hardDisk: 'off' }); // The files must be readable for the attack outside: those in an image are not.
    sandbox = await fixture.sandbox();
    secrets = await mkdtemp(join(tmpdir(), 'host-secret-'));
    await chmod(secrets, 0o755);
    await writeFile(join(secrets, 'key'), success);
    service = createServer((socket) => socket.end(success)).listen(0, '0.0.0.0');
    otherThread = `thr_${randomUUID()}`;
    await (await fixture.sandbox(otherThread)).files.write('mine', success, { mode: 'create' });
  });
  afterAll(async () => {
    service.close();
    await rm(secrets, { recursive: true, force: true });
    await fixture.close();
  });

  const port = () => (service.address() as { port: number }).port; // It listens on TCP.
  const connectTo = (host: string) => `exec 9<>/dev/tcp/${host}/${port()} && cat <&9`;
  const ownAddress = () =>
    Object.values(networkInterfaces())
      .flat()
      .find((entry) => entry && entry.family === 'IPv4' && !entry.internal)?.address ?? '127.0.0.1';

  const attacks: [name: string, command: () => string][] = [
    ['read a file of the host', () => `cat ${secrets}/key`],
    ['read the file of another sandbox', () => `cat ${fixture.root}/${otherThread}/workspace/mine`],
    ['reach a service on the host’s loopback', () => connectTo('127.0.0.1')],
    ['reach a service on the host’s own address', () => connectTo(ownAddress())],
    ['see the host’s processes', () => `kill -0 ${process.pid} && echo ${success}`],
    [
      'read an environment that names a secret',
      () => `grep -l ${secret} /proc/[0-9]*/environ 2>/dev/null | grep . && echo ${success}`,
    ],
    ['make a user namespace', () => `unshare --user echo ${success}`],
  ];

  it.each(attacks)('cannot %s', async (_, command) => {
    const outside = await onHost('bash', ['-c', command()], { env: { ...process.env, SECRET: secret } });
    expect(outside.stdout).toContain(success);

    const inside = await run(sandbox, command());
    expect(inside.output).not.toContain(success);
    expect(inside.exitCode).not.toBe(0);
  });

  it.each([
    [
      'see the host’s files through its first process',
      'ls /proc/1/root/home || ls /proc/1/root/root || ls /proc/1/cwd/home',
    ],
    ['write to /usr', 'echo x > /usr/bin/x'],
    ['write to /etc', 'echo x > /etc/x'],
    ['write to /', 'echo x > /x'],
    ['replace a program', 'cp /usr/bin/true /usr/bin/ls'],
    ['change the agent’s code', 'echo x >> /run/agent/main.cjs'],
    ['name the host’s crash handler', 'echo "|/tmp/x" > /proc/sys/kernel/core_pattern'],
    ['change the host’s sysctls', 'echo 1 > /proc/sys/kernel/sysrq || echo b > /proc/sysrq-trigger'],
    ['mount', 'mount -t tmpfs none /workspace'],
    ['make a device', 'mknod /tmp/disk b 8 0'],
    ['become root', 'su -c true || (cp /bin/bash /tmp/b && chmod u+s /tmp/b && [ "$(/tmp/b -p -c "id -u")" = 0 ])'],
    ['link a program of the host into its workspace', 'ln /usr/bin/passwd /workspace/p'],
    ['see the kernel’s devices', 'ls /sys/class || ls /dev/vda || ls /dev/kmsg'],
    ['find a container engine', 'ls /var/run/docker.sock /run/docker.sock /run/containerd'],
    ['reach an address without the proxy', 'exec 9<>/dev/tcp/1.1.1.1/443'],
    ['reach the cloud’s metadata without the proxy', 'exec 9<>/dev/tcp/169.254.169.254/80'],
    ['resolve a name', 'getent hosts example.org'],
  ])('cannot %s', async (_, command) => {
    const outcome = await run(sandbox, command);

    expect(outcome.ending).toBe('exit');
    expect(outcome.exitCode).not.toBe(0);
  });

  it('shows no environment but its own, and no path of the host in its command lines', async () => {
    const seen = await run(sandbox, 'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr "\\0" "\\n"');

    expect(seen.output).toContain('HOME=/workspace');
    expect(seen.output).not.toContain(fixture.root);
    for (const [name, value] of Object.entries(process.env)) {
      if (name.startsWith('npm_') || name === 'BWRAP_PATH' || (value ?? '').length < 12) continue;
      expect(seen.output).not.toContain(`${name}=${value}`);
    }
  });

  it('passes no descriptors to commands but stdin, stdout and stderr', async () => {
    const seen = await run(
      sandbox,
      `node -e "console.log(require('fs').readdirSync('/proc/' + process.ppid + '/fd').join())"`,
    );

    expect(seen.output).toBe('0,1,2\n');
  });

  it('runs commands under a filter and without capabilities', async () => {
    await expect(run(sandbox, 'grep Seccomp: /proc/self/status')).resolves.toMatchObject({ output: 'Seccomp:\t2\n' });
    await expect(run(sandbox, 'grep -E "CapEff|CapBnd|NoNewPrivs" /proc/self/status')).resolves.toMatchObject({
      output: 'CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\n',
    });
  });

  it('has a uid of its own when the executor runs as root', async () => {
    const { separateUsers } = (await fixture.provider.probe()).details;
    const owner = async (id: string) =>
      (await onHost('stat', ['-c', '%u %a', join(fixture.root, id, 'workspace')])).stdout.trim();

    expect(separateUsers).toBe(process.getuid?.() === 0);
    if (!separateUsers) return;
    expect(await owner(sandbox.id)).toMatch(/^19\d{8} 700$/);
    expect(await owner(sandbox.id)).not.toBe(await owner(otherThread));
  });

  it('is refused for an invalid thread id', async () => {
    const odd = await fixture.sandbox('../escape');

    await expect(run(odd, 'true')).rejects.toMatchObject({ code: 'invalid_request' });
  });
});
