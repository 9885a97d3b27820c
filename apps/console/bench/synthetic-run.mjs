/** Events as a gateway sends them, of a run that only exists here. */

const at = '2026-01-01T00:00:00.000Z';
export const ids = { run: 'run_01JMX2Q8Z4T5V6W7X8Y9Z0A1B2', thread: 'thr_01JMX2Q8Z4T5V6W7X8Y9Z0A1B2' };
const usage = { input_tokens: 100, cached_tokens: 0, output_tokens: 20, cost_usd: 0 };
const head = { v: 1, run_id: ids.run, thread_id: ids.thread, epoch: 1, at };

const block = (event) =>
  `${event.seq === null ? '' : `id: ${event.seq}\n`}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/**
 * A log of this many facts: iterations of a text and a call with its output.
 *
 * @param {number} count
 */
export function listFacts(count) {
  const blocks = [];
  const add = (type, iteration, data) => {
    const seq = blocks.length + 1;
    blocks.push(block({ ...head, id: `evt_${seq}`, seq, iteration, type, data }));
  };
  add('run.created', 0, { profile: 'suna', model: 'demo/plain' });
  for (let iteration = 1; blocks.length < count - 1; iteration += 1) {
    for (const [type, data] of factsOfIteration(iteration)) if (blocks.length < count - 1) add(type, iteration, data);
  }
  add('run.completed', 1, { finish_reason: 'completed', usage });
  return blocks;
}

function factsOfIteration(iteration) {
  const [call, message] = [`call_${iteration}`, `msg_${iteration}`];
  const result = {
    success: true,
    output: Array.from({ length: 12 }, (_, line) => `line ${line} of ${iteration}`).join('\n'),
  };
  const text = `Step **${iteration}**: I look at the files, and \`run\` what is there.\n\n- one\n- two\n`;
  return [
    ['iteration.started', { iteration, message_id: message }],
    ['message.created', { message: toMessage({ id: message, iteration, text }) }],
    ['usage.recorded', { ...usage, model_call_id: `mc_${iteration}`, model: 'demo/plain', estimated: false }],
    ['tool.planned', { tool_call: toCall({ id: call, iteration, message }) }],
    ['tool.started', { tool_call_id: call, name: 'execute_command', attempt: 1, store: null }],
    ['tool.completed', { tool_call_id: call, name: 'execute_command', result, duration_ms: 20, message_id: message }],
    ['iteration.completed', { iteration, finish_reason: 'tool_calls' }],
  ];
}

const toMessage = ({ id, iteration, text }) => ({
  ...{ id, thread_id: ids.thread, run_id: ids.run, iteration, seq: iteration, type: 'assistant', is_llm_message: true },
  ...{ content: [{ type: 'text', text }], metadata: {}, created_at: at },
});

const toCall = ({ id, iteration, message }) => ({
  ...{ id, run_id: ids.run, iteration, index: 0, name: 'execute_command', arguments: { command: `step ${iteration}` } },
  ...{ dialect: 'native', effect_class: 'unsafe', status: 'planned', result: null, attempt: 1, message_id: message },
  ...{ started_at: null, finished_at: null },
});

/** A thread of this many turns, each with a question, a call and an answer: its messages, and the runs that wrote them, newest first. */
export function createChat(turns) {
  const messages = [];
  const runs = [];
  for (let turn = 1; turn <= turns; turn += 1) {
    const run = { ...toRun('completed', 9), id: turn === turns ? ids.run : `run_${turn}`, finish_reason: 'stop' };
    runs.unshift(run);
    const add = (type, content) =>
      messages.push({
        ...toMessage({ id: `msg_${turn}_${type}_${messages.length}`, iteration: 1, text: '' }),
        ...{ seq: messages.length + 1, run_id: run.id, type, content },
      });
    const call = { tool_call_id: `call_${turn}`, name: 'execute_command' };
    add('user', [{ type: 'text', text: `Question ${turn}: what is in the files?` }]);
    add('assistant', [{ type: 'tool_call', ...call, arguments: { command: `cat part-${turn}.txt` } }]);
    const output = Array.from({ length: 12 }, (_, line) => `line ${line} of ${turn}`).join('\n');
    add('tool', [{ type: 'tool_result', ...call, result: { success: true, output } }]);
    add('assistant', [
      { type: 'text', text: `Answer **${turn}**:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two\n` },
    ]);
  }
  return { messages, runs };
}

