import type { ApiKey, NewApiKey } from '@rondo/client';
import type { Command } from '../command';

export const keysCreate: Command = {
  name: 'keys create',
  summary: 'Create an API key; its secret is shown this once',
  args: [{ name: 'NAME' }],
  options: [
    { name: 'scope', value: 'SCOPE', repeatable: true, help: 'read, write or admin (read and write)' },
    { name: 'expires-at', value: 'TIME', help: 'when it stops working, such as 2027-01-31T00:00:00Z (never)' },
  ],
  async run(given, { rondo, terminal }) {
    const asked = given.values('scope');
    const scopes = (asked.length > 0 ? [...asked] : ['read', 'write']) as NewApiKey['scopes']; // the gateway refuses others
    const expires_at = given.value('expires-at');
    const expiry = expires_at === undefined ? {} : { expires_at };
    const created = await rondo().apiKeys.create({ name: given.args[0] ?? '', scopes, ...expiry });
    if (terminal.isJson) terminal.json(created);
    else terminal.line(created.key);
    terminal.note(`${created.id} · ${created.scopes.join(', ')}`, 'dim');
    return 'ok';
  },
};

const row = ({ id, name, scopes, created_at: at, ...key }: ApiKey): string[] => [
  ...[id, name, scopes.join(','), at],
  ...[key.last_used_at ?? '-', key.revoked_at === null ? (key.expires_at ?? 'never') : 'revoked'],
];

export const keysList: Command = {
  name: 'keys ls',
  summary: 'List the API keys of the account',
  async run(_, { rondo, terminal }) {
    const keys: ApiKey[] = [];
    for await (const key of rondo().apiKeys.list()) keys.push(key);
    if (terminal.isJson) for (const key of keys) terminal.json(key);
    else terminal.table([['KEY', 'NAME', 'SCOPES', 'CREATED', 'LAST USED', 'EXPIRES'], ...keys.map(row)]);
    return 'ok';
  },
};

export const keysRevoke: Command = {
  name: 'keys revoke',
  summary: 'Revoke an API key; its open connections are closed within seconds',
  args: [{ name: 'KEY' }],
  async run(given, { rondo, terminal }) {
    const [id = ''] = given.args;
    await rondo().apiKeys.revoke(id);
    if (terminal.isJson) terminal.json({ id, revoked: true });
    else terminal.line(`${id} is revoked.`);
    return 'ok';
  },
};
