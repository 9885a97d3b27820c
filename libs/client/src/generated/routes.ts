/** Generated from the routes of the API: `npm run docs` writes this file anew. */
import type { Route } from '../resource.ts';
import type * as Api from './api.ts';

export interface PageQuery {
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
}

export const createAccount: Route<{ params: []; body: Api.NewAccount; answer: Api.AccountWithKey }> = { method: 'POST', path: '/v1/admin/accounts', takes: 'body', repeatable: false };

export const listAccounts: Route<{ params: []; query: PageQuery; answer: Api.AccountPage }> = { path: '/v1/admin/accounts', takes: 'query' };

export const removeAccount: Route<{ params: [accountId: string]; answer: Api.RemovedAccount }> = { method: 'DELETE', path: '/v1/admin/accounts/{}' };

export const createApiKey: Route<{ params: []; body: Api.NewApiKey; answer: Api.ApiKeyWithSecret }> = { method: 'POST', path: '/v1/api-keys', takes: 'body', repeatable: false };

export const listApiKeys: Route<{ params: []; query: PageQuery; answer: Api.ApiKeyPage }> = { path: '/v1/api-keys', takes: 'query' };

export const revokeApiKey: Route<{ params: [keyId: string]; answer: void }> = { method: 'DELETE', path: '/v1/api-keys/{}', answers: 'nothing' };

export const createAgent: Route<{ params: []; body: Api.NewAgent; answer: Api.Agent }> = { method: 'POST', path: '/v1/agents', takes: 'body' };

export interface ListAgentsQuery {
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
  /** A part of the name, in any case. */
  readonly search?: string;
  /** One tag, or several with commas between them: agents that have all of them. */
  readonly tag?: string;
  readonly is_default?: boolean;
  /** Whether the definition names an MCP server. */
  readonly has_mcp?: boolean;
  /** Definitions that name this tool, or else its group, and do not switch it off. */
  readonly tool?: string;
  readonly sort?: 'created_at' | 'updated_at' | 'name';
  /** `asc` is the default for `name`, and `desc`, the newest first, for the others. */
  readonly order?: 'asc' | 'desc';
}
export const listAgents: Route<{ params: []; query: ListAgentsQuery; answer: Api.AgentPage }> = { path: '/v1/agents', takes: 'query' };

export const getAgent: Route<{ params: [agentId: string]; answer: Api.Agent }> = { path: '/v1/agents/{}' };

export const updateAgent: Route<{ params: [agentId: string]; body: Api.AgentChange; answer: Api.Agent }> = { method: 'PATCH', path: '/v1/agents/{}', takes: 'body' };

export const applyAgent: Route<{ params: [name: string]; body: Api.DeclaredAgent; answer: Api.Agent }> = { method: 'PUT', path: '/v1/agents/by-name/{}', takes: 'body' };

export const deleteAgent: Route<{ params: [agentId: string]; answer: void }> = { method: 'DELETE', path: '/v1/agents/{}', answers: 'nothing' };

export const getThreadAgent: Route<{ params: [threadId: string]; answer: Api.ThreadAgent }> = { path: '/v1/threads/{}/agent' };

export const listAgentVersions: Route<{ params: [agentId: string]; query: PageQuery; answer: Api.AgentVersionPage }> = { path: '/v1/agents/{}/versions', takes: 'query' };

export const getAgentVersion: Route<{ params: [agentId: string, version: number]; answer: Api.AgentVersion }> = { path: '/v1/agents/{}/versions/{}' };

export const updateAgentVersion: Route<{ params: [agentId: string, version: number]; body: Api.VersionChange; answer: Api.AgentVersion }> = { method: 'PATCH', path: '/v1/agents/{}/versions/{}', takes: 'body' };

export const activateAgentVersion: Route<{ params: [agentId: string, version: number]; body: Api.VersionActivation; answer: Api.Agent }> = { method: 'POST', path: '/v1/agents/{}/versions/{}/activate', takes: 'body' };

export interface CompareAgentVersionsQuery {
  readonly from: number;
  readonly to: number;
}
export const compareAgentVersions: Route<{ params: [agentId: string]; query: CompareAgentVersionsQuery; answer: Api.AgentComparison }> = { path: '/v1/agents/{}/compare', takes: 'query' };

export const listInbox: Route<{ params: []; query: PageQuery; answer: Api.InboxPage }> = { path: '/v1/inbox', takes: 'query' };

export const listApprovals: Route<{ params: []; query: PageQuery; answer: Api.ApprovalPage }> = { path: '/v1/approvals', takes: 'query' };

export const getApproval: Route<{ params: [approvalId: string]; answer: Api.Approval }> = { path: '/v1/approvals/{}' };

export const decideApproval: Route<{ params: [approvalId: string]; body: Api.ApprovalDecision; answer: Api.Approval }> = { method: 'POST', path: '/v1/approvals/{}/decision', takes: 'body' };

