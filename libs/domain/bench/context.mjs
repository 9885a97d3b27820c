/**
 * The cost of building the context, per iteration; needs a build. A scripted run with results of 2 KB: for each length,
 * the time from the last result in the log to a request that can be sent. Only new messages are counted.
 */
import { createRequire } from 'node:module';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const dist = process.argv[2] ?? fileURLToPath(new URL('../dist', import.meta.url));
const load = createRequire(import.meta.url);
const { ContextMeter } = load(`${dist}/context/context-meter.js`);
const { readContextUsage } = load(`${dist}/compaction/compaction-trigger.js`);
const { toPrompt } = load(`${dist}/prompt/prompt.js`);
const { evolve, replay } = load(`${dist}/run/run-state.js`);
const { budgetOfModel } = load(`${dist}/models/model-budgets.js`);
const { effectiveSettings } = load(`${dist}/profiles/effective-settings.js`);

const { builtInTools: tools } = load(`${dist}/tools/catalog.js`);
const { settings } = effectiveSettings({ context: { input_budget_tokens: 900_000 } }, { model: 'demo/coder' });
const output = 'A line of forty characters, more or less.\n'.repeat(48);
const tokens = {
  countTexts: (texts) => Promise.resolve(texts.map((text) => Math.ceil(text.length / 4))),
  imageTokens: () => 1_000,
};

const message = (id, type, { content, metadata = {} }) => ({
  id: `msg_${id}`,
  thread_id: 'thr_1',
  run_id: 'run_1',
  iteration: type === 'user' ? null : Math.ceil(id / 2),
  seq: id + 1,
  type,
  is_llm_message: true,
  content,
  metadata,
  created_at: '2026-01-01T00:00:00.000Z',
});

function iteration(at) {
  const call = { type: 'tool_call', tool_call_id: `call_${at}`, name: 'read_file', arguments: { file_path: 'a.txt' } };
  const result = { success: true, output };
  return [
    message(2 * at - 1, 'assistant', {
      content: [{ type: 'text', text: 'Reading.' }, call],
      metadata: { model: 'demo/coder' },
    }),
    message(2 * at, 'tool', {
      content: [{ type: 'tool_result', tool_call_id: call.tool_call_id, name: 'read_file', result }],
    }),
  ];
}

const history = (messages) => [
  message(0, 'user', { content: [{ type: 'text', text: 'Go.' }] }),
  ...Array.from({ length: Math.ceil(messages / 2) }, (_, index) => iteration(index + 1)).flat(),
];

/** On a shared machine, CPU time varies less than elapsed time. */
function shares(times, unit) {
  const sorted = times.toSorted((a, b) => a - b);
  const share = (part) => +sorted[Math.floor(sorted.length * part)].toFixed(3);
  return { [`p50 ${unit}`]: share(0.5), [`p95 ${unit}`]: share(0.95) };
}

async function measure(count, change = (state) => state) {
  const state = change(replay([], history(count)));
  const run = { id: 'run_1', threadId: 'thr_1', settings, tools, createdAt: '2026-01-01', state };
  const ports = { resolveBudget: budgetOfModel };
  const metered = { run, state, ports, meter: new ContextMeter(tokens, settings.model) };
  await readContextUsage(metered);

  const times = [];
  const cpuTimes = [];
  let next = count;
  for (let nth = 0; nth < 200; nth++) {
    const from = process.hrtime.bigint();
    const cpu = process.cpuUsage();
    for (const message of iteration((next += 1)))
      metered.state = evolve(metered.state, { type: 'message.created', iteration: next, data: { message } });
    await readContextUsage(metered);
    toPrompt(metered);
    times.push(Number(process.hrtime.bigint() - from) / 1e6);
    const { user, system } = process.cpuUsage(cpu);
    cpuTimes.push((user + system) / 1e3);
    metered.state = state;
  }
  const sent = toPrompt(metered).prompt.messages.length;
  return { ...shares(times, 'ms'), ...shares(cpuTimes, 'CPU ms'), 'messages sent': sent };
}

const shortened = (state) =>
  evolve(state, {
    type: 'context.compacted',
    iteration: 1,
    data: {
      method: 'compression',
      reason: 'threshold',
      through_message_id: state.conversation.at(-5).id,
      keep_characters: 768,
      tokens_before: 2,
      tokens_after: 1,
    },
  });

const rows = {};
for (const count of [10, 100, 1_000, 10_000]) {
  rows[`${count} messages`] = await measure(count);
  rows[`${count} messages, shortened`] = await measure(count, shortened);
}
console.log('Building the context, per iteration');
console.table(rows);
