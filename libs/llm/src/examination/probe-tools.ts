import { callId } from '@rondo/contract';
import type { ModelMessage, ModelToolResult, ProfileRules, ToolDefinition } from '@rondo/domain';
import { z } from 'zod';
import { type Answer, type Examiner, type ModelFinding } from './examiner';
import { shorten, userTurn } from './probe-replies';

const createTool = (name: string, parameters?: Readonly<Record<string, unknown>>): ToolDefinition => ({
  name,
  description: 'Looks a word up in a dictionary.',
  input: z.object({ word: z.string().describe('The word to look up.') }),
  ...(parameters && { parameters }),
  effect: 'pure',
  runsIn: 'executor',
  timeoutMs: 1_000,
  group: 'external',
});

const lookUp = createTool('look_up');
const task = userTurn(
  'Look up the words north and south with the tool look_up, both in the same reply. When you have their meanings, look up the word east. Then answer with the word done.',
);
/** A little thinking, so that it is seen what the server wants back of it. */
const thinking = { reasoning_effort: 'low', enable_thinking: true } as const;

const answerCalls = ({ calls }: Answer): ModelMessage => ({
  role: 'tool',
  results: calls.map(({ id, arguments: given }): ModelToolResult => ({
    tool_call_id: id,
    text: `The meaning of ${JSON.stringify(given)}: a direction.`,
    is_error: false,
  })),
});

/** What the loop has left for other probes: a conversation that ends with the results of calls. */
export interface ToolProbe {
  readonly findings: readonly ModelFinding[];
  readonly hasCalls: boolean;
  /** What is to be declared about the model. */
  readonly facts: { readonly tool_calls?: false; readonly printed_calls?: true };
  readonly conversation: readonly ModelMessage[];
}

/** Whether it calls tools, several at once, and goes on when it gets its calls back as it wants them. */
export async function probeTools(examiner: Examiner): Promise<ToolProbe> {
  examiner.begin('tool calls');
  const first = await examiner.ask({ messages: [task], tools: [lookUp], settings: thinking });
  const none = { hasCalls: false, facts: {}, conversation: [task] };
  if (first.error) return { ...none, facts: { tool_calls: false }, findings: [judgeRefusedTools(first.error.message)] };
  if (first.calls.length === 0) {
    const facts = first.hasPrintedCall ? { printed_calls: true as const } : {};
    return { ...none, facts, findings: [judgeMissingCall(first)] };
  }

  examiner.begin('a loop of calls');
  const loop = await runLoop(examiner, first);
  const { traits } = loop.first;
  const count = loop.first.calls.length;
  const findings: ModelFinding[] = [
    {
      name: 'tool calls',
      status: 'works',
      found: `ids such as ${shorten(traits.callIds[0] ?? 'none: they get ours')}`,
    },
    count > 1
      ? { name: 'parallel calls', status: 'works', found: `${count} in one reply` }
      : { name: 'parallel calls', status: 'lacks', found: 'one in a reply, although two were asked for' },
    { name: 'reasoning', ...judgeReasoning(loop.first) },
    judgeLoop(loop),
  ];
  return { findings, hasCalls: true, facts: {}, conversation: loop.conversation };
}

function judgeRefusedTools(message: string): ModelFinding {
  return {
    name: 'tool calls',
    status: 'lacks',
    found: `refused: ${shorten(message)}`,
    advice: 'Calls are written as text then (`"tool_calls": false`).',
  };
}

function judgeMissingCall({ hasPrintedCall, text }: Answer): ModelFinding {
  if (hasPrintedCall)
    return { name: 'tool calls', status: 'adapted', found: 'printed as text, which is read (`"printed_calls": true`)' };
  return {
    name: 'tool calls',
    status: 'broken',
    found: `it answered without a call: “${shorten(text)}”`,
    advice:
      'A model that does not call tools when asked to cannot work as an agent; try `"tool_calls": false` or another model.',
  };
}

function judgeReasoning({ traits, turn }: Answer): Omit<ModelFinding, 'name'> {
  if (traits.reasoning.length > 0) return { status: 'works', found: `in ${traits.reasoning.join(', ')}` };
  const isSeen = turn.content.some(({ type }) => type === 'reasoning');
  return isSeen ? { status: 'works', found: 'in parts of the reply' } : { status: 'lacks', found: 'none was shown' };
}

