import { z } from 'zod';
import { accountId, apiKeyId, sessionId, userId } from '../ids';
import { exampleIds as ids } from './example-ids';
import { createPage, pageQuery } from './paging';
import { type ApiSchemas, defineRoutes } from './route';

/** Who a request is made by, as the console shows it. */
const session = z
  .object({
    account_id: accountId,
    account_name: z.string().optional(),
    caller_id: z.union([apiKeyId, userId]).describe('The API key, or the user of an outside issuer.'),
    caller_name: z.string().nullable().optional().describe('The name of the API key. Null for a user.'),
    scopes: z.array(z.string()),
    session_id: sessionId.nullable().describe('Null for a request with a key or token of its own.'),
    expires_at: z.iso.datetime().nullable().describe('When the session or token ends. Null for an API key.'),
    operates_deployment: z
      .boolean()
      .optional()
      .describe('Whether it may read and change what belongs to the whole deployment.'),
  })
  .meta({
    examples: [
      {
        account_id: 'acc_01JMX2Q8Z4T5V6W7X8Y9Z0A1B2',
        account_name: 'Example Ltd',
        caller_id: 'key_01JMX2Q8Z4T5V6W7X8Y9Z0A1B3',
        caller_name: 'nightly jobs',
        scopes: ['admin'],
        session_id: 'ses_01JMX2Q8Z4T5V6W7X8Y9Z0A1B4',
        expires_at: '2026-11-25T21:00:00.000Z',
        operates_deployment: true,
      },
    ],
  });

/** A session as the admins of its account see it. */
const listedSession = z.object({
  id: sessionId,
  caller_id: z.union([apiKeyId, userId]).describe('The API key, or the user of an outside issuer, that it acts as.'),
  scopes: z.array(z.string()),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  last_used_at: z.iso
    .datetime()
    .nullable()
    .describe('Up to a minute or two older than its last use. Null: it was not used.'),
});
const sessionPage = createPage(listedSession);

const newSession = z.strictObject({});

const exampleCode = '3q2-7wX0v1pQnYd0cN8sKfJm5tRb4uLh';

const sessionLink = z
  .object({
    path: z.string().describe('To open in a browser, at the URL of this deployment. It works once. Shown this once.'),
    expires_at: z.iso.datetime(),
  })
  .meta({ examples: [{ path: `/session?code=${exampleCode}`, expires_at: '2026-11-25T09:10:00.000Z' }] });

export const sessions = defineRoutes('sessions', {
  createSession: {
    method: 'POST',
    path: '/v1/session',
    summary: 'Sign a browser in with an API key or a token: sets a cookie',
    description:
      'The cookie can do what the key can, and is refused from pages of other origins. It ends after `SESSION_HOURS`, with ' +
      'its key, or when it is deleted.',
    role: 'reader',
    audit: 'session.create',
    storesAnswer: false,
    body: newSession,
    answers: { 201: { body: session, headers: ['Set-Cookie'] } },
  },
  getSession: {
    method: 'GET',
    path: '/v1/session',
    summary: 'Read who this request is made by',
    answers: { 200: { body: session } },
  },
  deleteSession: {
    method: 'DELETE',
    path: '/v1/session',
    summary: 'Sign out: ends the session of this request and closes its connections',
    role: 'reader',
    audit: 'session.end',
    answers: { 204: { headers: ['Set-Cookie'] } },
  },
  listSessions: {
    method: 'GET',
    path: '/v1/sessions',
    summary: 'List the sessions of the account that are not over, newest first; for its admins',
    role: 'account-admin',
    query: pageQuery,
    answers: { 200: { body: sessionPage } },
  },
  endSession: {
    method: 'DELETE',
    path: '/v1/sessions/{session_id}',
    summary: 'End a session of the account; for its admins',
    description: 'Its browser is signed out, and its connections are closed within seconds. Idempotent.',
    role: 'account-admin',
    audit: 'session.revoke',
    answers: { 204: {} },
  },
  createSessionLink: {
    method: 'POST',
    path: '/v1/session/links',
    summary: 'Make a link that signs one browser in, with the rights of this key; for admins',
    role: 'account-admin',
    audit: 'session_link.create',
    storesAnswer: false,
    body: newSession,
    answers: { 201: { body: sessionLink } },
  },
  redeemSessionLink: {
    method: 'GET',
    path: '/session',
    summary: 'Sign this browser in with the code of a link, and go to the console',
    role: 'open',
    query: z.strictObject({ code: z.string().min(1).max(200) }),
    queryExample: { code: exampleCode },
    answers: { 303: { description: 'Signed in.', headers: ['Set-Cookie'] } },
  },
});

export const sessionSchemas: ApiSchemas = {
  requests: { NewSession: newSession },
  answers: { Session: session, SessionLink: sessionLink, ListedSession: listedSession, SessionPage: sessionPage },
  examples: {
    NewSession: {},
    ListedSession: {
      id: ids.session,
      caller_id: ids.key,
      scopes: ['admin'],
      created_at: '2026-11-25T09:00:00.000Z',
      expires_at: '2026-11-25T21:00:00.000Z',
      last_used_at: '2026-11-25T09:00:00.000Z',
    },
  },
};
