import { z } from 'zod';
import { accountId, apiKeyId, sessionId, userId } from '../ids';
import { type ApiSchemas, defineRoutes } from './route';

/** Who a request is made by, as the console shows it. */
const session = z
  .object({
    account_id: accountId,
    caller_id: z.union([apiKeyId, userId]).describe('The API key, or the user of an outside issuer.'),
    scopes: z.array(z.string()),
    session_id: sessionId.nullable().describe('Null for a request with a key or token of its own.'),
    expires_at: z.iso.datetime().nullable().describe('When the session or token ends. Null for an API key.'),
  })
  .meta({
    examples: [
      {
        account_id: 'acc_01JMX2Q8Z4T5V6W7X8Y9Z0A1B2',
        caller_id: 'key_01JMX2Q8Z4T5V6W7X8Y9Z0A1B3',
        scopes: ['admin'],
        session_id: 'ses_01JMX2Q8Z4T5V6W7X8Y9Z0A1B4',
        expires_at: '2026-11-25T21:00:00.000Z',
      },
    ],
  });

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
  answers: { Session: session, SessionLink: sessionLink },
  examples: { NewSession: {} },
};
