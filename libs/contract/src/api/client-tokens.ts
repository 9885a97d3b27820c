import { z } from 'zod';
import { clientScope } from '../client-scope';
import { endUser } from '../end-user';
import { agentId, clientTokenId, threadId } from '../ids';
import { exampleIds as ids } from './example-ids';
import { createPage, pageQuery } from './paging';
import { type ApiSchemas, defineRoutes } from './route';

const [usualSeconds, mostSeconds] = [3_600, 86_400];

const newClientToken = z
  .strictObject({
    user: endUser
      .optional()
      .describe('It reaches the threads of this person, and those that it creates are of this person.'),
    thread_id: threadId.optional().describe('It reaches this thread only.'),
    agent_id: agentId
      .optional()
      .describe('The stored agent that its new threads begin with. Absent: the default of the account.'),
    scopes: z
      .array(clientScope)
      .min(1)
      .max(clientScope.options.length)
      .describe(
        '`read`: threads, messages, runs, events. `send`: new threads, messages and runs, and stops. `answer`: questions, approvals, calls of the caller’s tools. `files`: uploads, and reading the workspace.',
      ),
    expires_in: z
      .number()
      .int()
      .min(1)
      .max(mostSeconds)
      .default(usualSeconds)
      .describe('In seconds. Then it is refused, and what it keeps open is closed.'),
  })
  .refine(({ user, thread_id: thread }) => (user === undefined) !== (thread === undefined), {
    path: ['user'],
    message: 'give user or thread_id',
  })
  .refine(({ thread_id: thread, agent_id: agent }) => thread === undefined || agent === undefined, {
    path: ['agent_id'],
    message: 'a token for one thread creates none',
  });

const clientToken = z.object({
  id: clientTokenId,
  user: endUser.nullable(),
  thread_id: threadId.nullable(),
  agent_id: agentId.nullable(),
  scopes: z.array(clientScope),
  created_by: z.string().describe('The key that made it, or the user of an outside issuer. It ends with that key.'),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  revoked_at: z.iso.datetime().nullable(),
});

const clientTokenWithSecret = clientToken.extend({ token: z.string().describe('Shown this once.') });
const clientTokenPage = createPage(clientToken);

export const clientTokens = defineRoutes('client-tokens', {
  createClientToken: {
    method: 'POST',
    path: '/v1/client-tokens',
    summary: 'Create a token with which a browser reaches the threads of one person, or one thread',
    description:
      'It is sent as `Authorization: Bearer`, or as `auth.token` of a socket. What is of other people does not exist for it, ' +
      'and routes that are not for browsers refuse it. Each person, or thread, has a rate of its own beside that of the account.',
    storesAnswer: false,
    body: newClientToken,
    answers: { 201: { body: clientTokenWithSecret, location: '/v1/client-tokens/{id}' } },
    problems: ['agent_not_found', 'thread_not_found'],
  },
  listClientTokens: {
    method: 'GET',
    path: '/v1/client-tokens',
    summary: 'List the client tokens of the account that have not expired, newest first',
    query: pageQuery.extend({ user: endUser.optional(), thread_id: threadId.optional() }),
    answers: { 200: { body: clientTokenPage } },
  },
  revokeClientToken: {
    method: 'DELETE',
    path: '/v1/client-tokens/{client_token_id}',
    summary: 'Revoke a client token; its open connections are closed within a second',
    audit: 'client_token.revoke',
    answers: { 204: {} },
  },
});

const exampleToken = {
  id: ids.clientToken,
  user: 'user-4711',
  thread_id: null,
  agent_id: ids.agent,
  scopes: ['read', 'send', 'answer'],
  created_by: ids.key,
  created_at: '2026-11-25T09:00:00.000Z',
  expires_at: '2026-11-25T10:00:00.000Z',
};

export const clientTokenSchemas: ApiSchemas = {
  shared: { ClientScope: clientScope },
  requests: { NewClientToken: newClientToken },
  answers: {
    ClientToken: clientToken,
    ClientTokenWithSecret: clientTokenWithSecret,
    ClientTokenPage: clientTokenPage,
  },
  examples: {
    NewClientToken: {
      user: exampleToken.user,
      agent_id: ids.agent,
      scopes: exampleToken.scopes,
      expires_in: usualSeconds,
    },
    ClientToken: { ...exampleToken, revoked_at: null },
    ClientTokenWithSecret: { ...exampleToken, revoked_at: null, token: 'rondo_client_c2VjcmV0LW9mLWFuLWV4YW1wbGU' },
  },
};
