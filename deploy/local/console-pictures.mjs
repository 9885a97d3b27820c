/** What the pictures of the console show beside the demo runs. A second time nothing new is created. */
export async function prepareExamples(api) {
  const coder = await newest(api, ({ model, metadata }) => model === 'demo/coder' && metadata.demo === 'true');
  const ask = await newest(api, ({ model, metadata }) => model === 'demo/ask' && metadata.demo === 'true');
  if (!coder || !ask) throw new Error('The demo runs of the first start are not there.');
  return {
    coder,
    ask,
    other: await anotherRun(api, coder),
    agent: await exampleAgent(api),
    schedule: await exampleSchedule(api),
    sandbox: await sandboxOf(api, coder.thread_id),
  };
}

async function newest(api, matches) {
  const { data } = await api('GET', '/v1/runs?limit=100');
  return data.find(matches);
}

/** A run that differs from the demo's, on a thread of its own. */
async function anotherRun(api, { id }) {
  const metadata = { picture: 'true' };
  const known = await newest(api, (run) => run.metadata.picture === 'true');
  if (known) return known;
  const input = 'Write a small program, run it, and say how long it took.';
  const run = await api('POST', '/v1/runs', { model: 'demo/coder', input, metadata });
  if (run.id === id) throw new Error('The run is not a new one.');
  return api('GET', `/v1/runs/${run.id}/wait?timeout_s=30`);
}

async function exampleAgent(api) {
  const definition = (prompt) => ({
    description: 'Writes the notes of a release',
    model: 'demo/plain',
    system_prompt: prompt,
    directives: ['Name what users will notice first.'],
    tools: { shell: false, web: { enabled: false } },
    limits: { max_iterations: 20 },
  });
  const { data } = await api('GET', '/v1/agents?search=release-notes');
  if (data[0]) return data[0];
  const path = '/v1/agents/by-name/release-notes';
  await api('PUT', path, { definition: definition('You write release notes.') });
  return api('PUT', path, { definition: definition('You write short release notes, one line for each change.') });
}

async function exampleSchedule(api) {
  const { data } = await api('GET', '/v1/schedules');
  const known = data.find(({ name }) => name === 'morning report');
  if (known) return known;
  const run = { input: 'Write the report. It was due at {{due_at}}.', model: 'demo/plain' };
  const schedule = await api('POST', '/v1/schedules', {
    name: 'morning report',
    cron: '0 9 * * 1-5',
    time_zone: 'Europe/Berlin',
    run,
  });
  await api('POST', `/v1/schedules/${schedule.id}/run`, {});
  return schedule;
}

async function sandboxOf(api, threadId) {
  return api('POST', `/v1/threads/${threadId}/sandbox`, {});
}

/** Every page: the text that shows that it is complete, and the look that its picture in docs/console.md has. */
export const pagesOf = ({ coder, ask, other, agent, schedule, sandbox }) => [
  { name: 'runs', path: '/console/runs', ready: 'Paint the bicycle shed', docs: ['light'] },
  { name: 'run', path: `/console/runs/${coder.id}`, ready: 'You', proves: true, docs: ['light'] },
  { name: 'run-past', path: `/console/runs/${coder.id}?seq=22`, ready: 'You', docs: ['dark'] },
  { name: 'inbox', path: '/console/inbox', ready: 'Paint the bicycle shed', docs: ['dark'] },
  { name: 'question', path: `/console/runs/${ask.id}`, ready: 'You', docs: ['phone'] },
  { name: 'threads', path: '/console/threads', ready: 'Paint the bicycle shed', docs: [] },
  { name: 'thread', path: `/console/threads/${other.thread_id}`, ready: 'All of this run', docs: ['light'] },
  { name: 'agents', path: '/console/agents', ready: 'release-notes', docs: [] },
  { name: 'agent', path: `/console/agents/${agent.id}`, ready: 'Version 1', docs: ['dark'] },
  { name: 'schedules', path: '/console/schedules', ready: 'morning report', docs: [] },
  { name: 'schedule', path: `/console/schedules/${schedule.id}`, ready: 'A run was started', docs: ['light'] },
  { name: 'webhooks', path: '/console/schedules/webhooks', ready: 'New webhook', docs: [] },
  { name: 'compare', path: `/console/compare?a=${coder.id}&b=${other.id}`, ready: 'Iteration 5', docs: ['dark'] },
  { name: 'sandboxes', path: '/console/sandboxes', ready: 'embedded', docs: [] },
  { name: 'sandbox', path: `/console/sandboxes/${sandbox.id}?path=fizzbuzz.sh`, ready: '#!/bin/sh', docs: ['light'] },
  { name: 'usage', path: '/console/usage?days=7&measure=tokens', ready: 'demo/coder', docs: ['light'] },
  { name: 'keys', path: '/console/keys', ready: 'this browser', docs: ['phone'] },
  { name: 'audit', path: '/console/keys/audit', ready: 'session.create', docs: [] },
  { name: 'health', path: '/console/health', ready: 'Everything answers', docs: ['dark'] },
];
