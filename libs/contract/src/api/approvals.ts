import { z } from 'zod';
import {
  approval,
  approvalDecision,
  approvalOutcome,
  approvalRule,
  approvalSettings,
  awaitedApproval,
  listedApproval,
} from '../approval';
import { run, waiting } from '../run';
import { exampleIds as ids } from './example-ids';
import { createPage, pageQuery } from './paging';
import { type ApiSchemas, defineRoutes } from './route';

/** The fields of a decision, over REST and over sockets. */
export const decisionFields = z.strictObject({
  decision: approvalDecision.describe(
    '`approve`: the call is sent as it is. `edit`: it is sent with `arguments`. `deny`: the model is told that it was denied.',
  ),
  arguments_hash: z.string().max(100).describe('Of the arguments that were decided about, as the approval has it.'),
  arguments: z.record(z.string(), z.unknown()).optional().describe('With `edit`: all arguments of the call.'),
  reason: z
    .string()
    .max(2_000)
    .optional()
    .describe('Kept with the decision. The model is told it if the call is denied.'),
});

type Fields = z.infer<typeof decisionFields>;
export const isConsistentDecision = ({ decision, arguments: edited }: Fields): boolean =>
  (decision === 'edit') === (edited !== undefined);
export const inconsistentDecision = {
  path: ['arguments'],
  message: 'needed with the decision edit, and with no other',
};

const decision = decisionFields.refine(isConsistentDecision, inconsistentDecision);

const inboxItem = z.object({
  id: run.shape.id.describe('The id of the run.'),
  thread_id: run.shape.thread_id,
  status: run.shape.status,
  waiting: waiting.extend({ approvals: z.array(listedApproval).optional() }),
});
const inboxPage = createPage(inboxItem);
const approvalPage = createPage(approval);

/** Approvals are answered as they are stored: the arguments are what the model wrote. */
export const approvals = defineRoutes('people', {
  listInbox: {
    method: 'GET',
    path: '/v1/inbox',
    summary: 'List the runs that wait for a person',
    description:
      'Oldest first, also runs that go on while a request with a secret waits. `waiting.reason` says what to do: `ask` is answered by `POST /v1/runs/{id}/input`, `approval` by ' +
      '`POST /v1/approvals/{id}/decision`, `tool_unknown` by `POST /v1/tool-calls/{id}/resolve`, `elicitation` by ' +
      '`POST /v1/tool-calls/{id}/input`, `budget` by ' +
      '`POST /v1/runs/{id}/budget`.',
    query: pageQuery,
    answers: { 200: { body: inboxPage } },
  },
  listApprovals: {
    method: 'GET',
    path: '/v1/approvals',
    summary: 'List the calls that await an approval, oldest first',
    query: pageQuery,
    answers: { 200: { body: approvalPage, isParsed: false } },
  },
  getApproval: {
    method: 'GET',
    path: '/v1/approvals/{approval_id}',
    client: 'read',
    summary: 'Read an approval, open or decided',
    answers: { 200: { body: approval, isParsed: false } },
  },
  decideApproval: {
    method: 'POST',
    path: '/v1/approvals/{approval_id}/decision',
    client: 'answer',
    summary: 'Approve, edit or deny a tool call, or allow or deny the use of a secret',
    description:
      'The first decision wins. It is about the arguments whose hash it names, and refused for others. The run goes on when ' +
      'none of its calls awaits an approval any more.',
    audit: 'approval.decide',
    body: decision,
    answers: { 200: { body: approval, isParsed: false } },
    problems: ['approval_not_open', 'arguments_changed'],
  },
});

const exampleApproval = {
  id: ids.approval,
  run_id: ids.run,
  thread_id: ids.thread,
  tool_call_id: ids.call,
  name: 'execute_command',
  arguments: { command: 'git push' },
  arguments_hash: '0b3c9d5e7f1a2b4c6d8e0f1a3b5c7d9e1f2a4b6c8d0e2f4a6b8c0d2e4f6a8b0c',
  effect_class: 'unsafe',
  requested_at: '2026-11-25T09:00:03.000Z',
  expires_at: '2026-11-26T09:00:03.000Z',
  outcome: null,
  decided_by: null,
  decided_at: null,
  reason: null,
};

export const approvalSchemas: ApiSchemas = {
  shared: { ApprovalRule: approvalRule, ApprovalSettings: approvalSettings },
  requests: { ApprovalDecision: decision },
  answers: {
    Approval: approval,
    ApprovalOutcome: approvalOutcome,
    AwaitedApproval: awaitedApproval,
    ApprovalPage: approvalPage,
    InboxPage: inboxPage,
  },
  examples: {
    Approval: exampleApproval,
    ApprovalDecision: { decision: 'approve', arguments_hash: exampleApproval.arguments_hash, reason: 'Reviewed.' },
    InboxPage: {
      data: [
        {
          id: ids.run,
          thread_id: ids.thread,
          status: 'waiting_input',
          waiting: {
            reason: 'ask',
            question: { text: 'Which colour should it have?', attachments: [], tool_call_id: ids.call },
          },
        },
      ],
      has_more: false,
      next_cursor: null,
    },
  },
};