export interface ListAuditQuery {
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
  /** For example `api_key.revoke`. */
  readonly action?: string;
  readonly caller_id?: string;
  readonly target?: string;
  readonly outcome?: 'done' | 'refused' | 'unknown';
  /** Inclusive. */
  readonly created_from?: string;
  /** Exclusive. */
  readonly created_before?: string;
}
export const listAudit: Route<{ params: []; query: ListAuditQuery; answer: Api.AuditPage }> = { path: '/v1/audit', takes: 'query' };

export const getBalance: Route<{ params: []; answer: Api.Balance }> = { path: '/v1/balance' };

export const getAccountBalance: Route<{ params: [accountId: string]; answer: Api.Balance }> = { path: '/v1/admin/accounts/{}/balance' };

export const setAccountTier: Route<{ params: [accountId: string]; body: Api.AccountTier; answer: Api.Balance }> = { method: 'PUT', path: '/v1/admin/accounts/{}/tier', takes: 'body' };

export const giveCredit: Route<{ params: [accountId: string]; body: Api.NewCredit; answer: Api.Credit }> = { method: 'POST', path: '/v1/admin/accounts/{}/credits', takes: 'body' };

export interface GetUsageQuery {
  /** A day (0:00 UTC) or a moment. Default: 30 days before `to`, or the beginning of the run or thread that is named. */
  readonly from?: string;
  /** Before this day or moment. Default: now. */
  readonly to?: string;
  readonly agent_id?: string;
  readonly run_id?: string;
  readonly thread_id?: string;
  /** Of the runs of this person. */
  readonly user?: string;
  readonly model?: string;
  /** `day` (UTC), `model`, `agent`, `user`, `key`, or several of them, separated by commas. */
  readonly group_by?: string;
  readonly limit?: number;
}
export const getUsage: Route<{ params: []; query: GetUsageQuery; answer: Api.UsageReport }> = { path: '/v1/usage', takes: 'query' };

export interface ListUsageEntriesQuery {
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
  /** A day (0:00 UTC) or a moment. Default: 30 days before `to`, or the beginning of the run or thread that is named. */
  readonly from?: string;
  /** Before this day or moment. Default: now. */
  readonly to?: string;
  readonly agent_id?: string;
  readonly run_id?: string;
  readonly thread_id?: string;
  /** Of the runs of this person. */
  readonly user?: string;
  readonly model?: string;
}
export const listUsageEntries: Route<{ params: []; query: ListUsageEntriesQuery; answer: Api.UsageEntryPage }> = { path: '/v1/usage/entries', takes: 'query' };

export interface ListCallerCallsQuery {
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
  readonly run_id?: string;
}
export const listCallerCalls: Route<{ params: []; query: ListCallerCallsQuery; answer: Api.CallerCallPage }> = { path: '/v1/tool-calls', takes: 'query' };

export const answerToolCall: Route<{ params: [toolCallId: string]; body: Api.CallerResult; answer: Api.ToolCall }> = { method: 'POST', path: '/v1/tool-calls/{}/result', takes: 'body' };

export const answerToolCalls: Route<{ params: [runId: string]; body: Api.ToolResults; answer: Api.Run }> = { method: 'POST', path: '/v1/runs/{}/tool-results', takes: 'body' };

export const listModels: Route<{ params: []; query: PageQuery; answer: Api.ModelPage }> = { path: '/v1/models', takes: 'query' };

export const listTools: Route<{ params: []; query: PageQuery; answer: Api.ToolPage }> = { path: '/v1/tools', takes: 'query' };

export const createClientToken: Route<{ params: []; body: Api.NewClientToken; answer: Api.ClientTokenWithSecret }> = { method: 'POST', path: '/v1/client-tokens', takes: 'body', repeatable: false };

export interface ListClientTokensQuery {
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
  readonly user?: string;
  readonly thread_id?: string;
}
export const listClientTokens: Route<{ params: []; query: ListClientTokensQuery; answer: Api.ClientTokenPage }> = { path: '/v1/client-tokens', takes: 'query' };

export const revokeClientToken: Route<{ params: [clientTokenId: string]; answer: void }> = { method: 'DELETE', path: '/v1/client-tokens/{}', answers: 'nothing' };

export const uploadFile: Route<{ params: []; answer: Api.UploadedFile }> = { method: 'POST', path: '/v1/files' };

export const listUploadedFiles: Route<{ params: []; query: PageQuery; answer: Api.UploadedFilePage }> = { path: '/v1/files', takes: 'query' };

export const getUploadedFile: Route<{ params: [fileId: string]; answer: Api.UploadedFile }> = { path: '/v1/files/{}' };

export const readUploadedFile: Route<{ params: [fileId: string]; answer: Response }> = { path: '/v1/files/{}/content', answers: 'bytes' };

export const deleteUploadedFile: Route<{ params: [fileId: string]; answer: void }> = { method: 'DELETE', path: '/v1/files/{}', answers: 'nothing' };

