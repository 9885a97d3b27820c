import { type AgentId, type RunId, type SettingsRequest, agentId, runId } from '@rondo/contract';
import { refuseField } from '../../problems/api-error';
import { KnownResponses } from './known-responses';
import { OpenAiController } from './openai.controller';
import { OpenAiResponses } from './openai-responses';

const aliases = new Set(['usual']);
const tutor = agentId.parse('agt_tutor');
const historian = agentId.parse('agt_historian');
const agents = new Map([
  ['tutor', tutor],
  ['historian', historian],
]);
const tool = (name: string) => ({ type: 'function', name, parameters: { type: 'object' } });

type Begun = SettingsRequest & {
  readonly agent_id?: AgentId;
  readonly instructions?: string;
  readonly input?: unknown;
  readonly on_active_run?: unknown;
  readonly metadata: object;
};

interface KeptCall {
  readonly tool_call_id: string;
  readonly name?: string;
}
interface KeptRun {
  readonly id: RunId;
  readonly waiting?: { readonly tool_calls?: readonly KeptCall[]; readonly question?: KeptCall };
}

interface Answer {
  readonly id: string;
  readonly model: string;
  readonly rondo: object;
}

/** An account whose runs are kept in memory, all on one thread. */
class Account {
  readonly begun: Begun[] = [];
  readonly answered: unknown[] = [];
  /** The names that were looked up. */
  readonly named: string[] = [];
  private runs: readonly KeptRun[] = [];
  private readonly facts: object[] = [];
  private readonly names = new Map<string, { readonly runId: RunId; readonly after: number }>();
  private readonly controller = new OpenAiController(this.responses(), undefined as never, undefined as never);

  /** Answers at once, as it is in the background. */
  async respond(fields: object, attempt = 0): Promise<Answer> {
    const body = { input: 'Hello?', background: true, ...fields };
    const caller = { accountId: 'acc_1', keyId: 'key_1', scopes: [] };
    const answers: Answer[] = [];
    const request = { caller, body, path: '/openai/v1/responses', query: {}, params: {}, get: () => String(attempt) };
    const response = { json: (answer: (typeof answers)[number]) => answers.push(answer) };
    await this.controller.createOpenAiResponse({ request, response } as never);
    const [answer] = answers;
    if (!answer) throw new Error('there was no answer');
    return answer;
  }

  /** It waits for its turn behind the run that is there. */
  queue(): void {
    this.begin({ metadata: {} });
  }

  /** The newest run waits for the result of a call. */
  wait(name: string): void {
    this.waitFor({ reason: 'caller_tools', tool_calls: [{ tool_call_id: 'call_1', name }] });
  }

  /** The newest run asks something with the function that its client has declared. */
  ask(): void {
    this.waitFor({ reason: 'ask', question: { tool_call_id: 'call_1' } });
  }

  private waitFor(waiting: object): void {
    this.tell('run.waiting', waiting);
    this.runs = this.runs.map((run, index) => (index === this.runs.length - 1 ? { ...run, waiting } : run));
  }

  private tell(type: string, data: object): void {
    this.facts.push({ seq: this.facts.length + 1, type, data });
  }

