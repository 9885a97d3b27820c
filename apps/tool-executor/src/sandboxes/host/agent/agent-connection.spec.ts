import { connectTo } from '../testing/scripted-agent';

describe('AgentConnection', () => {
  it.each([
    ['sends no frames', `control.once('data', () => raw('HTTP/1.1 200 OK\\r\\n\\r\\n'));`],
    ['announces a huge frame', `control.once('data', () => raw(Buffer.from([0x7f, 0, 0, 0])));`],
    ['answers without a request', `control.once('data', () => send({ id: 99, ok: true, result: {} }));`],
    ['answers in another shape', `control.once('data', () => send({ id: 1, ok: true, result: { cwd: 7 } }));`],
    [
      'adds what is not in the protocol',
      `control.once('data', () => send({ id: 1, ok: true, result: {}, __proto__: 1, x: 1 }));`,
    ],
    [
      'reports on a command that does not run',
      `control.once('data', () => send({ event: 'output', command: 5, data: '' }));`,
    ],
    [
      'reports on a stream that is not open',
      `control.once('data', () => send({ event: 'stream.data', stream: 5, data: '' }));`,
    ],
    ['exits', `control.once('data', () => process.exit(0));`],
    ['hangs up', `control.once('data', () => control.destroy()); setInterval(() => {}, 1000);`],
    ['never answers', `control.resume(); setInterval(() => {}, 1000);`],
  ])('answers its callers and kills an agent that %s', async (_, program) => {
    const connection = connectTo(program);
    let lost = false;
    connection.subscribe(1, { output: () => {}, end: () => {}, lost: () => (lost = true) });

    await expect(connection.request('run', {}, 1_000)).rejects.toMatchObject({ code: 'lost' });
    await connection.ended;
    expect(lost).toBe(true);
    expect(connection.isOpen).toBe(false);
    await expect(connection.request('run', {}, 1_000)).rejects.toMatchObject({ code: 'lost' });
  });

  it('passes on valid messages of an agent', async () => {
    const connection = connectTo(`control.once('data', () => {
      send({ id: 1, ok: true, result: { cwd: '/workspace' } });
      send({ event: 'output', command: 1, data: 'aGk=' });
      send({ event: 'ended', command: 1, reason: 'exit', exitCode: 0, cwd: '/' });
    });`);
    const outputs: string[] = [];
    const ended = new Promise((ended) =>
      connection.subscribe(1, { output: (bytes) => outputs.push(bytes.toString()), end: ended, lost: () => {} }),
    );

    await expect(connection.request('run', {}, 5_000)).resolves.toEqual({ cwd: '/workspace' });
    await expect(ended).resolves.toMatchObject({ reason: 'exit', exitCode: 0 });
    expect(outputs).toEqual(['hi']);
    await expect(connection.kill()).resolves.toBe(true);
  });

  it('kills an agent that floods a stream beyond its window', async () => {
    const connection = connectTo(`control.once('data', () => {
      send({ id: 1, ok: true, result: {} });
      for (let n = 0; n < 16; n += 1) send({ event: 'stream.data', stream: 1, data: 'A'.repeat(65536) });
    }); setInterval(() => {}, 1000);`);

    const stream = await connection.connect(80, () => undefined);

    await connection.ended;
    expect([stream.destroyed, connection.isOpen]).toEqual([true, false]);
  });

  it('maps unknown error codes to `failed`', async () => {
    const connection = connectTo(
      `control.once('data', () => send({ id: 1, ok: false, error: { code: 'unavailable', message: 'x' } }));`,
    );

    await expect(connection.request('run', {}, 5_000)).rejects.toMatchObject({ code: 'failed' });
    await connection.kill();
  });
});