export const beginMcpConnection: Route<{ params: []; body: Api.NewMcpConnection; answer: Api.BegunMcpConnection }> = { method: 'POST', path: '/v1/mcp-connections', takes: 'body', repeatable: false };

export interface ListMcpConnectionsQuery {
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
  /** Those of this person alone. */
  readonly user?: string;
  /** Those to this server alone. */
  readonly url?: string;
}
export const listMcpConnections: Route<{ params: []; query: ListMcpConnectionsQuery; answer: Api.McpConnectionPage }> = { path: '/v1/mcp-connections', takes: 'query' };

export const getMcpConnection: Route<{ params: [mcpConnectionId: string]; answer: Api.McpConnection }> = { path: '/v1/mcp-connections/{}' };

export const deleteMcpConnection: Route<{ params: [mcpConnectionId: string]; answer: void }> = { method: 'DELETE', path: '/v1/mcp-connections/{}', answers: 'nothing' };

export const discoverMcpServer: Route<{ params: []; body: Api.McpDiscoveryRequest; answer: Api.DiscoveredMcpServer }> = { method: 'POST', path: '/v1/mcp-servers/discover', takes: 'body' };

export const listMcpPrompts: Route<{ params: []; body: Api.McpDiscoveryRequest; answer: Api.McpPrompts }> = { method: 'POST', path: '/v1/mcp-servers/prompts', takes: 'body' };

export const getMcpPrompt: Route<{ params: []; body: Api.McpPromptRequest; answer: Api.GivenMcpPrompt }> = { method: 'POST', path: '/v1/mcp-servers/prompts/get', takes: 'body' };

export interface ListMcpToolsQuery {
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
  /** `changed`: only those that await a confirmation. */
  readonly state?: 'all' | 'changed';
}
export const listMcpTools: Route<{ params: []; query: ListMcpToolsQuery; answer: Api.McpToolPage }> = { path: '/v1/mcp-tools', takes: 'query' };

export const getMcpTool: Route<{ params: [mcpToolId: string]; answer: Api.McpTool }> = { path: '/v1/mcp-tools/{}' };

export interface ForgetMcpServerQuery {
  readonly server: string;
}
export const forgetMcpServer: Route<{ params: []; query: ForgetMcpServerQuery; answer: Api.ForgottenMcpTools }> = { method: 'DELETE', path: '/v1/mcp-tools', takes: 'query' };

export const forgetMcpTool: Route<{ params: [mcpToolId: string]; answer: void }> = { method: 'DELETE', path: '/v1/mcp-tools/{}', answers: 'nothing' };

export const confirmMcpTool: Route<{ params: [mcpToolId: string]; body: Api.McpToolConfirmation; answer: Api.McpTool }> = { method: 'POST', path: '/v1/mcp-tools/{}/confirm', takes: 'body' };

export const createMemoryStore: Route<{ params: []; body: Api.NewMemoryStore; answer: Api.MemoryStore }> = { method: 'POST', path: '/v1/memory-stores', takes: 'body' };

export interface ListMemoryStoresQuery {
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
  readonly project_id?: string;
  readonly agent_id?: string;
  readonly user?: string;
  readonly name?: string;
}
export const listMemoryStores: Route<{ params: []; query: ListMemoryStoresQuery; answer: Api.MemoryStorePage }> = { path: '/v1/memory-stores', takes: 'query' };

export const getMemoryStore: Route<{ params: [memoryStoreId: string]; answer: Api.MemoryStore }> = { path: '/v1/memory-stores/{}' };

export const deleteMemoryStore: Route<{ params: [memoryStoreId: string]; answer: void }> = { method: 'DELETE', path: '/v1/memory-stores/{}', answers: 'nothing' };

export interface ListMemoryEntriesQuery {
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
  /** Of the path, for example `people/`. */
  readonly prefix?: string;
}
export const listMemoryEntries: Route<{ params: [memoryStoreId: string]; query: ListMemoryEntriesQuery; answer: Api.MemoryVersionPage }> = { path: '/v1/memory-stores/{}/entries', takes: 'query' };

export interface SearchMemoryQuery {
  readonly query: string;
  readonly limit?: number;
}
export const searchMemory: Route<{ params: [memoryStoreId: string]; query: SearchMemoryQuery; answer: Api.MemoryMatches }> = { path: '/v1/memory-stores/{}/search', takes: 'query' };

export interface ReadMemoryEntryQuery {
  readonly path: string;
  readonly version?: number;
}
export const readMemoryEntry: Route<{ params: [memoryStoreId: string]; query: ReadMemoryEntryQuery; answer: Api.MemoryEntry }> = { path: '/v1/memory-stores/{}/entry', takes: 'query' };

export interface ListMemoryVersionsQuery {
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
  readonly path: string;
}
export const listMemoryVersions: Route<{ params: [memoryStoreId: string]; query: ListMemoryVersionsQuery; answer: Api.MemoryVersionPage }> = { path: '/v1/memory-stores/{}/entry/versions', takes: 'query' };

