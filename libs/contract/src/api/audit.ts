import { z } from 'zod';
import { accountId, auditEntryId, callerId, sessionId } from '../ids';
import { createPage, instant, pageQuery } from './paging';
import { type ApiSchemas, defineRoutes } from './route';

const auditOutcome = z.enum(['done', 'refused', 'unknown']);

const auditEntry = z.object({
  id: auditEntryId,
  at: z.iso.datetime(),
  account_id: accountId,
  caller_id: callerId.describe('The API key, the user of an outside issuer, or the client token.'),
  session_id: sessionId.nullable(),
  address: z.string().describe('Of the client; for IPv6 its network.'),
  action: z.string(),
  target: z.string().nullable().describe('The id of what it was done to, or of what it created.'),
  outcome: auditOutcome.describe('`unknown`: the gateway died or failed, and may have done it.'),
  problem: z.string().nullable().describe('The code of the problem of a refused act.'),
});
const auditPage = createPage(auditEntry);

export const audit = defineRoutes('accounts', {
  listAudit: {
    method: 'GET',
    path: '/v1/audit',
    summary: 'List the administrative acts of the account, newest first; for its admins',
    description: 'Routes with `x-audit` in this document are recorded, and the same acts over sockets.',
    role: 'account-admin',
    query: pageQuery.extend({
      action: z.string().max(100).optional().describe('For example `api_key.revoke`.'),
      caller_id: callerId.optional(),
      target: z.string().max(200).optional(),
      outcome: auditOutcome.optional(),
      created_from: instant.optional().describe('Inclusive.'),
      created_before: instant.optional().describe('Exclusive.'),
    }),
    answers: { 200: { body: auditPage } },
  },
});

export const auditSchemas: ApiSchemas = {
  answers: { AuditEntry: auditEntry, AuditPage: auditPage },
  examples: {
    AuditEntry: {
      id: 'aud_01JMX2Q8Z4T5V6W7X8Y9Z0A1B2',
      at: '2026-11-25T09:00:00.000Z',
      account_id: 'acc_01JMX2Q8Z4T5V6W7X8Y9Z0A1B3',
      caller_id: 'key_01JMX2Q8Z4T5V6W7X8Y9Z0A1B4',
      session_id: null,
      address: '192.0.2.7',
      action: 'api_key.revoke',
      target: 'key_01JMX2Q8Z4T5V6W7X8Y9Z0A1B5',
      outcome: 'done',
      problem: null,
    },
  },
};
