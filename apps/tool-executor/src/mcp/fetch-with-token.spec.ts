import { randomBytes } from 'node:crypto';
import { type ConnectionOwner, accountId, callId, mcpTokenPurpose, runId } from '@rondo/contract';
import type { McpTokenAnswer, McpTokenQuestion } from '@rondo/messaging';
import { type CheckedFetch, SecretBox } from '@rondo/platform';
import { AskedSecrets, ConnectionMissing } from '../secrets/secret-source';
import { fetchWithToken } from './fetch-with-token';
import { findConnectionMissing } from './mcp-failure';

const url = 'https://tickets.example/mcp';
const account = accountId.parse('acc_1');
const user = { account, run: runId.parse('run_1'), call: callId.parse('call_1') };
const box = new SecretBox(randomBytes(32).toString('base64'), 'mcp');
const sealed = (token: string, version = 1): McpTokenAnswer => ({
  ...{ how: 'token', version },
  sealed: box.seal(token, mcpTokenPurpose(account, url)),
});

let sent: (string | null)[];
let asked: McpTokenQuestion[];
beforeEach(() => ([sent, asked] = [[], []]));

/** A server that accepts one token, and a gateway that answers these. */
function prepare(accepted: string, answers: McpTokenAnswer[], connection?: ConnectionOwner) {
  const source = new AskedSecrets({
    box,
    ask: () => Promise.resolve(undefined),
    askToken: (question) => {
      asked.push(question);
      return Promise.resolve(answers[asked.length - 1]);
    },
  });
  const server = { name: 'tickets', transport: 'streamable_http' as const, url, ...(connection && { connection }) };
  const fetch = fetchWithToken(
    (_, init) => {
      const header = new Headers(init?.headers).get('authorization');
      sent.push(header);
      return Promise.resolve(new Response('{}', { status: header === `Bearer ${accepted}` ? 200 : 401 }));
    },
    { server, user: () => user, source },
  );
  return { fetch, source };
}

describe('a request to a server with a connection', () => {
  it('carries a token that was asked for it, which answers must not show', async () => {
    const { fetch, source } = prepare('access-1', [sealed('access-1'), sealed('access-1')], 'account');
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(200);
    await fetch(url);
    expect(asked).toHaveLength(2);
    expect(asked[0]).toEqual({ account_id: account, run_id: 'run_1', call_id: 'call_1', url, owner: 'account' });
    expect(source.listOpened(account)).toEqual(['access-1']);
  });

  it('is sent once more with another token after a 401, and no more than that', async () => {
    const { fetch } = prepare('access-2', [sealed('access-1'), sealed('access-2', 2)], 'account');
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(200);
    expect(asked[1]).toMatchObject({ refused: 1 });

    const { fetch: hopeless } = prepare('never', [sealed('a'), sealed('b'), sealed('c', 2), sealed('d', 3)], 'account');
    expect((await hopeless(url)).status).toBe(401);
    expect(sent).toHaveLength(4);
  });

  it('is not sent where a person has to connect the server first, which is found below what wraps it', async () => {
    const { fetch } = prepare(
      'access-1',
      [{ how: 'missing', page: 'https://rondo.example/oauth/connect?link=x' }],
      'account',
    );
    const error: unknown = await fetch(url).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConnectionMissing);
    expect(findConnectionMissing(new Error('wrapped', { cause: error }))).toMatchObject({
      page: 'https://rondo.example/oauth/connect?link=x',
    });
    expect(sent).toEqual([]);
  });

  describe('that the server refuses for its scopes', () => {
    const refusing = (challenge: string, answers: McpTokenAnswer[]) => {
      const { source } = prepare('', answers);
      const server = { name: 'tickets', transport: 'streamable_http', url, connection: 'account' } as const;
      const refuse: CheckedFetch = (_, init) => {
        const header = new Headers(init?.headers).get('authorization');
        sent.push(header);
        const isEnough = header === 'Bearer larger';
        const headers = { 'www-authenticate': challenge };
        return Promise.resolve(isEnough ? new Response('{}') : new Response(null, { status: 403, headers }));
      };
      return fetchWithToken(refuse, { server, user: () => user, source });
    };
    const challenge = 'Bearer error="insufficient_scope", scope="tickets.write tickets.close"';

    it('asks for them, and is sent again with a token that has them', async () => {
      const fetch = refusing(challenge, [sealed('small'), sealed('larger', 2)]);
      expect((await fetch(url)).status).toBe(200);
      expect(asked[1]).toMatchObject({ refused: 1, scopes: ['tickets.write', 'tickets.close'] });
      expect(sent).toEqual(['Bearer small', 'Bearer larger']);
    });

    it('waits for a person, who is told what it wants', async () => {
      const fetch = refusing(challenge, [sealed('small'), { how: 'missing', page: 'https://rondo.example/p' }]);
      const error: unknown = await fetch(url).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ page: 'https://rondo.example/p', scopes: ['tickets.write', 'tickets.close'] });
      expect(sent).toEqual(['Bearer small']);
    });

    it('asks once', async () => {
      const fetch = refusing(challenge, [sealed('small'), sealed('small', 2), sealed('small', 3)]);
      expect((await fetch(url)).status).toBe(403);
      expect(sent).toHaveLength(2);
    });

    it.each([
      ['another reason', 'Bearer error="access_denied", scope="admin"'],
      ['no scope', 'Bearer error="insufficient_scope"'],
      ['no scope that is one', 'Bearer error="insufficient_scope", scope="\u00e9\\ \u00fc"'],
    ])('is refused for %s, and no one is asked', async (_, said) => {
      expect((await refusing(said, [sealed('small')])(url)).status).toBe(403);
      expect(asked).toHaveLength(1);
    });
  });

  it('is not sent without an answer of a gateway, and a token goes to no other origin', async () => {
    const { fetch } = prepare('access-1', [], 'account');
    await expect(fetch(url)).rejects.toThrow('Try again later');
    await fetch('https://evil.example/mcp');
    expect(sent).toEqual([null]);
  });

  it('is as it was without a connection', async () => {
    await prepare('access-1', []).fetch(url, { headers: { authorization: 'Bearer own' } });
    expect([sent, asked]).toEqual([['Bearer own'], []]);
  });
});
