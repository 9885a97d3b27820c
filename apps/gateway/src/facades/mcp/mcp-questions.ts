import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequests,
  type InputRequiredResult,
  type RequestStateCodec,
  type ServerContext,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  isSpecType,
} from '@modelcontextprotocol/server';
import { type Run, type RunId, approvalDecision, approvalId, runId } from '@rondo/contract';
import type { Runs } from '@rondo/persistence';
import { hkdfSync } from 'node:crypto';
import { z } from 'zod';
import type { AuditedRuns } from '../../audit/audited-runs';
import { ApiError } from '../../problems/api-error';
import type { RunService } from '../../runs/run-service';
import type { McpCaller } from './mcp-tools';

/** What a client has been asked: a question, or what it thinks of calls with these arguments. It is signed when the client keeps it. */
const asked = z.object({
  runId,
  questionId: z.string().optional(),
  /** The hashes of the arguments that were shown, by the ids of approvals. */
  approvals: z.record(approvalId, z.string()),
});
type Asked = z.infer<typeof asked>;

interface McpQuestionsDependencies {
  /** A secret that all gateways know. */
  readonly key: string;
  readonly runs: Pick<Runs, 'get' | 'approval'>;
  readonly service: Pick<RunService, 'answer'>;
  readonly acts: Pick<AuditedRuns, 'decideTogether'>;
}

/** How long a person may take to answer. */
const answerS = 86_400;
const answerKey = 'answer';
const longestArguments = 2_000;

/** Questions of runs to persons, through clients of the revision 2026-07-28: each is the result of a call, which is then repeated. */
export class McpQuestions {
  private readonly codec: RequestStateCodec<Asked>;

  constructor(private readonly dependencies: McpQuestionsDependencies) {
    const key = new Uint8Array(hkdfSync('sha256', dependencies.key, '', 'rondo mcp request state', 32));
    const bind = ({ http }: ServerContext) => http?.authInfo?.clientId ?? '';
    this.codec = createRequestStateCodec<Asked>({ key, ttlSeconds: answerS, bind });
  }

  /** Rejects for a state that was not given out to this account by a gateway of this deployment, or long ago. */
  readonly verify = async (state: string, context: ServerContext): Promise<Asked> =>
    asked.parse(await this.codec.verify(state, context));

  /** What the run asks of the client. Undefined where it asks nothing that this client can show to a person. */
  async ask(run: Run, { caller }: McpCaller, context: ServerContext): Promise<InputRequiredResult | undefined> {
    if (!showsForms(context)) return undefined;
    const { question, reason } = run.waiting ?? {};
    const requests: InputRequests = {};
    const state: Asked = { runId: run.id, approvals: {} };
    if (reason === 'ask' && question) {
      requests[answerKey] = inputRequired.elicit({ message: question.text, requestedSchema: answerForm });
      state.questionId = question.tool_call_id;
    }
    for (const { approval_id: id } of (reason === 'approval' && run.waiting?.approvals) || []) {
      const approval = await this.dependencies.runs.approval({ accountId: caller.accountId, approvalId: id });
      const given = JSON.stringify(approval.arguments).slice(0, longestArguments);
      const message = `May ${approval.name} run with ${given}?`;
      requests[id] = inputRequired.elicit({ message, requestedSchema: decisionForm });
      state.approvals[id] = approval.arguments_hash;
    }
    if (Object.keys(requests).length === 0) return undefined;
    return inputRequired({ inputRequests: requests, requestState: await this.codec.mint(state, context) });
  }

  /** Takes what the person has said. False: nothing. Rejects where that was asked no more. */
  async answer({ caller }: McpCaller, context: ServerContext): Promise<{ runId: RunId; isAnswered: boolean }> {
    const state = asked.parse(context.mcpReq.requestState());
    const { inputResponses } = context.mcpReq;
    const { accountId } = caller;
    const run = await this.dependencies.runs.get({ accountId, runId: state.runId });
    let isAnswered = false;
    if (state.questionId !== undefined) {
      const words = readAnswer(inputResponses);
      if (words !== undefined && run.waiting?.question?.tool_call_id !== state.questionId)
        throw new ApiError('run_not_waiting', `The question of ${run.id} has been answered.`);
      if (words !== undefined) {
        await this.dependencies.service.answer({ accountId, runId: run.id, content: [{ type: 'text', text: words }] });
        isAnswered = true;
      }
    }
    for (const [id, argumentsHash] of Object.entries(state.approvals)) {
      const decision = readDecision(inputResponses, id);
      if (decision === undefined) continue;
      const order = { approvalId: approvalId.parse(id), argumentsHash, ...decision };
      await this.dependencies.acts.decideTogether(caller, [order]);
      isAnswered = true;
    }
    return { runId: run.id, isAnswered };
  }
}

const answerForm = {
  type: 'object' as const,
  properties: { answer: { type: 'string' as const, title: 'Answer' } },
  required: ['answer'],
};

const decisions = approvalDecision.extract(['approve', 'deny']);
const decisionForm = {
  type: 'object' as const,
  properties: {
    decision: { type: 'string' as const, title: 'Decision', enum: [...decisions.options] },
    reason: { type: 'string' as const, title: 'Reason' },
  },
  required: ['decision'],
};
const givenAnswer = z.object({ answer: z.string().min(1) });
const givenDecision = z.object({ decision: decisions, reason: z.string().max(1_000).optional() });

type Responses = ServerContext['mcpReq']['inputResponses'];

/** A person who declines has answered, too. Undefined where nothing was said. */
function readAnswer(responses: Responses): string | undefined {
  const view = inputResponse(responses, answerKey);
  if (view.kind !== 'elicit') return undefined;
  if (view.action === 'decline') return 'The user declined to answer.';
  return view.action === 'accept' ? givenAnswer.safeParse(view.content).data?.answer : undefined;
}

function readDecision(responses: Responses, id: string): z.infer<typeof givenDecision> | undefined {
  const view = inputResponse(responses, id);
  if (view.kind !== 'elicit') return undefined;
  if (view.action === 'decline') return { decision: 'deny', reason: 'declined' };
  return view.action === 'accept' ? givenDecision.safeParse(view.content).data : undefined;
}

/** An empty capability means forms. */
function showsForms({ mcpReq }: ServerContext): boolean {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  const capabilities = envelope[CLIENT_CAPABILITIES_META_KEY];
  const elicitation = isSpecType.ClientCapabilities(capabilities) ? capabilities.elicitation : undefined;
  return typeof elicitation === 'object' && elicitation !== null && ('form' in elicitation || !('url' in elicitation));
}
