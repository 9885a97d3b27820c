import { startDemoModel } from './demo-model-server';

const say = (url: string, model: string, stream = false) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hello' }] }),
  });

it.each(['/health/live', '/health/ready'])('answers %s', async (path) => {
  const demo = await startDemoModel();
  const response = await fetch(demo.url + path);
  await demo.close();

  expect(response.status).toBe(200);
});

it('answers 404 for another path', async () => {
  const demo = await startDemoModel();
  const response = await fetch(`${demo.url}/v1/embeddings`);
  await demo.close();

  expect(response.status).toBe(404);
});

it('lets a reply in progress end when it closes', async () => {
  const demo = await startDemoModel();
  const response = await say(demo.url, 'plain:tokens=20,chunk_chars=4,pace_ms=20', true);
  await demo.close();

  expect(await response.text()).toContain('[DONE]');
});

it('closes the connection of a reply that does not end in time', async () => {
  const demo = await startDemoModel();
  const hanging = say(demo.url, 'hang').catch(() => 'cut off');
  await until(async () => (await journal(demo.url)).total === 1);
  await demo.close();

  expect(await hanging).toBe('cut off');
});

it('refuses a body that is too large or not JSON', async () => {
  const demo = await startDemoModel();
  const post = (body: string) => fetch(`${demo.url}/v1/messages`, { method: 'POST', body });
  const statuses = [(await post('x'.repeat(33 * 1024 * 1024))).status, (await post('{')).status];
  await demo.close();

  expect(statuses).toEqual([413, 400]);
});

it.each(['chat/completions', 'messages'])(
  'refuses half of a surrogate pair at %s, and accepts a whole one',
  async (path) => {
    const demo = await startDemoModel();
    const post = async (content: string) => {
      const body = { model: 'plain', max_tokens: 9, messages: [{ role: 'user', content }] };
      const text = JSON.stringify(body).replace('ESCAPED', '\\ud83d\\ude00');
      const headers = { 'anthropic-version': '2023-06-01' };
      return (await fetch(`${demo.url}/v1/${path}`, { method: 'POST', headers, body: text })).status;
    };
    const statuses = [await post('Half: \ud83d'), await post('Whole: 😀'), await post('Whole: ESCAPED')];
    await demo.close();

    expect(statuses).toEqual([400, 200, 200]);
  },
);

// The shape is this server's own.
const journal = async (url: string) => (await (await fetch(`${url}/requests`)).json()) as { total: number };

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition()));
}
