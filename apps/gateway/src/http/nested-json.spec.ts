import { PacketType } from 'socket.io-parser';
import type { Socket } from 'socket.io-client';
import { nextEvent } from '../testing/next-event';
import { RunningGateway, adminKey } from '../testing/running-gateway';
import { findExcess } from './json-bounds';

const gateway = RunningGateway.forSuite({ BODY_LIMIT_BYTES: 1_000_000 });

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

const post = (body: string, headers: Record<string, string> = {}) =>
  gateway
    .as()
    .post('/v1/runs')
    .set({ 'Content-Type': 'application/json', ...headers })
    .send(body);

const refused = {
  status: 422,
  code: 'invalid_request',
  errors: [{ field: 'metadata', message: 'must not be nested deeper than 64 levels' }],
};

describe('attack: public API', () => {
  describe.each([5_000, 100_000])('%i nested arrays', (depth) => {
    const body = `{"input":"[{\\"","metadata":${nested(depth)}}`;

    it('in a body with an Idempotency-Key', async () => {
      expect((await post(body, { 'Idempotency-Key': `nested ${depth}` }).expect(422)).body).toMatchObject(refused);
    });

    it('in a body without one', async () => {
      expect((await post(body).expect(422)).body).toMatchObject(refused);
    });

    it('as a whole body', async () => {
      const { body: answer } = await post(nested(depth), { 'Idempotency-Key': `whole ${depth}` }).expect(422);
      expect(answer.errors).toEqual([{ ...refused.errors[0], field: '' }]);
    });

    it('in a body without a Content-Length', async () => {
      const response = await fetch(`${gateway.url}/v1/runs`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${adminKey}`, 'Content-Type': 'application/json' },
        body: new Blob([body]).stream(),
        duplex: 'half',
      });
      expect(await response.json()).toMatchObject(refused);
    });

    it('that never end', async () => {
      expect((await post('['.repeat(depth), { 'Idempotency-Key': `open ${depth}` })).status).toBe(422);
    });

    it('in a message over a socket', async () => {
      const socket = gateway.socket();
      await nextEvent(socket, 'connect');
      const answered = new Promise<string>((resolve) => socket.io.engine.on('data', resolve));
      createEngine(socket).write(`${PacketType.EVENT}/runs,7["run.create",{"metadata":${nested(depth)}}]`);
      expect(await answered).toContain('must not be nested deeper than 64 levels');
      expect(socket.connected).toBe(true);
    });

    it('in a message that announces bytes', async () => {
      const socket = gateway.socket();
      await nextEvent(socket, 'connect');
      const ended = nextEvent(socket, 'disconnect');
      const text = `${PacketType.BINARY_EVENT}1-/runs,1["run.create",${nested(depth)}]`;
      createEngine(socket).write(text);
      createEngine(socket).write(Buffer.from('x'));
      expect((await ended)[0]).toBe('transport close');
      await gateway.anonymous.get('/health/live').expect(200);
    });

    it("in the handshake's auth", async () => {
      const socket = gateway.socket();
      await nextEvent(socket, 'connect');
      createEngine(socket).write(`${PacketType.CONNECT}/runs,{"token":${nested(depth)}}`);
      await gateway.anonymous.get('/health/live').expect(200);
    });
  });
});

describe('a body', () => {
  it('can be nested 64 levels deep, not counting brackets in strings', async () => {
    const brackets = '[{'.repeat(100);
    const inner = '{"a":'.repeat(61) + '"\\\\"' + '}'.repeat(61);
    const body = `{"input":${JSON.stringify(`\\"${brackets}`)},"llm":{"response_format":${inner}}}`;
    await post(body).expect(202);
  });

  it('can hold 20,000 values, not counting commas in strings', () => {
    const values = `${'[],'.repeat(9_000)}{"a":[1]}`;
    expect(findExcess(`{"a":[${values}],"b":"${'x,['.repeat(30_000)}"}`)).toBeUndefined();
    expect(findExcess(`[${'1,'.repeat(19_998)}1]`)).toBeUndefined();
    expect(findExcess(`[${'1,'.repeat(19_999)}1]`)).toMatchObject({ field: '' });
  });
});

interface Engine {
  write(packet: string | Buffer): void;
}

/** Writes packets that no Socket.IO client sends. */
const createEngine = (socket: Socket): Engine => socket.io.engine;