export interface WriteMemoryEntryQuery {
  readonly path: string;
}
export const writeMemoryEntry: Route<{ params: [memoryStoreId: string]; query: WriteMemoryEntryQuery; body: Api.NewMemoryVersion; answer: Api.MemoryEntry }> = { method: 'PUT', path: '/v1/memory-stores/{}/entry', takes: 'query and body' };

export interface DeleteMemoryEntryQuery {
  readonly path: string;
  /** The version that you know, 0 if there is none. Refused with `memory_entry_changed` if it is another one now. */
  readonly if_version?: number;
}
export const deleteMemoryEntry: Route<{ params: [memoryStoreId: string]; query: DeleteMemoryEntryQuery; answer: void }> = { method: 'DELETE', path: '/v1/memory-stores/{}/entry', takes: 'query', answers: 'nothing' };

export const getDeploymentHealth: Route<{ params: []; answer: Api.DeploymentHealth }> = { path: '/v1/admin/health' };

export const createProject: Route<{ params: []; body: Api.NewProject; answer: Api.Project }> = { method: 'POST', path: '/v1/projects', takes: 'body' };

export const listProjects: Route<{ params: []; query: PageQuery; answer: Api.ProjectPage }> = { path: '/v1/projects', takes: 'query' };

export const getProject: Route<{ params: [projectId: string]; answer: Api.Project }> = { path: '/v1/projects/{}' };

export const updateProject: Route<{ params: [projectId: string]; body: Api.ProjectChange; answer: Api.Project }> = { method: 'PATCH', path: '/v1/projects/{}', takes: 'body' };

export const deleteProject: Route<{ params: [projectId: string]; answer: void }> = { method: 'DELETE', path: '/v1/projects/{}', answers: 'nothing' };

export const createRun: Route<{ params: []; body: Api.NewRun; answer: Api.Run }> = { method: 'POST', path: '/v1/runs', takes: 'body' };

export const createRunOnThread: Route<{ params: [threadId: string]; body: Api.NewRunOnThread; answer: Api.Run }> = { method: 'POST', path: '/v1/threads/{}/runs', takes: 'body' };

export const stopRun: Route<{ params: [runId: string]; body: Api.StopRequest; answer: Api.Run }> = { method: 'POST', path: '/v1/runs/{}/stop', takes: 'body' };

export const answerRun: Route<{ params: [runId: string]; body: Api.Answer; answer: Api.Run }> = { method: 'POST', path: '/v1/runs/{}/input', takes: 'body' };

export const forkRun: Route<{ params: [runId: string]; body: Api.NewFork; answer: Api.Run }> = { method: 'POST', path: '/v1/runs/{}/fork', takes: 'body' };

export const retryRun: Route<{ params: [runId: string]; body: Api.NewRetry; answer: Api.Run }> = { method: 'POST', path: '/v1/runs/{}/retry', takes: 'body' };

export const raiseBudget: Route<{ params: [runId: string]; body: Api.BudgetRaise; answer: Api.Run }> = { method: 'POST', path: '/v1/runs/{}/budget', takes: 'body' };

export const resolveToolCall: Route<{ params: [toolCallId: string]; body: Api.ToolCallResolution; answer: Api.ToolCall }> = { method: 'POST', path: '/v1/tool-calls/{}/resolve', takes: 'body' };

export const giveToolCallInput: Route<{ params: [toolCallId: string]; body: Api.ToolCallInput; answer: Api.ToolCall }> = { method: 'POST', path: '/v1/tool-calls/{}/input', takes: 'body' };

export interface ListRunsQuery {
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
  /** One status, or several with commas between them. */
  readonly status?: string;
  /** Why finished runs ended: one reason, or several with commas between them. */
  readonly finish_reason?: string;
  /** The full name, as runs have it. */
  readonly model?: string;
  readonly thread_id?: string;
  readonly agent_id?: string;
  readonly project_id?: string;
  /** Those of this person. */
  readonly user?: string;
  /** Words that the input has, in any order; `"a phrase"`, `or`, and `-word` for one that it must not have. */
  readonly q?: string;
  /** The runs that calls of `run_agent` of this run have started. */
  readonly parent_run_id?: string;
  /** With `metadata_value`: those whose metadata has this value under this key. */
  readonly metadata_key?: string;
  readonly metadata_value?: string;
  /** Inclusive. */
  readonly created_from?: string;
  /** Exclusive. */
  readonly created_before?: string;
}
export const listRuns: Route<{ params: []; query: ListRunsQuery; answer: Api.RunPage }> = { path: '/v1/runs', takes: 'query' };

export interface CountRunsQuery {
  readonly thread_id?: string;
  readonly agent_id?: string;
  readonly project_id?: string;
}
export const countRuns: Route<{ params: []; query: CountRunsQuery; answer: Api.RunCounts }> = { path: '/v1/runs/counts', takes: 'query' };

export const getRun: Route<{ params: [runId: string]; answer: Api.Run }> = { path: '/v1/runs/{}' };

