import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import type { Sandbox } from '../provider/sandbox';
import { readUntil, run } from './run-command';
import {
  type MakeFixture,
  type SandboxProviderFixture,
  readCapabilities,
  newThreadId,
} from './sandbox-provider-fixture';

const mebibyte = 1024 * 1024;

/** Answers `echo` with what follows it, `many N` with so many bytes, and `deaf` by reading nothing more. */
const server = `
  require('net').createServer({ allowHalfOpen: true }, (socket) => socket.once('data', (first) => {
    const [word, size] = first.toString().split(/\\s/);
    if (word === 'echo') { socket.write(first.subarray(5)); socket.pipe(socket); }
    if (word === 'many') socket.end(Buffer.alloc(Number(size), 'x'));
    if (word === 'deaf') socket.pause();
    if (word === 'reset') socket.resetAndDestroy();
  })).listen(Number(process.argv[1]), process.argv[2], () => console.log('ready'));`;

export function describePorts(makeFixture: MakeFixture): void {
  describe('ports', () => {
    let fixture: SandboxProviderFixture;
    let sandbox: Sandbox;
    let hasPorts: boolean;

    beforeAll(async () => {
      fixture = await makeFixture();
      sandbox = await fixture.provider.get(newThreadId());
      hasPorts = (await readCapabilities(fixture.provider)).ports;
      if (hasPorts) await serve(sandbox, { port: 4000, host: '127.0.0.1' });
    });
    afterAll(() => fixture.close());

    it('are refused where the provider has no way in', async () => {
      if (hasPorts) return;
      await expect(sandbox.connect(4000)).rejects.toMatchObject({ code: 'unsupported' });
    });

    it('carry bytes both ways until each side has ended', async () => {
      if (!hasPorts) return;
      const stream = await sandbox.connect(4000);
      stream.write('echo hé');
      stream.end('llo');

      await expect(text(stream)).resolves.toBe('héllo');
      await finished(stream);
    });

    it('are found on the loopback of IPv6 too', async () => {
      if (!hasPorts) return;
      await serve(sandbox, { port: 4006, host: '::1' });
      const stream = await sandbox.connect(4006);
      stream.end('echo six');

      await expect(text(stream)).resolves.toBe('six');
    });

    it('refuse a connection when no process listens, when the sandbox is asleep, or when it is no port', async () => {
      if (!hasPorts) return;
      const asleep = await fixture.provider.get(newThreadId());

      await expect(sandbox.connect(4999)).rejects.toMatchObject({ code: 'not_listening' });
      await expect(asleep.connect(4000)).rejects.toMatchObject({ code: 'not_listening' });
      expect(fixture.provider.isAwake(asleep.id)).toBe(false);
      await expect(sandbox.connect(70_000)).rejects.toMatchObject({ code: 'invalid_request' });
    });

    it('carry many megabytes, and wait for a reader that is slow', async () => {
      if (!hasPorts) return;
      const stream = await sandbox.connect(4000);
      stream.write(`many ${32 * mebibyte}`);
      await once(stream, 'readable');
      await run(sandbox, 'true'); // Meanwhile the sandbox answers other requests.

      expect(stream.readableLength).toBeLessThan(mebibyte);
      expect((await buffer(stream)).length).toBe(32 * mebibyte);
    });

    it('make a writer wait for a server that does not read', async () => {
      if (!hasPorts) return;
      const stream = await sandbox.connect(4000);
      stream.write('deaf');
      let isFull = false;
      for (let written = 0; written < 64 && !isFull; written += 1) {
        if (stream.write(Buffer.alloc(mebibyte))) await run(sandbox, 'true');
        else isFull = await staysFull(stream, sandbox);
      }

      expect(isFull).toBe(true);
      stream.destroy();
    });

    it('close the stream when the server breaks the connection', async () => {
      if (!hasPorts) return;
      const stream = await sandbox.connect(4000);
      stream.write('reset');

      await expect(finished(stream)).rejects.toThrow();
      expect(stream.destroyed).toBe(true);
    });

    it('a stream that has ended makes place for another: 64 may be open at a time', async () => {
      if (!hasPorts) return;
      const streams = await Promise.all(Array.from({ length: 64 }, () => sandbox.connect(4000)));
      await expect(sandbox.connect(4000)).rejects.toMatchObject({ code: 'failed' });

      await Promise.all(
        streams.map(async (stream) => {
          stream.end('echo ');
          await finished(stream.resume());
        }),
      );
      const stream = await sandbox.connect(4000);
      stream.end('echo again');
      await expect(text(stream)).resolves.toBe('again');
    });

    it('a stop of the sandbox ends its streams', async () => {
      if (!hasPorts) return;
      const other = await fixture.provider.get(newThreadId());
      await serve(other, { port: 4000, host: '127.0.0.1' });
      const stream = await other.connect(4000);
      const closed = finished(stream);

      await Promise.all([expect(closed).rejects.toMatchObject({ code: 'lost' }), other.stop()]);
      await expect(other.connect(4000)).rejects.toMatchObject({ code: 'not_listening' });
    });
  });
}

async function serve(sandbox: Sandbox, { port, host }: { port: number; host: string }): Promise<void> {
  const session = `server-${port}`;
  await sandbox.start({
    id: session,
    session,
    command: `node -e "$CODE" ${port} ${host}`.replace('"$CODE"', quoted(server)),
  });
  await readUntil(sandbox, session, { text: 'ready' });
}

const quoted = (code: string): string => `'${code.replaceAll("'", `'\\''`)}'`;

/** Whether the writer still waits after commands have had their turn. */
async function staysFull(stream: Duplex, sandbox: Sandbox): Promise<boolean> {
  for (let turn = 0; turn < 3; turn += 1) await run(sandbox, 'true');
  return stream.writableNeedDrain;
}
