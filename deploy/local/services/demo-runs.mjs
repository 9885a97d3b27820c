import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the console shows at first: two runs that have ended, one that waits for an answer, one that goes on for minutes. */
const runs = [
  { model: 'demo/thinking', input: 'Is a short answer enough?' },
  { model: 'demo/coder', input: 'Write a small program and run it.' },
  { model: 'demo/long:tokens=15000', input: 'Tell me a long story.' },
  { model: 'demo/ask', input: 'Paint the bicycle shed.' },
];

/** An agent that a person can ask for a site in the console. Only runs that name `deploy` may publish. */
const agent = { description: 'Writes a small site, and publishes it', model: 'demo/site', tools: { deploy: true } };

/** Starts them over REST, once for each data directory, and only where there are no runs yet. */
export async function startDemoRuns({ api, dataDir }) {
  const mark = join(dataDir, 'demo-runs-started');
  if (existsSync(mark)) return;
  writeFileSync(mark, '');
  const { data } = await api('GET', '/v1/runs?limit=1');
  if (data.length > 0) return;
  await api('PUT', '/v1/agents/by-name/site-builder', { definition: agent });
  for (const run of runs) await api('POST', '/v1/runs', { ...run, metadata: { demo: 'true' } });
}

/** A link that signs one browser in to the console. */
export async function consoleLink({ api, url }) {
  const { path } = await api('POST', '/v1/session/links', {});
  return `${url}${path}`;
}

/** Sends requests with this key. The error of one that is refused has its `status`. */
export function toApi(url, key) {
  return async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        ...(!(body instanceof FormData) && { 'Content-Type': 'application/json' }),
      },
      ...(body && { body: body instanceof FormData ? body : JSON.stringify(body) }),
    });
    const { status } = response;
    if (!response.ok) throw Object.assign(new Error(`${method} ${path} was answered with ${status}`), { status });
    return response.json();
  };
}

/** Has a run write a program and start it in its sandbox. Resolves with the run, its thread, and what its tools said. */
export async function runProgram(api, thread) {
  const request = { model: 'demo/coder', input: 'Write a small program and run it.' };
  const { id } = await api('POST', thread ? `/v1/threads/${thread}/runs` : '/v1/runs', request);
  let run;
  do run = await api('GET', `/v1/runs/${id}/wait?timeout_s=30`);
  while (run.status === 'running' || run.status === 'queued');
  return { id, thread: run.thread_id, outputs: await programOutputs(api, run) };
}

/** What the tools of such a run said. Rejects if the program has not printed what it should. */
export async function programOutputs(api, { id, status }) {
  const { data: calls } = await api('GET', `/v1/runs/${id}/tool-calls`);
  const outputs = calls.map(({ result }) => result?.output ?? result?.error ?? '');
  if (status !== 'completed' || !outputs.some((output) => output.includes('FizzBuzz')))
    throw new Error(`the run is ${status}; its tools said:\n${outputs.join('\n')}`);
  return outputs;
}
