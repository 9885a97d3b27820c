import { PassThrough } from 'node:stream';
import { Rondo } from '@rondo/client';
import { version } from '../package.json';
import { answer } from './commands/answer';
import { mcpList } from './commands/mcp';
import { usage } from './commands/usage';
import { parseArguments } from './parse-arguments';
import { runCommandLine } from './run-command-line';
import { Terminal } from './terminal';

function createStreams() {
  const streams = { input: new PassThrough(), output: new PassThrough(), errors: new PassThrough() };
  const read = async (stream: PassThrough) => {
    stream.end();
    return (await stream.toArray()).join('');
  };
  return { streams, read };
}

async function run(...words: string[]) {
  const { streams, read } = createStreams();
  const ending = await runCommandLine(words, streams);
  return { ending, output: await read(streams.output), errors: await read(streams.errors) };
}

describe('the command line', () => {
  it.each(['--version', '-V'])('says its version with %s', async (word) => {
    expect(await run(word)).toEqual({ ending: 'ok', output: `${version}\n`, errors: '' });
  });

  it('says what is wrong with a limit', async () => {
    const { ending, errors } = await run('runs', '--limit', '0');

    expect([ending, errors]).toEqual(['usage', 'rondo: --limit is a number of at least 1, not 0.\n']);
  });

  it('takes no option from what stands after two dashes', async () => {
    const file = { path: 'a.txt', kind: 'file', size: 6 };
    const answered = () => Promise.resolve(Response.json({ data: [file], truncated: false }));
    const fetched = jest.spyOn(globalThis, 'fetch').mockImplementation(answered);
    const gateway = ['--url', 'http://gateway', '--key', 'key'];

    const { output } = await run('files', 'ls', 'sbx_1', ...gateway, '--', '--json');

    expect(output).toBe('file  6  a.txt\n');
    fetched.mockRestore();
  });

  it('lists the commands of a resource', async () => {
    const { ending, output } = await run('help', 'schedules');

    expect(ending).toBe('ok');
    expect(output).toMatch(/^ {2}rondo schedules ls \[options\] +List schedules, newest first$/m);
    expect(await run('schedules')).toMatchObject({
      ending: 'usage',
      errors: 'rondo: schedules needs another word. See: rondo help schedules\n',
    });
  });

  it.each(['--help', '-h'])('lists the commands of a resource with %s, too', async (word) => {
    expect(await run('memory', word)).toEqual(await run('help', 'memory'));
  });

  it('shows of a command that has the name of a resource, too, what it does and the others', async () => {
    expect((await run('help', 'runs')).output).toMatch(/List runs, newest first\.[^]*rondo runs result RUN/);
  });
});

it('mcp ls has a heading for what a tool does', async () => {
  const tool = {
    ...{ id: 'mct_a', server: 'tickets', tool: 'create', available: true, changed: null },
    accepted: { description: 'Creates a ticket.' },
  };
  const fetched = () => Promise.resolve(Response.json({ data: [tool], has_more: false, next_cursor: null }));
  const rondo = () => new Rondo({ baseUrl: 'http://gateway', fetch: fetched });
  const { streams, read } = createStreams();
  const terminal = new Terminal(streams, { json: false, colour: false });
  await mcpList.run(parseArguments(mcpList, []), { terminal, rondo, url: 'http://gateway', key: () => 'key' });

  const [heading = '', row = ''] = (await read(streams.output)).split('\n');
  expect(row.indexOf('Creates')).toBe(heading.indexOf('DESCRIPTION'));
});

it.each([
  ['day,user', { day: '2026-11-30', user: 'ann' }, /^2026-11-30 +ann +2 /m],
  ['key', { key_id: 'key_1' }, /^key_1 +2 /m],
  ['agent', { agent_id: null }, /^none +2 /m],
])('usage by %s names it in each row', async (by, row, shown) => {
  const sums = { calls: 2, input_tokens: 3, output_tokens: 4, cost_usd: 0.5, charged_usd: 0.5, unpriced_calls: 0 };
  const report = { data: [{ ...row, ...sums }], total: sums, has_more: false };
  const fetched = (url: string | URL | Request) =>
    Promise.resolve(Response.json(new Request(url).url.includes('/v1/usage') ? report : { available_usd: null }));
  const rondo = () => new Rondo({ baseUrl: 'http://gateway', fetch: fetched });
  const { streams, read } = createStreams();
  const terminal = new Terminal(streams, { json: false, colour: false });
  await usage.run(parseArguments(usage, ['--by', by]), { terminal, rondo, url: 'http://gateway', key: () => 'key' });

  expect(await read(streams.output)).toMatch(shown);
});

it('answer prints nothing but JSON where that is asked for, also for an MCP server', async () => {
  const elicitations = [{ tool_call_id: 'call_a', key: 'form', mode: 'form' }];
  const waiting = { id: 'run_a', waiting: { reason: 'elicitation', elicitations } };
  const fetched = () => Promise.resolve(Response.json(waiting));
  const rondo = () => new Rondo({ baseUrl: 'http://gateway', fetch: fetched });
  const { streams, read } = createStreams();
  const terminal = new Terminal(streams, { json: true, colour: false });
  const given = parseArguments(answer, ['run_a', '--accept', '{"reason": "It broke."}']);
  await answer.run(given, { terminal, rondo, url: 'http://gateway', key: () => 'key' });

  expect(JSON.parse(await read(streams.output))).toEqual(waiting);
});
