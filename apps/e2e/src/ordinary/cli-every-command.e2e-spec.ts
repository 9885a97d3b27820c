import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RondoClient, type RunningRondo, call, command, scriptInput } from '@rondo/test-deployment';
import { CommandLine, type Reply } from '../command-line';
import { newAccount, ordinaryDeployment } from '../shared-deployment';

/** One use of a command. */
interface Use {
  readonly words: readonly string[];
  /** 0 unless given. */
  readonly code?: number;
  /** In a pipe. */
  readonly input?: string;
  /** At a terminal: what is typed when this is on the screen. */
  readonly typed?: readonly Reply[];
  /** In a pipe: the signal that is sent when this is printed. */
  readonly signalled?: readonly Reply[];
  /** On the screen of a terminal. */
  readonly shows: RegExp;
  /** What is printed with `--json`; lines of JSON unless given. */
  readonly prints?: 'something else' | 'nothing';
}

let rondo: RunningRondo;
let client: RondoClient;
let line: CommandLine;
let done: string;
let thread: string;
beforeAll(async () => {
  rondo = await ordinaryDeployment();
  client = await newAccount(rondo);
  line = new CommandLine(client);
  const run = await client.createRun(scriptInput('done', [{ text: 'Said.' }]));
  ({ id: done, thread_id: thread } = run);
  await client.waitForRun(done);
  writeFileSync(join(line.folder, 'agents.yaml'), 'name: reviewer\nmodel: demo/plain\n');
  writeFileSync(join(line.folder, 'note.txt'), 'a note');
  writeSkill('a-skill');
  writeFileSync(join(line.folder, 'tasks.jsonl'), '{"task_id": "a", "question": "Say hello.", "answer": "hello"}\n');
});
afterAll(async () => {
  line.remove();
});

function writeSkill(name: string): void {
  mkdirSync(join(line.folder, name));
  writeFileSync(join(line.folder, name, 'SKILL.md'), `---\nname: ${name}\ndescription: One.\n---\n`);
}

async function waiting(turns: Record<string, unknown>[], more: object = {}): Promise<string> {
  const { id } = await client.createRun({ ...scriptInput('waits', turns), ...more });
  expect(await client.waitForRun(id)).toMatchObject({ status: 'waiting_input' });
  return id;
}

const asking = () => waiting([{ calls: [call('ask', { text: 'Which colour?' })] }, { text: 'So it is.' }]);
const awaitingApproval = () =>
  waiting([{ calls: [command('echo did')] }, { text: 'Over.' }], {
    tools: { execute_command: { require_approval: true } },
  });

async function goingOn(): Promise<string> {
  const { id } = await client.createRun(scriptInput('goes on', [{ calls: [command('echo begun; sleep 60')] }]));
  await client.waitForEvent(id, 'tool.output');
  return id;
}

const newKey = async () =>
  (await client.json<{ id: string }>('POST', '/api-keys', { name: 'brief', scopes: ['read'] })).id;

let count = 0;
const newName = () => `evaluation-${count++}`;
const evaluated = async () => {
  const name = newName();
  expect(await line.inPipe(['eval', 'run', 'tasks.jsonl', '-m', 'demo/plain', '--name', name])).toMatchObject({
    code: 0,
  });
  return join('output/validation', `${name}.jsonl`);
};

