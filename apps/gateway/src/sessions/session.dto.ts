import { accountId, apiKeyId, sessionId, userId } from '@rondo/contract';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';

/** Who a request is made by, as the console shows it. */
const signedIn = z
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

const sessionLink = z
  .object({
    path: z.string().describe('To open in a browser, at the URL of this deployment. It works once. Shown this once.'),
    expires_at: z.iso.datetime(),
  })
  .meta({
    examples: [{ path: '/session?code=3q2-7wX0v1pQnYd0cN8sKfJm5tRb4uLh', expires_at: '2026-11-25T09:10:00.000Z' }],
  });

export class SessionDto extends createZodDto(signedIn) {}
export class NewSessionDto extends createZodDto(z.strictObject({})) {}
export class SessionLinkDto extends createZodDto(sessionLink) {}
export class SessionCodeDto extends createZodDto(z.strictObject({ code: z.string().min(1).max(200) })) {}
