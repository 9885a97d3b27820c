import { z } from 'zod';
import { endUser } from '../end-user';
import { type ApiSchemas, defineRoutes } from './route';

const amounts = {
  threads: z.number().int(),
  runs: z.number().int(),
  messages: z.number().int(),
  tool_calls: z.number().int(),
  files: z.number().int().describe('Uploaded with a client token of the person.'),
  client_tokens: z.number().int(),
  memory_stores: z.number().int().describe('With all that is in them.'),
};

const user = z.object({
  user: endUser,
  ...amounts,
  first_thread_at: z.iso.datetime().nullable(),
});

const erasedUser = z.object({
  user: endUser,
  ...amounts,
  active_runs: z.number().int().describe('Those that have not stopped yet. While there are some, repeat the request.'),
  erased_at: z.iso.datetime(),
});

/** The people for whom an account runs threads. There is a user as long as something is of them. */
export const users = defineRoutes('users', {
  getUser: {
    method: 'GET',
    path: '/v1/users/{user}',
    summary: 'Count what is of a person',
    answers: { 200: { body: user } },
    problems: ['user_not_found'],
  },
  eraseUser: {
    method: 'DELETE',
    path: '/v1/users/{user}',
    summary:
      'Erase a person: their threads, runs, messages, files, memory and client tokens; for admins of the account',
    description:
      'Their tokens end and their runs are stopped, then their threads are inaccessible; the data is deleted soon after. The ' +
      'answer says how much that was. Usage stays without the person, and so does the entry of this request in the audit log.',
    role: 'account-admin',
    audit: 'user.erase',
    answers: {
      200: { body: erasedUser },
      202: { description: 'Some runs have not stopped yet, and their threads are still there.', body: erasedUser },
    },
    problems: ['user_not_found'],
  },
});

const exampleAmounts = {
  user: 'user-4711',
  threads: 3,
  runs: 8,
  messages: 41,
  tool_calls: 12,
  files: 1,
  client_tokens: 1,
  memory_stores: 1,
};

export const userSchemas: ApiSchemas = {
  answers: { User: user, ErasedUser: erasedUser },
  examples: {
    User: { ...exampleAmounts, first_thread_at: '2026-11-25T09:00:00.000Z' },
    ErasedUser: { ...exampleAmounts, active_runs: 0, erased_at: '2026-11-26T09:00:00.000Z' },
  },
};