  private responses(): OpenAiResponses {
    const awaited = () =>
      this.runs.flatMap(({ id, waiting }) =>
        [waiting?.question ?? [], waiting?.tool_calls ?? []]
          .flat()
          .map((call) => ({ id: call.tool_call_id, run_id: id })),
      );
    const ids = {
      nameRun: ({ name, ...named }: { name: string; runId: RunId; after: number }) =>
        Promise.resolve(void this.names.set(name, named)),
      findRun: ({ name }: { name: string }) => Promise.resolve(this.names.get(name)),
    };
    const runs = {
      get: ({ runId: id }: { runId: RunId }) => Promise.resolve(this.runs.find((run) => run.id === id)),
      current: () => Promise.resolve(this.runs.find(({ waiting }) => waiting) ?? this.runs.at(-1)),
      events: () => Promise.resolve({ data: this.facts, head_seq: this.facts.length }),
      listAwaitedCalls: () => Promise.resolve({ data: awaited(), next_cursor: null }),
    };
    return new OpenAiResponses({
      ...{ ids, runs, known: new KnownResponses({ ids, runs } as never) },
      agents: {
        findId: (_: unknown, name: string) => {
          this.named.push(name);
          return Promise.resolve(agents.get(name));
        },
      },
      settings: { isModelName: (name: string) => aliases.has(name) || name.includes('/') },
      service: {
        create: (_: unknown, request: Begun) => Promise.resolve({ run: this.begin(request), facts: [] }),
        answer: (given: unknown) => Promise.resolve(this.answered.push(given)),
        answerCalls: (answers: unknown) => {
          this.tell('run.resumed', {});
          return Promise.resolve(this.answered.push(answers));
        },
      },
    } as never);
  }

  private begin(request: Begun): KeptRun {
    if (request.model === 'openai/tutro') throw refuseField('model', 'No provider has it.');
    this.begun.push(request);
    const { model, metadata, caller_tools, agent_id, instructions } = request;
    const agent = agent_id || instructions === undefined ? {} : { system_prompt: instructions };
    const settings = { model, llm: {}, agent, ...(caller_tools && { caller_tools }) };
    const id = runId.parse(`run_${this.runs.length + 1}`);
    const times = { created_at: '2026-01-01T00:00:00.000Z', finished_at: null };
    const run = {
      id,
      thread_id: 'thr_1',
      agent_id: request.agent_id ?? null,
      metadata,
      settings,
      last_seq: 0,
      ...times,
    };
    this.runs = [...this.runs, run];
    return run;
  }
}

const input = [{ type: 'function_call_output', call_id: 'call_1', output: 'History Tutor' }];