interface Loop {
  /** The first reply, under the rules that hold at the end. */
  readonly first: Answer;
  readonly conversation: readonly ModelMessage[];
  readonly steps: number;
  readonly refused?: string;
  readonly rules?: ProfileRules;
}

const mostSteps = 4;

/** The rest of the loop, and with other rules the whole of it where the provider refuses its own calls. */
async function runLoop(examiner: Examiner, first: Answer): Promise<Loop> {
  const loop = await continueLoop(examiner, first);
  if (loop.refused === undefined) return loop;
  let repeated: Loop | undefined;
  const found = await examiner.findRules(orderRules(first, loop.refused), async () => {
    const again = await examiner.ask({ messages: [task], tools: [lookUp], settings: thinking });
    if (again.error || again.calls.length === 0) return { ...again, error: again.error ?? noCall };
    repeated = await continueLoop(examiner, again);
    return repeated.refused === undefined ? again : { ...again, error: { ...noCall, message: repeated.refused } };
  });
  return found && repeated ? { ...repeated, rules: found.rules } : loop;
}

const noCall = { code: 'invalid_request', message: 'The model made no call.' } as const;

async function continueLoop(examiner: Examiner, first: Answer): Promise<Loop> {
  let conversation: readonly ModelMessage[] = [task];
  let answer = first;
  for (let steps = 1; ; steps++) {
    conversation = [...conversation, answer.turn, answerCalls(answer)];
    const next = await examiner.ask({ messages: conversation, tools: [lookUp], settings: thinking });
    if (next.error) return { first, conversation, steps, refused: next.error.message };
    if (next.calls.length === 0 || steps === mostSteps) return { first, conversation, steps: steps + 1 };
    answer = next;
  }
}

/** The likeliest first, by what was seen and by what the provider says. */
function orderRules({ traits }: Answer, refused: string): ProfileRules[] {
  const ways = [
    ...(traits.reasoning.includes('reasoning_details') ? (['details'] as const) : []),
    ...(/unsupported|not permitted|unexpected|unknown|must not|extra/i.test(refused) ? (['none'] as const) : []),
    ...(/signature/i.test(refused) ? (['signatures'] as const) : []),
    ...(['always', 'as_received', 'none', 'details', 'signatures'] as const),
  ];
  return [...new Set(ways)].map((reasoning) => ({ reasoning }));
}

function judgeLoop({ steps, refused, rules, conversation }: Loop): ModelFinding {
  const name = 'loop of calls';
  const calls = conversation.filter(({ role }) => role === 'assistant').length;
  if (refused !== undefined && !rules)
    return {
      name,
      status: 'broken',
      found: `step ${steps + 1} is refused: ${shorten(refused)}`,
      advice: 'No rule that we know helps. Please report the words of this refusal.',
    };
  const found = `${calls} ${calls === 1 ? 'step' : 'steps'} with calls, each got back with its results`;
  return rules
    ? { name, status: 'adapted', found: `${found}; reasoning: ${rules.reasoning ?? ''}` }
    : { name, status: 'works', found };
}

/** A thread may have calls of another model, whose reasoning is not sent. */
export async function probeForeignCall(examiner: Examiner): Promise<ModelFinding[]> {
  const name = 'calls of another model';
  examiner.begin(name);
  const call = { type: 'tool_call', id: foreignId, name: 'look_up', arguments: { word: 'north' } } as const;
  const messages: ModelMessage[] = [
    userTurn('Look up the word north. Then answer with the word done.'),
    { role: 'assistant', content: [call] },
    { role: 'tool', results: [{ tool_call_id: foreignId, text: 'A direction.', is_error: false }] },
  ];
  const ask = () => examiner.ask({ messages, tools: [lookUp], settings: thinking });
  const answer = await ask();
  if (!answer.error) return [{ name, status: 'works', found: 'accepted without reasoning' }];
  const candidates = (['always', 'signatures'] as const).map((reasoning) => ({ reasoning }));
  const found = await examiner.findRules(candidates, ask);
  const reason = shorten(answer.error.message);
  return [
    found
      ? { name, status: 'adapted', found: `refused without reasoning; reasoning: ${found.rules.reasoning ?? ''}` }
      : { name, status: 'broken', found: `refused: ${reason}`, advice: 'Begin a new thread when the model changes.' },
  ];
}