export const explainRun: Route<{ params: [runId: string]; answer: Api.RunWait }> = { path: '/v1/runs/{}/why' };

export interface PreviewRewindQuery {
  /** As of a fork. Absent: before the first call of the run that may have changed files. */
  readonly at_seq?: number;
  /** Before this message that a person wrote, as of an edit. It wins over `at_seq`. */
  readonly message_id?: string;
}
export const previewRewind: Route<{ params: [runId: string]; query: PreviewRewindQuery; answer: Api.RewindPreview }> = { path: '/v1/runs/{}/rewind-preview', takes: 'query' };

export interface WaitForRunQuery {
  readonly timeout_s?: number;
}
export const waitForRun: Route<{ params: [runId: string]; query: WaitForRunQuery; answer: Api.Run }> = { path: '/v1/runs/{}/wait', takes: 'query' };

export const listRunToolCalls: Route<{ params: [runId: string]; query: PageQuery; answer: Api.ToolCallPage }> = { path: '/v1/runs/{}/tool-calls', takes: 'query' };

export const getRunResult: Route<{ params: [runId: string]; answer: Api.AgentResult }> = { path: '/v1/runs/{}/result' };

export interface ListRunEventsQuery {
  /** Facts with a greater seq. */
  readonly after?: number;
  /** A page of long facts has fewer: read on until `head_seq`. */
  readonly limit?: number;
}
export const listRunEvents: Route<{ params: [runId: string]; query: ListRunEventsQuery; answer: Api.EventPage }> = { path: '/v1/runs/{}/events', takes: 'query' };

export const verifyRunEvents: Route<{ params: [runId: string]; answer: Api.LogVerification }> = { path: '/v1/runs/{}/events/verify' };

export interface StreamRunEventsQuery {
  /** `Last-Event-ID` wins over it. */
  readonly after?: number;
  /** The epoch of that fact: it tells whether the log still has it. */
  readonly after_epoch?: number;
}
export const streamRunEvents: Route<{ params: [runId: string]; query: StreamRunEventsQuery; answer: Response }> = { path: '/v1/runs/{}/stream', takes: 'query', answers: 'bytes' };

export interface ListSandboxesQuery {
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
  /** Only the sandbox that this thread has, alone or with its project. */
  readonly thread_id?: string;
}
export const listSandboxes: Route<{ params: []; query: ListSandboxesQuery; answer: Api.SandboxPage }> = { path: '/v1/sandboxes', takes: 'query' };

export const getSandbox: Route<{ params: [sandboxId: string]; answer: Api.SandboxStatus }> = { path: '/v1/sandboxes/{}' };

export const getThreadSandbox: Route<{ params: [threadId: string]; answer: Api.SandboxStatus }> = { path: '/v1/threads/{}/sandbox' };

export const ensureSandbox: Route<{ params: [threadId: string]; answer: Api.SandboxStatus }> = { method: 'POST', path: '/v1/threads/{}/sandbox' };

export const startSandbox: Route<{ params: [sandboxId: string]; answer: Api.SandboxStatus }> = { method: 'POST', path: '/v1/sandboxes/{}/start' };

export const stopSandbox: Route<{ params: [sandboxId: string]; answer: Api.SandboxStatus }> = { method: 'POST', path: '/v1/sandboxes/{}/stop' };

export const deleteSandbox: Route<{ params: [sandboxId: string]; answer: void }> = { method: 'DELETE', path: '/v1/sandboxes/{}', answers: 'nothing' };

export const getBrowser: Route<{ params: [sandboxId: string]; answer: Api.BrowserScreen }> = { path: '/v1/sandboxes/{}/browser' };

export const operateBrowser: Route<{ params: [sandboxId: string]; body: Api.BrowserOperation; answer: Api.BrowserScreen }> = { method: 'POST', path: '/v1/sandboxes/{}/browser/actions', takes: 'body', repeatable: false };

export const runCommand: Route<{ params: [sandboxId: string]; body: Api.SandboxCommand; answer: Response }> = { method: 'POST', path: '/v1/sandboxes/{}/commands', takes: 'body', answers: 'bytes', repeatable: false };

export interface ListFilesQuery {
  /** In `/workspace`: relative to it, or absolute. */
  readonly path?: string;
  /** 1 lists the directory itself. */
  readonly depth?: number;
}
export const listFiles: Route<{ params: [sandboxId: string]; query: ListFilesQuery; answer: Api.FileList }> = { path: '/v1/sandboxes/{}/files', takes: 'query' };

export interface ReadFileQuery {
  /** In `/workspace`: relative to it, or absolute. */
  readonly path: string;
}
export const readFile: Route<{ params: [sandboxId: string]; query: ReadFileQuery; answer: Response }> = { path: '/v1/sandboxes/{}/files/content', takes: 'query', answers: 'bytes' };

export interface WriteFileQuery {
  /** In `/workspace`: relative to it, or absolute. */
  readonly path: string;
}
export const writeFile: Route<{ params: [sandboxId: string]; query: WriteFileQuery; answer: Api.WrittenFile }> = { method: 'PUT', path: '/v1/sandboxes/{}/files/content', takes: 'query' };

