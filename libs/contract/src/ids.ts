import { z } from 'zod';

/** Ids have a prefix for their kind and sort by time: `run_01J…`. Only letters and digits follow the prefix. */
const createIdSchema = (prefix: string, length = 48) =>
  z.string().regex(new RegExp(`^${prefix}_[0-9A-Za-z]{1,${length}}$`), `must be an id like ${prefix}_…`);

export const accountId = createIdSchema('acc').brand<'AccountId'>();
export const apiKeyId = createIdSchema('key').brand<'ApiKeyId'>();
export const clientTokenId = createIdSchema('ctk').brand<'ClientTokenId'>();
export const sessionId = createIdSchema('ses').brand<'SessionId'>();
/** A user of an outside issuer. */
export const userId = createIdSchema('usr').brand<'UserId'>();
/** In whose name a request is made: an API key, a user of an outside issuer, or a client token. */
export const callerId = z.union([apiKeyId, userId, clientTokenId]);
export const threadId = createIdSchema('thr').brand<'ThreadId'>();
export const projectId = createIdSchema('prj').brand<'ProjectId'>();
export const runId = createIdSchema('run').brand<'RunId'>();
export const messageId = createIdSchema('msg').brand<'MessageId'>();
export const callId = createIdSchema('call').brand<'CallId'>();
export const approvalId = createIdSchema('apr').brand<'ApprovalId'>();
export const eventId = createIdSchema('evt').brand<'EventId'>();
export const modelCallId = createIdSchema('mdl').brand<'ModelCallId'>();
export const compactionId = createIdSchema('cmp').brand<'CompactionId'>();
export const sandboxId = createIdSchema('sbx').brand<'SandboxId'>();
/** An entry of the audit log. */
export const auditEntryId = createIdSchema('aud').brand<'AuditEntryId'>();
export const creditId = createIdSchema('crd').brand<'CreditId'>();
export const agentId = createIdSchema('agt').brand<'AgentId'>();
export const mcpToolId = createIdSchema('mct').brand<'McpToolId'>();
export const mcpConnectionId = createIdSchema('mcc').brand<'McpConnectionId'>();
export const fileId = createIdSchema('file').brand<'FileId'>();
export const scheduleId = createIdSchema('sch').brand<'ScheduleId'>();
export const webhookTriggerId = createIdSchema('whk').brand<'WebhookTriggerId'>();
export const executionId = createIdSchema('exc').brand<'ExecutionId'>();
export const secretId = createIdSchema('sec').brand<'SecretId'>();
/** One request that a secret was opened for. */
export const secretUseId = createIdSchema('use').brand<'SecretUseId'>();
export const skillId = createIdSchema('skl').brand<'SkillId'>();
export const memoryStoreId = createIdSchema('mem').brand<'MemoryStoreId'>();
export const evaluationId = createIdSchema('evl').brand<'EvaluationId'>();
export const webhookEndpointId = createIdSchema('whe').brand<'WebhookEndpointId'>();
/** Follows from the event and the endpoint, so it is as long as both. */
export const webhookDeliveryId = createIdSchema('whd', 96).brand<'WebhookDeliveryId'>();

export type AccountId = z.infer<typeof accountId>;
export type ApiKeyId = z.infer<typeof apiKeyId>;
export type ClientTokenId = z.infer<typeof clientTokenId>;
export type SessionId = z.infer<typeof sessionId>;
export type UserId = z.infer<typeof userId>;
export type CallerId = z.infer<typeof callerId>;
export type ThreadId = z.infer<typeof threadId>;
export type ProjectId = z.infer<typeof projectId>;
export type RunId = z.infer<typeof runId>;
export type MessageId = z.infer<typeof messageId>;
export type CallId = z.infer<typeof callId>;
export type ApprovalId = z.infer<typeof approvalId>;
export type EventId = z.infer<typeof eventId>;
export type ModelCallId = z.infer<typeof modelCallId>;
export type CompactionId = z.infer<typeof compactionId>;
export type SandboxId = z.infer<typeof sandboxId>;
export type AuditEntryId = z.infer<typeof auditEntryId>;
export type CreditId = z.infer<typeof creditId>;
export type AgentId = z.infer<typeof agentId>;
export type McpToolId = z.infer<typeof mcpToolId>;
export type McpConnectionId = z.infer<typeof mcpConnectionId>;
export type FileId = z.infer<typeof fileId>;
export type ScheduleId = z.infer<typeof scheduleId>;
export type WebhookTriggerId = z.infer<typeof webhookTriggerId>;
export type ExecutionId = z.infer<typeof executionId>;
export type SecretId = z.infer<typeof secretId>;
export type SecretUseId = z.infer<typeof secretUseId>;
export type SkillId = z.infer<typeof skillId>;
export type MemoryStoreId = z.infer<typeof memoryStoreId>;
export type EvaluationId = z.infer<typeof evaluationId>;
export type WebhookEndpointId = z.infer<typeof webhookEndpointId>;
export type WebhookDeliveryId = z.infer<typeof webhookDeliveryId>;

/** Generates the part of an id after its prefix: unique, sortable by time, letters and digits only. */
export type NewId = () => string;

/** The id of a part of a reply that is stored in parts. The first part has the id of the reply. */
export const partIdAt = (reply: MessageId, index: number): MessageId =>
  index === 0 ? reply : (`${reply}p${nth(index)}` as MessageId); // an id followed by letters and digits is a valid id

/** Whether an id is that of a later part of this reply. */
export const isLaterPart = (id: MessageId, reply: MessageId): boolean => id.startsWith(`${reply}p`);

/**
 * The id of a call of a message. It follows from the id of the message, so that the next holder after a crash can name
 * the streams that may have been shown.
 */
export const callIdAt = (message: MessageId, index: number): CallId =>
  `call_${message.slice('msg_'.length)}${nth(index)}` as CallId; // as above

/** The id of a call of a program. It follows from the program's own, so that a place is never given twice. */
export const callIdInProgram = (program: CallId, position: number): CallId => `${program}s${nth(position)}` as CallId; // as above

/** A call is approved once at most, so the id of its approval follows from its own. */
export const toApprovalId = (call: CallId): ApprovalId => `apr_${call.slice('call_'.length)}` as ApprovalId; // as above
export const toCallId = (approval: ApprovalId): CallId => `call_${approval.slice('apr_'.length)}` as CallId; // as above

/** A call of `run_agent` starts one run at most, so the id of that run follows from its own. */
export const toChildRunId = (call: CallId): RunId => `run_${call.slice('call_'.length)}` as RunId; // as above

const nth = (index: number): string => index.toString(36).padStart(2, '0');
