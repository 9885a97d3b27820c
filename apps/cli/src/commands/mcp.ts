import { setTimeout as sleep } from 'node:timers/promises';
import type { McpConnection, McpDiscoveryRequest, McpTool } from '@rondo/client';
import { type Command, type Context, type Given, UsageError } from '../command';
import { openInBrowser } from '../console/open-in-browser';

type Server = McpDiscoveryRequest['server'];

const shownCharacters = 80;
/** The first line of what a server says of a tool, as a cell of a table. */
const brief = (description: string): string => (description.split('\n')[0] ?? '').slice(0, shownCharacters);

const reached = [
  { name: 'header', value: 'NAME: VALUE', repeatable: true, help: 'sent to the server' },
  { name: 'sse', help: 'for a server that speaks nothing newer' },
  { name: 'command', value: 'COMMAND', help: 'instead of a URL: a server over stdio, in a sandbox of its own' },
  { name: 'connected', help: 'by the connection of the account, see `rondo mcp connect`' },
] as const;

export const mcpDiscover: Command = {
  name: 'mcp discover',
  summary: 'Ask an MCP server which tools it has, as a run would',
  details: 'Nothing is kept, and no tool is accepted by it.',
  args: [{ name: 'URL', optional: true }],
  options: [...reached, { name: 'name', value: 'NAME', help: 'the first part of the names of its tools (server)' }],
  async run(given, { rondo, terminal }) {
    const found = await rondo().mcp.discover(toServer(given));
    const { connected, reason, tools, refused } = found;
    if (terminal.isJson) terminal.json(found);
    else if (connected) terminal.table(tools.map((tool) => [tool.name, tool.effect_class, brief(tool.description)]));
    if (!connected) terminal.complain(`The server cannot be used: ${reason}`);
    for (const one of refused) terminal.note(`${one.tool} is not offered: ${one.reason}`, 'yellow');
    return connected ? 'ok' : 'failed';
  },
};

const readPair = (text: string): readonly [string, string] => {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError('An argument is given as --arg name=value.');
  return [text.slice(0, at), text.slice(at + 1)];
};

export const mcpPrompts: Command = {
  name: 'mcp prompts',
  summary: 'List the prompts of an MCP server: texts that it offers to begin a run with',
  args: [{ name: 'URL', optional: true }],
  options: reached,
  async run(given, { rondo, terminal }) {
    const found = await rondo().mcp.prompts(toServer(given));
    const { connected, reason, prompts, refused } = found;
    if (terminal.isJson) terminal.json(found);
    else if (connected)
      terminal.table(
        prompts.map(({ name, arguments: taken, description }) => [
          name,
          taken.map((one) => (one.required ? one.name : `[${one.name}]`)).join(' '),
          brief(description),
        ]),
      );
    if (!connected) terminal.complain(`The server cannot be used: ${reason}`);
    for (const one of refused) terminal.note(`${one.prompt} is not shown: ${one.reason}`, 'yellow');
    return connected ? 'ok' : 'failed';
  },
};

export const mcpPrompt: Command = {
  name: 'mcp prompt',
  summary: 'Print a prompt of an MCP server, with arguments',
  args: [{ name: 'URL', optional: true }],
  options: [
    { name: 'prompt', value: 'NAME', help: 'which one, see `rondo mcp prompts`' },
    { name: 'arg', value: 'NAME=VALUE', repeatable: true, help: 'an argument of the prompt' },
    ...reached,
  ],
  details: 'It is the word of the server: read it, and then begin a run with it: `rondo mcp prompt … | rondo run -`.',
  async run(given, { rondo, terminal }) {
    const name = given.value('prompt');
    if (name === undefined) throw new UsageError('Say which one: --prompt NAME.');
    const found = await rondo().mcp.prompt(toServer(given), {
      name,
      arguments: Object.fromEntries(given.values('arg').map(readPair)),
    });
    if (terminal.isJson) terminal.json(found);
    else if (found.reason === null) terminal.line(found.input);
    if (found.reason !== null) terminal.complain(`The prompt cannot be had: ${found.reason}`);
    return found.reason === null ? 'ok' : 'failed';
  },
};

function toServer(given: Given): Server {
  const [url] = given.args;
  const command = given.value('command');
  const name = given.value('name') ?? 'server';
  if ((url === undefined) === (command === undefined)) throw new UsageError('Give a URL, or --command.');
  if (url === undefined) return { name, transport: 'stdio', command: command ?? '' };
  const headers = given.values('header').map(toHeader);
  const transport = given.has('sse') ? 'sse' : 'streamable_http';
  return {
    ...{ name, transport, url },
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...(given.has('connected') && { connection: 'account' as const }),
  };
}