export interface DeleteFileQuery {
  /** In `/workspace`: relative to it, or absolute. */
  readonly path: string;
  /** Needed for a directory, which goes with all that it has. */
  readonly recursive?: boolean;
}
export const deleteFile: Route<{ params: [sandboxId: string]; query: DeleteFileQuery; answer: void }> = { method: 'DELETE', path: '/v1/sandboxes/{}/files', takes: 'query', answers: 'nothing' };

export const createSchedule: Route<{ params: []; body: Api.NewSchedule; answer: Api.Schedule }> = { method: 'POST', path: '/v1/schedules', takes: 'body' };

export interface ListSchedulesQuery {
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
  /** Schedules whose runs name this agent. */
  readonly agent_id?: string;
}
export const listSchedules: Route<{ params: []; query: ListSchedulesQuery; answer: Api.SchedulePage }> = { path: '/v1/schedules', takes: 'query' };

export interface ListUpcomingRunsQuery {
  /** Of schedules whose runs name this agent. */
  readonly agent_id?: string;
  readonly limit?: number;
}
export const listUpcomingRuns: Route<{ params: []; query: ListUpcomingRunsQuery; answer: Api.UpcomingRuns }> = { path: '/v1/schedules/upcoming', takes: 'query' };

export interface PreviewDueTimesQuery {
  /** Minute, hour, day, month, weekday; six fields have seconds first. */
  readonly cron: string;
  readonly time_zone?: string;
  readonly count?: number;
}
export const previewDueTimes: Route<{ params: []; query: PreviewDueTimesQuery; answer: Api.DueTimes }> = { path: '/v1/due-times', takes: 'query' };

export const getSchedule: Route<{ params: [scheduleId: string]; answer: Api.Schedule }> = { path: '/v1/schedules/{}' };

export const updateSchedule: Route<{ params: [scheduleId: string]; body: Api.ScheduleChange; answer: Api.Schedule }> = { method: 'PATCH', path: '/v1/schedules/{}', takes: 'body' };

export const deleteSchedule: Route<{ params: [scheduleId: string]; answer: void }> = { method: 'DELETE', path: '/v1/schedules/{}', answers: 'nothing' };

export const pauseSchedule: Route<{ params: [scheduleId: string]; answer: Api.Schedule }> = { method: 'POST', path: '/v1/schedules/{}/pause' };

export const resumeSchedule: Route<{ params: [scheduleId: string]; answer: Api.Schedule }> = { method: 'POST', path: '/v1/schedules/{}/resume' };

export const runSchedule: Route<{ params: [scheduleId: string]; answer: Api.Run }> = { method: 'POST', path: '/v1/schedules/{}/run' };

export const listScheduleExecutions: Route<{ params: [scheduleId: string]; query: PageQuery; answer: Api.ExecutionPage }> = { path: '/v1/schedules/{}/executions', takes: 'query' };

export const createSecret: Route<{ params: []; body: Api.NewSecret; answer: Api.Secret }> = { method: 'POST', path: '/v1/secrets', takes: 'body' };

export interface ListSecretsQuery {
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
  /** Those of this project alone. */
  readonly project_id?: string;
}
export const listSecrets: Route<{ params: []; query: ListSecretsQuery; answer: Api.SecretPage }> = { path: '/v1/secrets', takes: 'query' };

export interface ListSecretUsesQuery {
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
  readonly secret_id?: string;
  readonly run_id?: string;
}
export const listSecretUses: Route<{ params: []; query: ListSecretUsesQuery; answer: Api.SecretUsePage }> = { path: '/v1/secrets/uses', takes: 'query' };

export const getSecret: Route<{ params: [secretId: string]; answer: Api.Secret }> = { path: '/v1/secrets/{}' };

export const updateSecret: Route<{ params: [secretId: string]; body: Api.SecretChange; answer: Api.Secret }> = { method: 'PATCH', path: '/v1/secrets/{}', takes: 'body' };

export const deleteSecret: Route<{ params: [secretId: string]; answer: void }> = { method: 'DELETE', path: '/v1/secrets/{}', answers: 'nothing' };

export const createSession: Route<{ params: []; body: Api.NewSession; answer: Api.Session }> = { method: 'POST', path: '/v1/session', takes: 'body', repeatable: false };

export const getSession: Route<{ params: []; answer: Api.Session }> = { path: '/v1/session' };

export const deleteSession: Route<{ params: []; answer: void }> = { method: 'DELETE', path: '/v1/session', answers: 'nothing' };

export const listSessions: Route<{ params: []; query: PageQuery; answer: Api.SessionPage }> = { path: '/v1/sessions', takes: 'query' };

export const endSession: Route<{ params: [sessionId: string]; answer: void }> = { method: 'DELETE', path: '/v1/sessions/{}', answers: 'nothing' };

