import { PassThrough } from 'node:stream';
import { Rondo } from '@rondo/client';
import { type Route, apiRoutes } from '@rondo/contract/api';
import { z } from 'zod';
import { loadRouteCommands } from '../command-table';
import { parseArguments } from '../parse-arguments';
import { Terminal } from '../terminal';
import { resourceCommands } from './resource-table';

/** Routes that other commands use, and those that are for no command line. */
const elsewhere: readonly string[] = [
  ...[
    'createRun',
    'createRunOnThread',
    'listRuns',
    'stopRun',
    'answerRun',
    'forkRun',
    'retryRun',
    'previewRewind',
    'resolveToolCall',
    'giveToolCallInput',
  ],
  ...['explainRun', 'waitForRun', 'listRunEvents', 'verifyRunEvents', 'streamRunEvents'],
  ...['listCallerCalls', 'answerToolCall', 'answerToolCalls'], // by `run --tool`
  ...['listInbox', 'listApprovals', 'getApproval', 'decideApproval'],
  ...['listAgents', 'getAgent', 'applyAgent', 'createApiKey', 'listApiKeys', 'revokeApiKey', 'getUsage'],
  ...['discoverMcpServer', 'listMcpTools', 'getMcpTool', 'confirmMcpTool', 'forgetMcpTool', 'forgetMcpServer'],
  ...['listMcpPrompts', 'getMcpPrompt'],
  'runCommand', // by `sandboxes exec`
  ...['beginMcpConnection', 'listMcpConnections', 'getMcpConnection', 'deleteMcpConnection'],
  ...['listFiles', 'readFile', 'writeFile', 'deleteFile', 'uploadFile', 'readUploadedFile', 'getBlob'],
  'storeEvaluation', // by `eval run`
  ...['createSkill', 'deleteSkill', 'listSkillFiles', 'readSkillFile', 'readSkillArchive'],
  // For browsers, for machines that watch, for other services, and for readers without a key.
  ...['createSession', 'getSession', 'deleteSession', 'createSessionLink', 'redeemSessionLink'],
  ...['getBrowser', 'operateBrowser', 'getLiveness', 'getReadiness', 'getMetrics', 'receiveWebhook', 'listLlmMessages'],
  ...['getPublicProject', 'listPublicThreads', 'getPublicThread', 'listPublicMessages', 'listPublicLlmMessages'],
  ...['getPublicImage', 'getPublicRun'],
  ...['showMcpConnect', 'continueMcpConnect', 'finishMcpConnect', 'getMcpClientMetadata'],
];

interface Sent {
  readonly request: string;
  readonly body: unknown;
}

/** Runs a command against a gateway that answers these, one after the other. */
async function use(line: string, words: readonly string[], answers: readonly unknown[] = [{}], input = '') {
  const command = (await loadRouteCommands()).find(({ name }) => name === line);
  if (!command) throw new Error(`There is no command ${line}.`);
  const sent: Sent[] = [];
  const fetched = async (...given: Parameters<typeof fetch>): Promise<Response> => {
    const request = new Request(...given);
    const text = await request.text();
    sent.push({
      request: `${request.method} ${request.url.replace('http://gateway', '')}`,
      body: text === '' ? undefined : JSON.parse(text),
    });
    const answer = answers[sent.length - 1];
    return answer === undefined ? new Response(null, { status: 204 }) : Response.json(answer);
  };
  const streams = { input: new PassThrough(), output: new PassThrough(), errors: new PassThrough() };
  streams.input.end(input);
  const terminal = new Terminal(streams, { json: words.includes('--json'), colour: false });
  const rondo = () => new Rondo({ baseUrl: 'http://gateway', fetch: fetched, retries: 0 });
  const ending = await command.run(parseArguments(command, words), {
    ...{ terminal, rondo, url: 'http://gateway' },
    key: () => 'key',
  });
  streams.output.end();
  return { ending, sent, printed: (await streams.output.toArray()).join('') };
}

describe('the commands that are made from routes', () => {
  it('reach, with the other commands, every route of the API', () => {
    const reached = [...resourceCommands.map(({ route }) => route), ...elsewhere].sort();

    expect(reached).toEqual(Object.keys(apiRoutes).sort());
  });

  it('show fields that the items of a list have', async () => {
    for (const { name, route, columns } of resourceCommands) {
      const { answers }: Route = apiRoutes[route];
      const { properties } = z.toJSONSchema(Object.values(answers)[0]?.body ?? z.object({}), {
        unrepresentable: 'any',
      });
      const described = JSON.stringify(properties?.['data'] ?? {});
      expect([name, properties !== undefined && 'data' in properties]).toEqual([name, columns.length > 0]);
      const missing = columns.filter((column) => !described.includes(`"${column}":`));
      expect([name, missing]).toEqual([name, described.includes('"properties":') ? [] : columns]); // or a list of texts
    }
    expect(await loadRouteCommands()).toHaveLength(resourceCommands.length);
  });

  it('give each option of a command a name of its own', async () => {
    for (const command of await loadRouteCommands()) {
      const names = (command.options ?? []).map(({ name }) => name);
      expect([command.name, new Set([...names, 'json', 'url', 'key', 'help']).size]).toEqual([
        command.name,
        names.length + 4,
      ]);
    }
  });
});

