import { type NewMessage, messageId, runId, threadId } from '@rondo/contract';
import { runAgent } from '../loop/run-agent';
import { toPrompt } from '../prompt/prompt';
import { evolve } from '../run/run-state';
import { CountingIds, RunHarness, ScriptedModel, TickingClock, calls, says } from '../testing';
import { AnsweringModel, textOfRequest } from '../testing/answering-model';
import { tools as catalog } from '../tools/catalog';
import { toToolSet } from '../tools/tool-set';
import { budgetOfModel } from '../models/model-budgets';

const read = { name: 'read_file', arguments: { file_path: 'a.txt' } };

const stateMessage = (type: 'browser_state' | 'image_context', text: string): NewMessage => ({
  id: messageId.parse(`msg_${text.replaceAll(/\W/g, '')}`),
  thread_id: threadId.parse('thr_1'),
  run_id: runId.parse('run_1'),
  iteration: 0,
  type,
  is_llm_message: false,
  content: [{ type: 'text', text }],
  metadata: {},
});

/** A run whose log has these state messages before its first iteration. */
async function runWith(states: readonly NewMessage[], model: AnsweringModel) {
  const harness = new RunHarness({ model: new ScriptedModel([]), input: 'Look.' });
  const claim = await harness.store.claim(harness.id, 'worker');
  if (!claim) throw new Error('the run is due');
  await harness.store.append(
    claim,
    states.map((message) => ({ type: 'message.created', iteration: 0, data: { message } })),
  );
  const agent = {
    id: harness.id,
    threadId: claim.threadId,
    settings: claim.run.settings,
    tools: toToolSet(claim.run.settings, catalog),
    createdAt: claim.run.created_at,
    state: harness.state,
  };
  const never = new AbortController().signal;
  const { tools, tokens } = harness;
  const ports = {
    model,
    tools,
    tokens,
    resolveBudget: budgetOfModel,
    ids: new CountingIds(),
    clock: new TickingClock(),
  };
  let { state } = agent;
  for await (const step of runAgent(agent, ports, { stop: never, drain: never })) {
    if ('facts' in step) state = step.facts.reduce(evolve, state);
  }
  return { agent, state };
}

it('appends the newest state of the browser to the request, for one call', async () => {
  const model = new AnsweringModel((_, nth) => (nth > 2 ? says('Done.') : calls(read)));
  const states = [
    stateMessage('browser_state', 'old page'),
    stateMessage('browser_state', 'new page'),
    stateMessage('image_context', 'a picture'),
  ];

  const { agent, state } = await runWith(states, model);

  const [first, second, third] = model.requests.map(textOfRequest);
  expect(first?.indexOf('new page')).toBeGreaterThanOrEqual(0);
  expect(first?.indexOf('Look.')).toBeLessThan(first?.indexOf('new page') ?? 0);
  expect(model.requests[0]?.messages.at(-1)).toMatchObject({ role: 'user', temporary: 2 });
  expect(first).not.toMatch(/old page|a picture/);
  for (const later of [second, third]) expect(later).not.toMatch(/page|picture/);
  expect(state.conversation.map(({ type }) => type)).not.toContain('browser_state');
  expect(JSON.stringify(toPrompt({ run: agent, state }).prompt)).not.toContain('new page');
});

it('sends no reasoning of a reply whose context had more than is sent now', async () => {
  const model = new AnsweringModel((_, nth) =>
    nth === 1
      ? [{ type: 'reasoning', text: 'I see a page.' }, { type: 'reasoning_end', signature: 'signed' }, ...calls(read)]
      : says('Done.'),
  );

  await runWith([stateMessage('browser_state', 'new page')], model);

  expect(JSON.stringify(model.requests[1])).not.toContain('I see a page.');
});