export const createSessionLink: Route<{ params: []; body: Api.NewSession; answer: Api.SessionLink }> = { method: 'POST', path: '/v1/session/links', takes: 'body', repeatable: false };

export const getSettings: Route<{ params: []; answer: Api.StoredAccountSettings }> = { path: '/v1/settings' };

export const setSettings: Route<{ params: []; body: Api.NewAccountSettings; answer: Api.StoredAccountSettings }> = { method: 'PUT', path: '/v1/settings', takes: 'body' };

export interface ListSitesQuery {
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
  /** Only the sites of this thread. */
  readonly thread_id?: string;
}
export const listSites: Route<{ params: []; query: ListSitesQuery; answer: Api.SitePage }> = { path: '/v1/sites', takes: 'query' };

export const getSite: Route<{ params: [threadId: string, name: string]; answer: Api.Site }> = { path: '/v1/threads/{}/sites/{}' };

export const deleteSite: Route<{ params: [threadId: string, name: string]; answer: void }> = { method: 'DELETE', path: '/v1/threads/{}/sites/{}', answers: 'nothing' };

export const storeEvaluation: Route<{ params: [name: string]; body: Api.EvaluationToStore; answer: Api.Evaluation }> = { method: 'PUT', path: '/v1/evaluations/by-name/{}', takes: 'body' };

export const listEvaluations: Route<{ params: []; query: PageQuery; answer: Api.EvaluationPage }> = { path: '/v1/evaluations', takes: 'query' };

export const getEvaluation: Route<{ params: [evaluationId: string]; answer: Api.EvaluationWithResults }> = { path: '/v1/evaluations/{}' };

export const deleteEvaluation: Route<{ params: [evaluationId: string]; answer: void }> = { method: 'DELETE', path: '/v1/evaluations/{}', answers: 'nothing' };

export const createSkill: Route<{ params: []; answer: Api.Skill }> = { method: 'POST', path: '/v1/skills' };

export const listSkills: Route<{ params: []; query: PageQuery; answer: Api.SkillPage }> = { path: '/v1/skills', takes: 'query' };

export const getSkill: Route<{ params: [skillId: string]; answer: Api.Skill }> = { path: '/v1/skills/{}' };

export const deleteSkill: Route<{ params: [skillId: string]; answer: void }> = { method: 'DELETE', path: '/v1/skills/{}', answers: 'nothing' };

export const listSkillVersions: Route<{ params: [skillId: string]; query: PageQuery; answer: Api.SkillVersionPage }> = { path: '/v1/skills/{}/versions', takes: 'query' };

export const getSkillVersion: Route<{ params: [skillId: string, version: number]; answer: Api.SkillVersion }> = { path: '/v1/skills/{}/versions/{}' };

export const listSkillFiles: Route<{ params: [skillId: string, version: number]; answer: Api.SkillFiles }> = { path: '/v1/skills/{}/versions/{}/files' };

export interface ReadSkillFileQuery {
  readonly path: string;
}
export const readSkillFile: Route<{ params: [skillId: string, version: number]; query: ReadSkillFileQuery; answer: Response }> = { path: '/v1/skills/{}/versions/{}/file', takes: 'query', answers: 'bytes' };

export const readSkillArchive: Route<{ params: [skillId: string, version: number]; answer: Response }> = { path: '/v1/skills/{}/versions/{}/content', answers: 'bytes' };

export const createThread: Route<{ params: []; body: Api.NewThread; answer: Api.Thread }> = { method: 'POST', path: '/v1/threads', takes: 'body' };

export interface ListThreadsQuery {
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
  readonly project_id?: string;
  /** Those of this person. */
  readonly user?: string;
  /** Words that its title or the input of one of its runs has, written as for runs. */
  readonly q?: string;
  /** With `metadata_value`: those whose metadata has this value under this key. */
  readonly metadata_key?: string;
  readonly metadata_value?: string;
}
export const listThreads: Route<{ params: []; query: ListThreadsQuery; answer: Api.ThreadPage }> = { path: '/v1/threads', takes: 'query' };

export const getThread: Route<{ params: [threadId: string]; answer: Api.Thread }> = { path: '/v1/threads/{}' };

export const updateThread: Route<{ params: [threadId: string]; body: Api.ThreadChange; answer: Api.Thread }> = { method: 'PATCH', path: '/v1/threads/{}', takes: 'body' };

export const deleteThread: Route<{ params: [threadId: string]; answer: void }> = { method: 'DELETE', path: '/v1/threads/{}', answers: 'nothing' };

export const createMessage: Route<{ params: [threadId: string]; body: Api.NewMessage; answer: Api.Message }> = { method: 'POST', path: '/v1/threads/{}/messages', takes: 'body' };

export interface ListMessagesQuery {
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
  readonly type?: 'user' | 'assistant' | 'tool' | 'summary' | 'browser_state' | 'image_context' | 'status';
  /** Only messages that reach the model. */
  readonly llm_only?: boolean;
  /** `desc`: the newest first. */
  readonly order?: 'asc' | 'desc';
}
export const listMessages: Route<{ params: [threadId: string]; query: ListMessagesQuery; answer: Api.MessagePage }> = { path: '/v1/threads/{}/messages', takes: 'query' };