function toHeader(text: string): readonly [string, string] {
  const at = text.indexOf(':');
  if (at < 1) throw new UsageError('A header is given as --header "Name: value".');
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

const row = ({ id, server, tool, available, changed, accepted }: McpTool): string[] => [
  id,
  `${server} ${tool}`,
  available ? 'offered' : 'waits',
  changed?.fingerprint ?? '',
  brief((changed ?? accepted).description),
];

export const mcpList: Command = {
  name: 'mcp ls',
  summary: 'List the tools of MCP servers that runs of the account have seen',
  options: [{ name: 'changed', help: 'only those that their server has changed, with the fingerprint to confirm' }],
  async run(given, { rondo, terminal }) {
    const found: McpTool[] = [];
    for await (const tool of rondo().mcp.tools({ state: given.has('changed') ? 'changed' : 'all' })) found.push(tool);
    if (terminal.isJson) for (const tool of found) terminal.json(tool);
    else terminal.table([['TOOL', 'SERVER', 'STATE', 'CHANGED TO', 'DESCRIPTION'], ...found.map(row)]);
    return 'ok';
  },
};

export const mcpConfirm: Command = {
  name: 'mcp confirm',
  summary: 'Accept the changed definition of a tool that has this fingerprint',
  args: [{ name: 'TOOL' }, { name: 'FINGERPRINT' }],
  details: 'Read both definitions first: `rondo mcp ls --changed --json`.',
  async run(given, { rondo, terminal }) {
    const [id = '', fingerprint = ''] = given.args;
    const tool = await rondo().mcp.confirm(id, fingerprint);
    if (terminal.isJson) terminal.json(tool);
    else terminal.line(`${tool.id} is offered again.`);
    return 'ok';
  },
};

export const mcpForget: Command = {
  name: 'mcp forget',
  summary: 'Forget a tool, or all tools of a server',
  details: 'The next run that sees a tool accepts what its server says then.',
  args: [{ name: 'TOOL|SERVER' }],
  async run(given, { rondo, terminal }) {
    const [name = ''] = given.args;
    const { mcp } = rondo();
    const { forgotten } = name.startsWith('mct_')
      ? await mcp.forget(name).then(() => ({ forgotten: 1 }))
      : await mcp.forgetServer(name);
    if (terminal.isJson) terminal.json({ forgotten });
    else terminal.line(`${forgotten} ${forgotten === 1 ? 'tool is' : 'tools are'} forgotten.`);
    return 'ok';
  },
};

const lookEveryMs = 1_000;

export const mcpConnect: Command = {
  name: 'mcp connect',
  summary: 'Connect an MCP server that wants a token of OAuth, in a browser',
  args: [{ name: 'URL' }],
  options: [
    { name: 'user', value: 'USER', help: 'for runs of this person (the whole account)' },
    { name: 'scope', value: 'SCOPE', repeatable: true, help: 'what to ask for (what the server says)' },
    { name: 'client-id', value: 'ID', help: 'of a client that you have registered at the authorization server' },
    { name: 'no-open', help: 'print the address and open no browser' },
  ],
  details:
    'It waits until a person has allowed it. Runs that name the server with `connection` use it from then on. With --json, the ' +
    'connection is printed as it begins, with its `authorization_url`, and as it is then.',
  async run(given, context) {
    const [url = ''] = given.args;
    const [user, client] = [given.value('user'), given.value('client-id')];
    const scopes = given.values('scope');
    const begun = await context.rondo().mcp.connect({
      url,
      ...(user !== undefined && { user }),
      ...(scopes.length > 0 && { scopes: [...scopes] }),
      ...(client !== undefined && { client: { id: client } }),
    });
    const { terminal } = context;
    if (terminal.isJson) terminal.json(begun);
    else terminal.line(begun.authorization_url);
    if (terminal.canAsk && !given.has('no-open')) openInBrowser(begun.authorization_url);
    const connection = await awaitConnection(begun, context);
    if (!connection) {
      terminal.complain('No person has connected it in time.');
      return 'failed';
    }
    if (terminal.isJson) terminal.json(connection);
    else terminal.line(`${url} is connected: ${connection.scopes.join(' ')}`.trim());
    return 'ok';
  },
};

/** Undefined where its time is over before. */
async function awaitConnection(
  begun: McpConnection & { readonly authorization_expires_at: string },
  { rondo, terminal }: Context,
): Promise<McpConnection | undefined> {
  let shown = begun.problem;
  while (Date.now() < Date.parse(begun.authorization_expires_at)) {
    await sleep(lookEveryMs);
    const now = await rondo().mcp.connection(begun.id);
    if (now.status === 'connected' && now.connected_at !== begun.connected_at) return now;
    if (now.problem !== null && now.problem !== shown) terminal.note(now.problem, 'yellow');
    shown = now.problem;
  }
  return undefined;
}

export const mcpConnections: Command = {
  name: 'mcp connections',
  summary: 'List the MCP servers that people have connected',
  options: [{ name: 'user', value: 'USER', help: 'those of this person alone' }],
  async run(given, { rondo, terminal }) {
    const user = given.value('user');
    const rows: string[][] = [['CONNECTION', 'SERVER', 'FOR', 'STATE', 'SCOPES']];
    for await (const one of rondo().mcp.connections(user === undefined ? {} : { user })) {
      if (terminal.isJson) terminal.json(one);
      rows.push([one.id, one.url, one.user ?? 'the account', one.status, one.scopes.join(' ')]);
    }
    if (!terminal.isJson) terminal.table(rows);
    return 'ok';
  },
};

export const mcpDisconnect: Command = {
  name: 'mcp disconnect',
  summary: 'Delete the tokens of a connection',
  args: [{ name: 'CONNECTION' }],
  details: 'The next request to the server carries none.',
  async run(given, { rondo, terminal }) {
    const [id = ''] = given.args;
    await rondo().mcp.disconnect(id);
    if (terminal.isJson) terminal.json({ id, disconnected: true });
    else terminal.line(`${id} is disconnected.`);
    return 'ok';
  },
};
