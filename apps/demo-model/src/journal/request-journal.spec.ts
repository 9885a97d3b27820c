import { request as open } from 'node:http';
import { type RunningDemoModel, runDemoModel } from '../testing/running-demo-model';

let demo: RunningDemoModel;
beforeAll(async () => {
  demo = await runDemoModel();
});
beforeEach(() => fetch(`${demo.url}/requests`, { method: 'DELETE' }));
afterAll(() => demo.close());

const say = (content: string, model = 'plain') =>
  demo.openai.chat.completions.create({ model, messages: [{ role: 'user', content }] });

it('shows what the provider saw, without the key', async () => {
  await say('Remember this.');

  const { total, data } = await demo.get('/requests');
  expect(total).toBe(1);
  expect(data[0]).toMatchObject({ protocol: 'openai', path: '/v1/chat/completions', model: 'plain', messages: 1 });
  expect(data[0]).toMatchObject({ status: 200, tokens_sent: 6, closed_by_client_at: null });
  expect(data[0]?.body).toContain('Remember this.');
  expect(data[0]?.headers).not.toHaveProperty('authorization');
});

it('measures from the arrival to the end of the answer', async () => {
  await say('Wait.', 'plain:delay_ms=60');

  const [entry] = (await demo.get('/requests')).data;
  expect(Number(entry?.ended_ms) - Number(entry?.arrived_ms)).toBeGreaterThanOrEqual(59);
});

it('records that a client disconnects in the middle of a stream, and sends no more (I7)', async () => {
  const stream = await demo.openai.chat.completions.create({
    model: 'long:tokens=100000,pace_ms=5',
    stream: true,
    messages: [{ role: 'user', content: 'Go on.' }],
  });
  let received = 0;
  for await (const chunk of stream) if ((received += chunk.choices[0]?.delta.content ? 1 : 0) === 3) break;

  let entry: Record<string, unknown> | undefined;
  while (!entry?.closed_by_client_at) [entry] = (await demo.get('/requests')).data;

  expect(entry).toMatchObject({ status: 200, ended_at: expect.any(String) });
  expect(entry.tokens_sent).toBeGreaterThanOrEqual(3);
  expect(entry.tokens_sent).toBeLessThan(2000);
});

it('distinguishes its own reset from a client that disconnected', async () => {
  await say('Break off.', 'reset').catch(() => undefined);

  let entry: Record<string, unknown> | undefined;
  while (!entry?.ended_at) [entry] = (await demo.get('/requests')).data;

  expect(entry).toMatchObject({ status: null, closed_by_client_at: null });
});

it('survives a client that disconnects while it sends its request', async () => {
  const request = open(`${demo.url}/v1/chat/completions`, { method: 'POST', headers: { 'content-length': 1000 } });
  request.on('error', () => undefined);
  request.write('{"model":');
  while ((await demo.get('/requests')).total === 0);
  request.destroy();

  await expect(say('Still there?')).resolves.toBeDefined();
});

it('keeps the newest 500 requests and the beginning of their bodies', async () => {
  for (let sent = 0; sent < 505; sent += 1) await say(`Request ${sent} ${sent === 504 ? 'x'.repeat(50_000) : ''}`);

  const { total, data } = await demo.get('/requests');
  expect(total).toBe(505);
  expect(data).toHaveLength(500);
  expect(data[0]?.body).toContain('Request 5 ');
  expect(data[499]?.body).toHaveLength(16_384);
  expect((await demo.get('/requests?limit=2')).data).toEqual(data.slice(-2));
});