describe('a list', () => {
  it('is read page by page up to its limit, and shown as a table', async () => {
    const item = (id: string) => ({ id, name: `n ${id}`, sandbox: 'thread', is_public: false, created_at: 'now' });
    const pages = [
      { data: [item('a')], has_more: true, next_cursor: 'c1' },
      { data: [item('b'), item('c')], has_more: false, next_cursor: null },
    ];

    const { printed, sent } = await use('projects ls', ['--limit', '2'], pages);

    expect(sent.map(({ request }) => request)).toEqual([
      'GET /v1/projects?limit=2',
      'GET /v1/projects?limit=1&after=c1',
    ]);
    expect(printed).toBe(
      'ID  NAME  SANDBOX  IS PUBLIC  CREATED AT\na   n a   thread   false      now\nb   n b   thread   false      now\n',
    );
  });

  it('says what is wrong with a limit', async () => {
    await expect(use('projects ls', ['--limit', '0'])).rejects.toThrow('--limit is a number of at least 1, not 0.');
  });

  it('is JSON in lines with --json, and takes the filters of its route', async () => {
    const page = { data: [{ id: 'thr_a' }], has_more: false, next_cursor: null };

    const { printed, sent } = await use('threads ls', ['--project-id', 'prj_a', '--json'], [page]);

    expect(printed).toBe('{"id":"thr_a"}\n');
    expect(sent[0]?.request).toBe('GET /v1/threads?project_id=prj_a&limit=50');
  });
});

describe('a request with a body', () => {
  it('takes fields as options: texts, numbers, switches, lists and JSON', async () => {
    const given = ['--webhook-url', 'https://a.example', '--events', 'run.completed,run.failed', '--is-paused', 'true'];
    const made = await use('webhooks create', given, [{ id: 'wh_a', secret: 's', events: ['run.completed'] }]);

    expect(made.sent).toEqual([
      {
        request: 'POST /v1/webhooks',
        body: { url: 'https://a.example', events: ['run.completed', 'run.failed'], is_paused: true },
      },
    ]);
    expect(made.printed).toBe('id      wh_a\nsecret  s\nevents  ["run.completed"]\n');

    const given2 = ['--name', '7', '--cron', '0 9 * * *', '--run', '{"input":"Go."}', '--thread-id', 'null'];
    const { sent } = await use('schedules create', given2);
    expect(sent[0]?.body).toEqual({ name: '7', cron: '0 9 * * *', run: { input: 'Go.' }, thread_id: null });
  });

  it('takes the whole from standard input, with options in place of its fields', async () => {
    const input = '{"usd":5,"reason":"a"}';
    const { sent } = await use('accounts credit', ['acc_a', '--data', '-', '--usd', '10'], [{}], input);

    expect(sent).toEqual([{ request: 'POST /v1/admin/accounts/acc_a/credits', body: { usd: 10, reason: 'a' } }]);
  });

  it('refuses what is no JSON, and a number that is none', async () => {
    await expect(use('accounts credit', ['acc_a', '--data', '{'])).rejects.toThrow('--data is not JSON.');
    await expect(use('accounts credit', ['acc_a', '--usd', 'ten'])).rejects.toThrow(
      '--usd takes number as JSON, not ten.',
    );
  });
});

it('a request without an answer says that it is done', async () => {
  expect(await use('threads delete', ['thr_a'], [undefined])).toMatchObject({
    ending: 'ok',
    printed: 'Done.\n',
    sent: [{ request: 'DELETE /v1/threads/thr_a' }],
  });
});

describe('a memory store', () => {
  const page = (...data: object[]) => ({ data, has_more: false, next_cursor: null });
  const scope = { project_id: null, agent_id: null, user: null };

  it('is named by its name as well as by its id', async () => {
    const { sent } = await use('memory get', ['preferences'], [page({ id: 'mem_a', ...scope }), { id: 'mem_a' }]);

    expect(sent.map(({ request }) => request)).toEqual([
      'GET /v1/memory-stores?name=preferences',
      'GET /v1/memory-stores/mem_a',
    ]);
    expect((await use('memory get', ['mem_a'])).sent).toHaveLength(1);
  });

  it('is named by its id where several have the name', async () => {
    const several = page({ id: 'mem_a', ...scope }, { id: 'mem_b', ...scope, user: 'ann' });

    await expect(use('memory entries', ['preferences'], [several])).rejects.toThrow(
      'Name one by its id: mem_a (of the account), mem_b (of the user ann).',
    );
    await expect(use('memory entries', ['preferences'], [page()])).rejects.toThrow('See: rondo memory ls');
  });
});