describe('a response of OpenAI', () => {
  it.each([
    ['an alias of the deployment', 'usual', 'usual'],
    ['a model of OpenAI', 'gpt-5.5', 'openai/gpt-5.5'],
    ['a model of any provider', 'demo/coder', 'demo/coder'],
  ])('may name %s, and has the name that was given', async (_, model, used) => {
    const account = new Account();
    expect((await account.respond({ model })).model).toBe(model);
    expect(account.begun).toMatchObject([{ model: used }]);
  });

  it('is refused with a name that neither an agent nor a model has', async () => {
    const refused = (model: string) => new Account().respond({ model });
    await expect(refused('tutro')).rejects.toThrow('model: There is no agent "tutro". No provider has it.');
    await expect(refused('openai/tutro')).rejects.toThrow('model: No provider has it.');
  });

  it('is begun once by a client that repeats its request because the answer was lost', async () => {
    const account = new Account();
    const first = await account.respond({ model: 'usual' });
    expect((await account.respond({ model: 'usual' }, 1)).rondo).toEqual(first.rondo);
    expect((await account.respond({ model: 'usual' })).rondo).not.toEqual(first.rondo);
    expect(account.begun).toHaveLength(2);
  });

  it('is shown with the response before it to a client that repeats its answer to a call, too', async () => {
    const account = new Account();
    const asked = await account.respond({ model: 'usual' });
    account.wait('to_history');
    const answered = await account.respond({ input });
    expect(answered).toMatchObject({ previous_response_id: asked.id });
    expect(await account.respond({ input }, 1)).toEqual(answered);
    expect(account.answered).toHaveLength(1);
  });

  it.each(['low', 'medium', 'high'])('takes the verbosity %s, which is a hint', async (verbosity) => {
    expect((await new Account().respond({ model: 'usual', text: { verbosity } })).model).toBe('usual');
  });

  const triage = { model: 'usual', instructions: 'Choose a tutor.', tools: [tool('to_history'), tool('to_math')] };

  it.each([
    ['the same functions', { ...triage, instructions: 'It is noon. Choose a tutor.' }],
    ['nothing but the output', { model: 'usual' }],
  ])('goes on with the run that made a call, where the request has %s', async (_, request) => {
    const account = new Account();
    const asked = await account.respond(triage);
    account.wait('to_history');
    expect((await account.respond({ ...request, input })).rondo).toEqual(asked.rondo);
    expect(account.answered).toHaveLength(1);
  });

  it('adds its instructions to those of a stored agent, which keeps its own', async () => {
    const account = new Account();
    const asked = await account.respond({ ...triage, model: 'tutor' });
    expect(account.begun).toMatchObject([{ agent_id: tutor, instructions: 'Choose a tutor.' }]);
    account.wait('to_history');
    const next = await account.respond({ model: 'tutor', instructions: 'It is noon.', input });
    expect(next.rondo).toEqual(asked.rondo);
  });

  it('leaves its instructions to the agent in force where it names none, and no model', async () => {
    const account = new Account();
    await account.respond({ instructions: 'Be brief.' });
    expect(account.begun).toMatchObject([{ instructions: 'Be brief.' }]);
    expect(account.begun[0]).not.toHaveProperty('model');
  });

  const past = { model: 'usual', instructions: 'Explain the past.', tools: [] };

  it.each([
    ['a model', past, { model: 'usual', instructions: past.instructions }],
    ['another one', { ...past, model: 'historian' }, { agent_id: historian, instructions: past.instructions }],
    ['another one with the same functions', { ...triage, model: 'historian' }, { agent_id: historian }],
  ])('is another run in the place of one of a stored agent, where it names %s', async (_, request, begun) => {
    const account = new Account();
    await account.respond({ ...triage, model: 'tutor' });
    account.wait('to_history');
    await account.respond({ ...request, input });
    expect(account.answered).toEqual([]);
    expect(account.begun[1]).toMatchObject({ on_active_run: 'replace', ...begun });
    expect(account.named).toEqual(['tutor', request.model]);
  });

  it('answers a question with the output of its call, and with nothing beside it', async () => {
    const account = new Account();
    const asked = await account.respond({ model: 'usual', tools: [tool('ask')] });
    account.ask();
    const output = [{ type: 'function_call_output', call_id: 'call_1', output: 'Blue.' }];
    const both = account.respond({ model: 'usual', input: [...output, { role: 'user', content: 'And large.' }] });
    await expect(both).rejects.toThrow('input: give the output of a call without further messages');
    expect((await account.respond({ model: 'usual', input: output })).rondo).toEqual(asked.rondo);
    expect(account.answered).toMatchObject([{ content: [{ type: 'text', text: 'Blue.' }] }]);
  });

  it('goes on with the run of a stored agent that it names by its id', async () => {
    const account = new Account();
    await account.respond({ ...triage, model: 'tutor' });
    account.wait('to_history');
    await account.respond({ model: tutor, input });
    expect(account.answered).toHaveLength(1);
  });

  it('goes on with the run that waits, though another one is queued behind it', async () => {
    const account = new Account();
    const asked = await account.respond(triage);
    account.wait('to_history');
    account.queue();
    expect((await account.respond({ ...triage, input })).rondo).toEqual(asked.rondo);
  });

  it.each([
    ['no functions', { model: 'usual', instructions: 'Explain the past.', tools: [] }],
    ['functions of its own', { model: 'usual', instructions: 'Explain the past.', tools: [tool('find_date')] }],
  ])('is another run in its place where another agent has the next word, with %s', async (_, request) => {
    const account = new Account();
    await account.respond(triage);
    account.wait('to_history');
    await account.respond({ ...request, input });
    expect(account.answered).toEqual([]);
    expect(account.begun[1]).toMatchObject({
      ...{ thread_id: 'thr_1', on_active_run: 'replace', instructions: 'Explain the past.' },
      input: [{ type: 'text', text: 'to_history returned: History Tutor' }],
    });
    expect(account.begun[1]?.caller_tools?.map(({ name }) => name)).toEqual(
      request.tools.length > 0 ? ['find_date'] : undefined,
    );
  });
});