/** A use of each command that there is. */
const uses: Record<string, () => Use | Promise<Use>> = {
  run: () => {
    const { model, input } = scriptInput('run', [{ text: 'Said at once.' }]);
    return { words: ['run', '-m', model, input], shows: /Said at once\./ };
  },
  watch: () => ({ words: ['watch', done], shows: /Said\.[^]*completed/ }),
  chat: () => ({
    words: ['chat', '-m', 'demo/plain'],
    input: 'Hello.\n',
    typed: [[/you> /, '\u0004']],
    shows: /continue it with: rondo chat/,
  }),
  fork: () => ({ words: ['fork', done, 'And now?', '-m', 'demo/plain'], shows: /shares \d+ facts with run_/ }),
  retry: async () => {
    const { model, input } = scriptInput('retried', [{ text: 'Said once more.' }]);
    const [, id = ''] = /(run_\w+)/.exec((await line.inPipe(['run', '-d', '-m', model, input])).stdout) ?? [];
    return { words: ['retry', id], shows: /Said once more\./ };
  },
  'rewind-preview': () => ({ words: ['rewind-preview', done], code: 1, shows: /files_not_kept/ }),
  stop: async () => ({ words: ['stop', await goingOn()], shows: /stopped[^]*nothing left in the sandbox/ }),
  answer: async () => ({
    words: ['answer', await asking()],
    input: 'Blue.',
    typed: [[/Which colour\?\r\n> /, 'Blue.\r']],
    shows: /goes on/,
  }),
  resolve: () => ({ words: ['resolve', 'call_none', 'completed'], code: 1, shows: /tool_call_not_found/ }),
  inbox: async () => ({ words: ['inbox'], shows: new RegExp(`${await asking()} +ask: Which colour`) }),
  approvals: async () => {
    await awaitingApproval();
    return { words: ['approvals'], shows: /execute_command/ };
  },
  approve: async () => ({
    words: ['approve', await awaitingApproval()],
    typed: [[/Send it\? \[y\/N\] /, 'y\r']],
    shows: /command: echo did[^]* approve\./,
  }),
  deny: async () => ({ words: ['deny', await awaitingApproval()], shows: / deny\./ }),
  why: async () => ({ words: ['why', await asking()], shows: /rondo answer run_/ }),
  runs: () => ({ words: ['runs'], shows: /RUN +STATUS[^]*completed/ }),
  verify: () => ({ words: ['verify', done], shows: /complete: facts 1 to \d+, no gap/ }),
  export: () => ({ words: ['export', done], shows: /"type":"run.completed"/ }),
  'files ls': async () => {
    await line.inPipe(['files', 'put', thread, 'note.txt']);
    return { words: ['files', 'ls', thread], shows: /note\.txt/ };
  },
  'files get': async () => {
    await line.inPipe(['files', 'put', thread, 'note.txt']);
    return { words: ['files', 'get', thread, 'note.txt'], shows: /a note/, prints: 'something else' };
  },
  'files put': () => ({ words: ['files', 'put', thread, 'note.txt', 'b.txt'], shows: /b\.txt \(6 bytes\)/ }),
  'sandboxes exec': () => ({ words: ['sandboxes', 'exec', thread, 'echo', 'by a person'], shows: /^by a person/m }),
  'agents ls': async () => {
    await line.inPipe(['agents', 'apply', '-f', 'agents.yaml']);
    return { words: ['agents', 'ls'], shows: /AGENT +NAME/ };
  },
  'agents show': async () => {
    await line.inPipe(['agents', 'apply', '-f', 'agents.yaml']);
    return { words: ['agents', 'show', 'reviewer'], shows: /"name": "reviewer"/ };
  },
  'agents apply': () => ({ words: ['agents', 'apply', '-f', 'agents.yaml'], shows: /reviewer version 1/ }),
  'skills add': () => ({ words: ['skills', 'add', 'a-skill'], shows: /a-skill +version 1 +skl_/ }),
  'skills files': async () => {
    await line.inPipe(['skills', 'add', 'a-skill']);
    return { words: ['skills', 'files', 'a-skill'], shows: /file +\d+ +SKILL\.md/ };
  },
  'skills remove': async () => {
    const name = newName();
    writeSkill(name);
    await line.inPipe(['skills', 'add', name]);
    return { words: ['skills', 'remove', name], shows: /is deleted/ };
  },
  'mcp discover': () => ({ words: ['mcp', 'discover', 'http://10.0.0.1/'], code: 1, shows: /cannot be used/ }),
  'mcp prompts': () => ({ words: ['mcp', 'prompts', 'http://10.0.0.1/'], code: 1, shows: /cannot be used/ }),
  'mcp prompt': () => ({
    words: ['mcp', 'prompt', 'http://10.0.0.1/', '--prompt', 'triage'],
    code: 1,
    shows: /cannot be had/,
  }),
  'mcp ls': () => ({ words: ['mcp', 'ls'], shows: /TOOL +SERVER/, prints: 'nothing' }), // no run has used a server
  'mcp confirm': () => ({ words: ['mcp', 'confirm', 'mct_none', 'f'], code: 1, shows: /mcp_tool_not_found/ }),
  'mcp forget': () => ({ words: ['mcp', 'forget', 'none'], shows: /0 tools are forgotten/ }),
  'mcp connect': () => ({ words: ['mcp', 'connect', 'no-url'], code: 1, shows: /url/ }),
  'mcp connections': () => ({ words: ['mcp', 'connections'], shows: /CONNECTION +SERVER/, prints: 'nothing' }),
  'mcp disconnect': () => ({ words: ['mcp', 'disconnect', 'mcc_none'], code: 1, shows: /mcp_connection_not_found/ }),
  'eval new': () => ({ words: ['eval', 'new', newName()], shows: /README\.md/ }),
  'eval agent': () => ({ words: ['eval', 'agent', 'gaia'], shows: /agt_\w+/ }),
  'eval run': () => ({
    words: ['eval', 'run', 'tasks.jsonl', '-m', 'demo/plain', '--name', newName()],
    shows: /1\/1 [^]*Results: output/,
  }),
  'eval score': async () => ({ words: ['eval', 'score', await evaluated()], shows: /TASK +ANSWER/ }),
  'eval compare': async () => ({
    words: ['eval', 'compare', await evaluated(), await evaluated()],
    shows: /BEFORE +AFTER/,
  }),
  'eval report': async () => ({
    words: ['eval', 'report', await evaluated()],
    shows: /<!doctype html>/i,
    prints: 'something else',
  }),
  'eval pin': () => ({ words: ['eval', 'pin', done, '--into', newName()], shows: new RegExp(`${done}\\.jsonl`) }),
  'eval replay': async () => {
    const recordings = newName();
    expect(await line.inPipe(['eval', 'pin', done, '--into', recordings])).toMatchObject({ code: 0 });
    return { words: ['eval', 'replay', recordings], shows: /same +\S+\.jsonl/ };
  },
  usage: () => ({ words: ['usage'], shows: /DAY +CALLS[^]*total/ }),
  'keys create': () => ({ words: ['keys', 'create', 'another', '--scope', 'read'], shows: /rondo_[\w-]+/ }),
  'keys ls': () => ({ words: ['keys', 'ls'], shows: /KEY +NAME/ }),
  'keys revoke': async () => ({ words: ['keys', 'revoke', await newKey()], shows: /is revoked/ }),
  facade: () => ({ words: ['facade', 'openai'], shows: /new OpenAI\(\{[^]*apiKey: '/ }),
  console: () => ({
    words: ['console', '--port', '0', '--no-open'],
    typed: [[/session\?code=\S+/, '\u0003']],
    signalled: [[/session\?code=\S+/, 'SIGINT']],
    shows: /Ctrl-C: end/,
  }),
  doctor: () => ({ words: ['doctor', '--quick'], shows: /postgres/ }),
  setup: () => ({
    words: ['setup', '--provider', 'demo', '--yes', '-o', 'made.env'],
    shows: /made\.env: SANDBOX_EGRESS/,
  }),
  completion: () => ({ words: ['completion', 'fish'], shows: /complete -c rondo/, prints: 'something else' }),
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('every command of rondo', () => {
  it('is used here', async () => {
    const { stdout } = await line.inPipe(['help', '--markdown']);
    const names = [...stdout.matchAll(/^## rondo (.*)$/gm)].map(([, name]) => name);
    expect(Object.keys(uses)).toEqual(names);
  });

  it.each(Object.keys(uses))('%s prints JSON in a pipe, and speaks to a person at a terminal', async (name) => {
    await Promise.all([expectJson(name), expectSpoken(name)]);
  });
});

const listed = [
  'threads',
  'projects',
  'schedules',
  'triggers',
  'webhooks',
  'secrets',
  'skills',
  'evaluations',
  'sandboxes',
  'sites',
  'uploads',
  'sessions',
];

describe('the commands that are made from routes', () => {
  it('list what the account has, and its models and tools', async () => {
    for (const resource of [...listed, 'models', 'tools', 'audit']) {
      expect(await line.inPipe([resource, 'ls'])).toMatchObject({
        code: 0,
        stderr: '',
        stdout: expect.stringMatching(/^[A-Z ]+\n/),
      });
    }
    expect((await line.inPipe(['threads', 'ls', '--json'])).stdout).toContain(thread);
    expect((await line.inPipe(['runs', 'get', done, '--json'])).stdout).toContain('"status":"completed"');
    expect((await line.inPipe(['balance'])).stdout).toMatch(/^tier /);
  });

  it('create, change, pause and delete a schedule', async () => {
    const run = '{"input":"Go.","model":"demo/plain"}';
    const made = await line.inPipe([
      'schedules',
      'create',
      '--name',
      'n',
      '--cron',
      '0 9 * * *',
      '--run',
      run,
      '--json',
    ]);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const { id } = JSON.parse(made.stdout) as { id: string };

    expect(await line.inPipe(['schedules', 'update', id, '--time-zone', 'Europe/Berlin'])).toMatchObject({ code: 0 });
    expect((await line.inPipe(['schedules', 'pause', id])).stdout).toMatch(/^is_paused +true$/m);
    expect((await line.inPipe(['schedules', 'get', id])).stdout).toMatch(/^time_zone +Europe\/Berlin$/m);
    expect(await line.inPipe(['schedules', 'delete', id])).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(await line.inPipe(['schedules', 'get', id])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('schedule_not_found'),
    });
  });

  it('ask a person before they delete', async () => {
    const { id } = await client.json<{ id: string }>('POST', '/projects', { name: 'kept' });

    const refused = await line.inTerminal(['projects', 'delete', id], [[/\[y\/N\] /, 'n\r']]);
    expect(refused.code).toBe(1);
    expect((await line.inPipe(['projects', 'get', id])).code).toBe(0);
    const confirmed = await line.inTerminal(['projects', 'delete', id], [[/\[y\/N\] /, 'y\r']]);
    expect(confirmed).toMatchObject({ code: 0, stdout: expect.stringContaining('Done.') });
  });
});

const readUse = async (name: string): Promise<Use> => {
  const use = await uses[name]?.();
  if (!use) throw new Error(`there is no use of ${name}`);
  return use;
};

async function expectJson(name: string): Promise<void> {
  const { words, code = 0, prints, input, signalled = [] } = await readUse(name);
  const ended = await line.inPipe([...words, '--json'], { replies: signalled, ...(input !== undefined && { input }) });

  expect(ended).toMatchObject({ code, ...(code === 0 && { stderr: '' }) });
  expect(ended.stdout).not.toContain('\u001b');
  const lines = ended.stdout.trimEnd().split('\n').filter(Boolean);
  if (prints !== 'something else') expect(lines.filter((one) => !isJson(one))).toEqual([]);
  if (code === 0) expect(lines.length > 0).toBe(prints !== 'nothing');
}

async function expectSpoken(name: string): Promise<void> {
  const { words, code = 0, shows, typed = [] } = await readUse(name);
  const ended = await line.inTerminal(words, typed);

  expect(ended).toMatchObject({ code, stdout: expect.stringMatching(shows) });
}