export const listLlmMessages: Route<{ params: [threadId: string]; answer: Api.LlmMessageList }> = { path: '/v1/threads/{}/llm-messages' };

export const getBlob: Route<{ params: [sha256: string]; answer: Response }> = { path: '/v1/blobs/{}', answers: 'bytes' };

export const getUser: Route<{ params: [user: string]; answer: Api.User }> = { path: '/v1/users/{}' };

export const eraseUser: Route<{ params: [user: string]; answer: Api.ErasedUser }> = { method: 'DELETE', path: '/v1/users/{}' };

export const createTrigger: Route<{ params: []; body: Api.NewWebhookTrigger; answer: Api.WebhookTriggerWithSecret }> = { method: 'POST', path: '/v1/triggers', takes: 'body', repeatable: false };

export interface ListTriggersQuery {
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
  /** Triggers whose runs name this agent. */
  readonly agent_id?: string;
}
export const listTriggers: Route<{ params: []; query: ListTriggersQuery; answer: Api.WebhookTriggerPage }> = { path: '/v1/triggers', takes: 'query' };

export const getTrigger: Route<{ params: [triggerId: string]; answer: Api.WebhookTrigger }> = { path: '/v1/triggers/{}' };

export const updateTrigger: Route<{ params: [triggerId: string]; body: Api.WebhookTriggerChange; answer: Api.WebhookTrigger }> = { method: 'PATCH', path: '/v1/triggers/{}', takes: 'body' };

export const deleteTrigger: Route<{ params: [triggerId: string]; answer: void }> = { method: 'DELETE', path: '/v1/triggers/{}', answers: 'nothing' };

export const rotateTriggerSecret: Route<{ params: [triggerId: string]; body: Api.SecretRotation; answer: Api.WebhookTriggerWithSecret }> = { method: 'POST', path: '/v1/triggers/{}/rotate-secret', takes: 'body', repeatable: false };

export const listTriggerExecutions: Route<{ params: [triggerId: string]; query: PageQuery; answer: Api.ExecutionPage }> = { path: '/v1/triggers/{}/executions', takes: 'query' };

export const createWebhookEndpoint: Route<{ params: []; body: Api.NewWebhookEndpoint; answer: Api.WebhookEndpointWithSecret }> = { method: 'POST', path: '/v1/webhooks', takes: 'body', repeatable: false };

export const listWebhookEndpoints: Route<{ params: []; query: PageQuery; answer: Api.WebhookEndpointPage }> = { path: '/v1/webhooks', takes: 'query' };

export const getWebhookEndpoint: Route<{ params: [endpointId: string]; answer: Api.WebhookEndpoint }> = { path: '/v1/webhooks/{}' };

export const updateWebhookEndpoint: Route<{ params: [endpointId: string]; body: Api.WebhookEndpointChange; answer: Api.WebhookEndpoint }> = { method: 'PATCH', path: '/v1/webhooks/{}', takes: 'body' };

export const deleteWebhookEndpoint: Route<{ params: [endpointId: string]; answer: void }> = { method: 'DELETE', path: '/v1/webhooks/{}', answers: 'nothing' };

export const rotateWebhookSecret: Route<{ params: [endpointId: string]; body: Api.SecretRotation; answer: Api.WebhookEndpointWithSecret }> = { method: 'POST', path: '/v1/webhooks/{}/rotate-secret', takes: 'body', repeatable: false };

export const testWebhookEndpoint: Route<{ params: [endpointId: string]; answer: Api.WebhookDelivery }> = { method: 'POST', path: '/v1/webhooks/{}/test' };

export interface ListWebhookDeliveriesQuery {
  readonly limit?: number;
  /** The `next_cursor` of the page before. */
  readonly after?: string;
  /** `dead`: what was given up. */
  readonly status?: 'pending' | 'delivered' | 'dead';
  readonly endpoint_id?: string;
  readonly run_id?: string;
  readonly type?: 'run.started' | 'run.waiting' | 'run.resumed' | 'run.completed' | 'run.failed' | 'run.stopped' | 'approval.requested' | 'approval.decided' | 'usage.recorded' | 'webhook.test';
}
export const listWebhookDeliveries: Route<{ params: []; query: ListWebhookDeliveriesQuery; answer: Api.WebhookDeliveryPage }> = { path: '/v1/webhooks/deliveries', takes: 'query' };

export const getWebhookDelivery: Route<{ params: [deliveryId: string]; answer: Api.WebhookDelivery }> = { path: '/v1/webhooks/deliveries/{}' };

export const redeliverWebhook: Route<{ params: [deliveryId: string]; answer: Api.WebhookDelivery }> = { method: 'POST', path: '/v1/webhooks/deliveries/{}/redeliver' };
