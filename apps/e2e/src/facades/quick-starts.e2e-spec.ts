import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { call, command } from '@rondo/test-deployment';
import { repoRoot } from '../../../../deploy/local/repo-root.mjs';
import { FacadeDeployment, about, long, runNode } from './facade-deployment';

/** Programs as the vendors of the clients have them in their quick starts: only the address and the key are not theirs. */
const folder = join(repoRoot, 'apps/e2e/quick-starts');

const deployment = FacadeDeployment.forSuite();

interface QuickStart {
  /** What the program asks first. */
  readonly asks: string;
  /** What the model does then. */
  readonly turns: readonly Record<string, unknown>[];
  /** Parts of what the program prints, in their order. */
  readonly prints: readonly string[];
}

const says = (...texts: readonly string[]) => texts.map((text) => ({ text }));
const looks = [{ text: 'I look.', calls: [command('echo seen')] }, { text: 'I have seen it.' }];
const asksForWeather = [{ calls: [call('get_weather', { city: 'Bergen' })] }, { text: 'Take an umbrella.' }];

const quickStarts: Readonly<Record<string, QuickStart>> = {
  'openai-response': { asks: 'What is a closure?', turns: says('A chest, aye.'), prints: ['A chest, aye.'] },
  'openai-events': {
    asks: 'What is in the directory?',
    turns: looks,
    prints: ['response.created', 'response.output_text.delta', 'response.mcp_call.completed', 'response.completed'],
  },
  'openai-history-of-the-client': {
    asks: 'Write a checker of words.',
    turns: says('A checker.', 'With hints.'),
    prints: ['A checker.', 'With hints.'],
  },
  'openai-previous-response': {
    asks: 'Tell me a joke.',
    turns: says('A joke.', 'It is funny.'),
    prints: ['A joke.', 'It is funny.'],
  },
  'openai-functions': {
    asks: 'Do I need an umbrella in Bergen?',
    turns: asksForWeather,
    prints: ['Rain in Bergen.', 'Take an umbrella.'],
  },
  'openai-parsed-answer': {
    asks: 'Ada and Grace visit the fair on Friday.',
    turns: says('{"name":"Fair","date":"Friday","participants":["Ada","Grace"]}'),
    prints: ['Fair Friday 2'],
  },
  'openai-chat': { asks: 'What is a promise?', turns: says('A word, aye.'), prints: ['A word, aye.'] },
  'openai-chat-chunks': { asks: 'Count to three.', turns: says('One, two, three.'), prints: ['One, two, three.'] },
  'openai-run-tools': {
    asks: 'How is the weather in Bergen this week?',
    turns: asksForWeather,
    prints: ['Rain in Bergen.', 'Take an umbrella.'],
  },
  'openai-agents-agent': {
    asks: 'Write about functions that call themselves.',
    turns: says('Within is within.'),
    prints: ['Within is within.'],
  },
  'openai-agents-next-turn': {
    asks: 'When did Rome fall?',
    turns: says('In 476.', 'In 1453.'),
    prints: ['In 476.', 'In 1453.'],
  },
  'openai-agents-tool': {
    asks: 'What shall I wear in Bergen?',
    turns: asksForWeather,
    prints: ['Take an umbrella.'],
  },
  'openai-agents-handoff': {
    asks: 'Were there sharks before there were trees?',
    turns: [{ calls: [call('transfer_to_History_Tutor', {})] }, { text: 'Sharks came first.' }],
    prints: ['History Tutor: Sharks came first.'],
  },
  'managed-agents-session': {
    asks: 'Which files are there?',
    turns: looks,
    prints: ['I look.', 'Tool: bash', 'I have seen it.', 'The agent is idle.'],
  },
  'managed-agents-previews': { asks: 'Tell a long story.', turns: [{ text: long, pace_ms: 2 }], prints: [long] },
  'managed-agents-tool-runner': {
    asks: 'How late is it?',
    turns: [{ calls: [call('current_time', {})] }, { text: 'It is late.' }],
    prints: ['current_time answered'],
  },
  'langgraph-thread-stream': {
    asks: 'Hello, graph.',
    turns: [{ text: long, pace_ms: 20 }], // the SDK shows no words of a run that ends before it has subscribed to them
    prints: [long, '2 messages'],
  },
  'langgraph-run': { asks: 'How is the weather today?', turns: says('Sunny.'), prints: ['metadata', 'values Sunny.'] },
  'ag-ui-agent': {
    asks: 'Hello, agent.',
    turns: looks,
    prints: ['Assistant:', 'I look.', 'Tool: execute_command', 'Assistant:', 'I have seen it.'],
  },
  'a2a-task': {
    asks: 'Count without an end.',
    turns: [{ text: long, pace_ms: 20 }],
    prints: ['TASK_STATE_WORKING', 'cancelTask: TASK_STATE_CANCELED', 'TASK_STATE_CANCELED'],
  },
  'mcp-client': { asks: 'Hello, tool.', turns: says('Hello to you.'), prints: ['run_agent', 'Hello to you.'] },
  'mcp-sdk-client': {
    asks: 'Hello, first tool.',
    turns: says('Hello to you.'),
    prints: ['run_agent', 'prompts none: -32601', 'Hello to you.'],
  },
};

/** The addresses and keys, under the names that the clients read where they read any. */
function toEnvironment() {
  const { url, key } = deployment.client;
  return {
    ...{ OPENAI_BASE_URL: `${url}/openai/v1`, OPENAI_API_KEY: key, OPENAI_AGENTS_DISABLE_TRACING: '1' },
    ...{ ANTHROPIC_BASE_URL: `${url}/anthropic`, ANTHROPIC_API_KEY: key },
    ...{ LANGGRAPH_API_URL: `${url}/langgraph`, LANGGRAPH_API_KEY: key },
    ...{ AG_UI_URL: `${url}/ag-ui/my-agent`, AG_UI_KEY: key },
    ...{ A2A_URL: `${url}/a2a/my-agent/`, A2A_KEY: key },
    ...{ MCP_URL: `${url}/mcp`, MCP_KEY: key },
  };
}

/** The program, in whose question the scripted model finds what to say. */
function readProgram(name: string, { asks, turns }: QuickStart): string {
  const program = readFileSync(join(folder, `${name}.mjs`), 'utf8');
  expect(program.split(`'${asks}'`)).toHaveLength(2);
  return program.replace(`'${asks}'`, () => JSON.stringify(about(asks, turns)));
}

beforeAll(async () => {
  await deployment.client.json('PUT', '/agents/by-name/my-agent', { definition: { model: 'demo/scripted' } });
});

describe('a program as the quick start of a client has it', () => {
  it('is run by this spec', () => {
    const names = readdirSync(folder).map((file) => file.replace('.mjs', ''));
    expect(names.toSorted()).toEqual(Object.keys(quickStarts).toSorted());
  });

  it.each(Object.entries(quickStarts))('works with the address and the key of Rondo: %s', async (name, quickStart) => {
    const words = ['--input-type=module', '--eval', readProgram(name, quickStart)];
    const printed = await runNode(words, toEnvironment());
    let from = 0;
    for (const part of quickStart.prints) {
      expect(printed.slice(from)).toContain(part);
      from = printed.indexOf(part, from) + part.length;
    }
  });
});