const foreignId = callId.parse('call_ofAnotherModel');

/** People write while a tool runs. */
export async function probeUserAfterTool(
  examiner: Examiner,
  conversation: readonly ModelMessage[],
): Promise<ModelFinding[]> {
  const name = 'user after a tool';
  examiner.begin(name);
  const messages = [...conversation, userTurn('Stop here, and answer with the word ok.')];
  const ask = () => examiner.ask({ messages, tools: [lookUp] });
  const answer = await ask();
  if (answer.learned.includes('noUserAfterTool') || (!answer.error && examiner.profile.noUserAfterTool === true))
    return [{ name, status: 'adapted', found: 'a turn of the assistant is put between them' }];
  if (!answer.error) return [{ name, status: 'works', found: 'accepted' }];
  const found = await examiner.findRules([{ noUserAfterTool: true }], ask);
  return [
    found
      ? { name, status: 'adapted', found: 'refused; a turn of the assistant is put between them' }
      : { name, status: 'broken', found: `refused: ${shorten(answer.error.message)}` },
  ];
}

/** What tools of MCP servers have in their schemas. */
const demanding = createTool('look_up', {
  type: 'object',
  properties: {
    word: { type: 'string', minLength: 1 },
    kind: { const: 'noun' },
    places: { type: 'array', items: { $ref: '#/$defs/place' } },
    note: { type: ['string', 'null'] },
    level: { enum: [1, 2, 3] },
    labels: { type: 'object', patternProperties: { '^x-': { type: 'string' } }, propertyNames: { maxLength: 9 } },
    either: { anyOf: [{ type: 'string' }, { type: 'number' }], not: { const: 0 } },
  },
  required: ['word'],
  $defs: { place: { type: 'object', properties: { page: { type: 'integer' } } } },
  additionalProperties: false,
});

export async function probeSchemas(examiner: Examiner): Promise<ModelFinding[]> {
  const name = 'schemas';
  examiner.begin(name);
  const ask = () => examiner.ask({ messages: [userTurn('Answer with the word ok.')], tools: [demanding] });
  const answer = await ask();
  if (!answer.error)
    return [
      examiner.profile.plainSchemas
        ? { name, status: 'adapted', found: 'sent in the part of JSON Schema that it knows' }
        : { name, status: 'works', found: 'constants, lists of types and patterns are accepted' },
    ];
  const reason = shorten(answer.error.message);
  const found = await examiner.findRules([{ plainSchemas: true }], ask);
  return [
    found
      ? { name, status: 'adapted', found: `refused (${reason}); accepted in the part of JSON Schema that it knows` }
      : { name, status: 'broken', found: `refused: ${reason}`, advice: 'Tools of MCP servers may not work with it.' },
  ];
}

const usualTools = 128;
const fewerTools = [100, 64, 40, 20, 10];

export async function probeManyTools(examiner: Examiner): Promise<ModelFinding[]> {
  const name = 'many tools';
  examiner.begin(name);
  const wanted = examiner.profile.maxTools ?? usualTools;
  const tools = Array.from({ length: wanted }, (_, number) => createTool(`look_up_${number}`));
  const ask = () => examiner.ask({ messages: [userTurn('Answer with the word ok.')], tools });
  const answer = await ask();
  if (!answer.error)
    return [{ name, status: wanted < usualTools ? 'adapted' : 'works', found: `${wanted} in a request` }];
  const candidates = fewerTools.filter((count) => count < wanted).map((maxTools) => ({ maxTools }));
  const found = await examiner.findRules(candidates, ask);
  return [
    found
      ? { name, status: 'adapted', found: `${wanted} are refused; ${found.rules.maxTools ?? 0} are accepted` }
      : { name, status: 'broken', found: `refused: ${shorten(answer.error.message)}` },
  ];
}