/** The log of the newest run of a chat, whose messages are those of `messages`. */
export function toChatFacts({ messages }) {
  const own = messages.filter(({ run_id: runId }) => runId === ids.run);
  const blocks = [];
  const add = (type, data) => {
    const seq = blocks.length + 1;
    blocks.push(block({ ...head, id: `evt_${seq}`, seq, iteration: type === 'run.created' ? 0 : 1, type, data }));
  };
  add('run.created', { profile: 'suna', model: 'demo/plain' });
  for (const message of own) add('message.created', { message });
  add('run.completed', { finish_reason: 'stop', usage });
  return blocks;
}

/** Everything of one iteration: its facts, and between them the text and the output as they arrive, in pieces. */
export function toWork(iteration) {
  const [started, message, ...rest] = factsOfIteration(iteration);
  let seq = (iteration - 1) * (rest.length + 2) + 1; // after `run.created`
  const fact = ([type, data]) => {
    seq += 1;
    return block({ ...head, id: `evt_${seq}`, seq, iteration, type, data });
  };
  const deltas = (type, streamId, parts) => {
    let offset = 0;
    return parts.map((data, index) => {
      const id = `evt_${iteration}_${type}_${index}`;
      const piece = { ...head, id, seq: null, iteration, type, after_seq: seq, stream_id: streamId, offset, data };
      offset += data.text.length;
      return block(piece);
    });
  };
  const { content, id } = message[1].message;
  const begin = fact(started);
  const text = deltas(
    'message.delta',
    id,
    content[0].text.split(/(?<= )/).map((word) => ({ text: word })),
  );
  const facts = [fact(message), ...rest.slice(0, 3).map(fact)];
  const [completed, end] = rest.slice(3);
  const lines = completed[1].result.output.split(/(?<=\n)/).map((line) => ({ channel: 'stdout', text: line }));
  const output = deltas('tool.output', completed[1].tool_call_id, lines);
  return { begin, text, facts, output, end: [completed, end].map(fact), lastSeq: seq };
}

/** The first fact of a run. */
export const firstFact = () => listFacts(2)[0];

const words = 'The quick brown fox jumps over the lazy dog, and the dog lets it pass. '.split(' ');

/** The beginning of a run that writes, and its pieces of text: Markdown, with a paragraph every sixty words. */
export function toDeltas(count) {
  const begin = [
    block({
      ...head,
      id: 'evt_1',
      seq: 1,
      iteration: 0,
      type: 'run.created',
      data: { profile: 'suna', model: 'demo/plain' },
    }),
    block({
      ...head,
      id: 'evt_2',
      seq: 2,
      iteration: 1,
      type: 'iteration.started',
      data: { iteration: 1, message_id: 'msg_1' },
    }),
  ].join('');
  let offset = 0;
  const pieces = Array.from({ length: count }, (_, index) => {
    const text = index === count - 1 ? 'THE END' : `${words[index % words.length]}${index % 60 === 59 ? '\n\n' : ' '}`;
    const event = { ...head, id: `evt_d${index}`, seq: null, iteration: 1, type: 'message.delta', after_seq: 2 };
    const piece = block({ ...event, stream_id: 'msg_1', offset, data: { text } });
    offset += text.length;
    return piece;
  });
  return { begin, pieces };
}

/**
 * What `GET /v1/runs/{id}` would answer.
 *
 * @param {string} status
 * @param {number} lastSeq
 * @returns {object}
 */
export const toRun = (status, lastSeq) => ({
  ...{ id: ids.run, thread_id: ids.thread, status, iteration: 1, last_seq: lastSeq, epoch: 1, finish_reason: null },
  ...{ error: null, waiting: null, usage, profile: 'suna', model: 'demo/plain', agent_id: null, agent_version: null },
  ...{ metadata: { title: 'A synthetic run' }, preview: null, stop_requested_at: null, created_at: at, started_at: at },
  ...{ finished_at: null, project_id: null, forked_from: null, trace_id: null, steers: null },
  ...{ parent_run_id: null, parent_call_id: null, root_run_id: null, user: null },
  settings: {
    ...{ profile: 'suna', model: 'demo/plain', agent: {}, tools: [], llm: {}, processor: {}, budget: {} },
    ...{ limits: { max_iterations: 100 }, context: { token_threshold: 120_000 }, termination: 'conversation' },
  },
});
