import type { Command } from '../command';
import type { RouteCommand, RouteId } from './route-command';

/** A route, and for a list the fields that a table shows of each item. */
type Entry = RouteId | readonly [list: RouteId, columns: string];

const executions = 'id status reason due_at fired_at run_id run_status';

/**
 * What the command line offers of the API beside the commands that are written by hand: a command for each route, named after
 * its resource. Arguments, options and texts come from the route.
 */
const table: Readonly<Record<string, Readonly<Record<string, Entry>>>> = {
  threads: {
    ls: ['listThreads', 'id title preview agent_id project_id is_public created_at'],
    get: 'getThread',
    create: 'createThread',
    update: 'updateThread',
    delete: 'deleteThread',
    messages: ['listMessages', 'id type run_id created_at content'],
    'add-message': 'createMessage',
    agent: 'getThreadAgent',
    sandbox: 'getThreadSandbox',
  },
  'client-tokens': {
    ls: ['listClientTokens', 'id user thread_id scopes created_at expires_at revoked_at'],
    create: 'createClientToken',
    revoke: 'revokeClientToken',
  },
  users: {
    get: 'getUser',
    erase: 'eraseUser',
  },
  projects: {
    ls: ['listProjects', 'id name sandbox is_public created_at'],
    get: 'getProject',
    create: 'createProject',
    update: 'updateProject',
    delete: 'deleteProject',
  },
  runs: {
    get: 'getRun',
    count: 'countRuns',
    result: 'getRunResult',
    calls: ['listRunToolCalls', 'id name status iteration'],
  },
  budget: { raise: 'raiseBudget' },
  agents: {
    create: 'createAgent',
    update: 'updateAgent',
    delete: 'deleteAgent',
    versions: ['listAgentVersions', 'version note created_at'],
    version: 'getAgentVersion',
    annotate: 'updateAgentVersion',
    activate: 'activateAgentVersion',
    compare: 'compareAgentVersions',
  },
  schedules: {
    ls: ['listSchedules', 'id name cron time_zone is_paused next_fire_at'],
    upcoming: ['listUpcomingRuns', 'due_at schedule_id schedule_name time_zone'],
    'due-times': ['previewDueTimes', 'due_at'],
    get: 'getSchedule',
    create: 'createSchedule',
    update: 'updateSchedule',
    delete: 'deleteSchedule',
    pause: 'pauseSchedule',
    resume: 'resumeSchedule',
    run: 'runSchedule',
    executions: ['listScheduleExecutions', executions],
  },
  triggers: {
    ls: ['listTriggers', 'id name signature overlap thread is_paused created_at'],
    get: 'getTrigger',
    create: 'createTrigger',
    update: 'updateTrigger',
    delete: 'deleteTrigger',
    'rotate-secret': 'rotateTriggerSecret',
    executions: ['listTriggerExecutions', executions],
  },
  webhooks: {
    ls: ['listWebhookEndpoints', 'id url events is_paused created_at'],
    get: 'getWebhookEndpoint',
    create: 'createWebhookEndpoint',
    update: 'updateWebhookEndpoint',
    delete: 'deleteWebhookEndpoint',
    test: 'testWebhookEndpoint',
    'rotate-secret': 'rotateWebhookSecret',
    deliveries: ['listWebhookDeliveries', 'id endpoint_id type status attempts created_at'],
    delivery: 'getWebhookDelivery',
    redeliver: 'redeliverWebhook',
  },
  secrets: {
    ls: ['listSecrets', 'id name project_id allowed_hosts expires_at created_at'],
    get: 'getSecret',
    create: 'createSecret',
    update: 'updateSecret',
    delete: 'deleteSecret',
    uses: ['listSecretUses', 'at name via method host path status refusal'],
  },
  skills: {
    ls: ['listSkills', 'id name version file_count description'],
    get: 'getSkill',
    versions: ['listSkillVersions', 'version sha256 size file_count created_at'],
    version: 'getSkillVersion',
  },
  memory: {
    ls: ['listMemoryStores', 'id name project_id agent_id user entry_count size updated_at'],
    get: 'getMemoryStore',
    create: 'createMemoryStore',
    delete: 'deleteMemoryStore',
    entries: ['listMemoryEntries', 'path version size written_by created_at'],
    search: ['searchMemory', 'path version excerpt'],
    read: 'readMemoryEntry',
    versions: ['listMemoryVersions', 'version size written_by created_at'],
    write: 'writeMemoryEntry',
    forget: 'deleteMemoryEntry',
  },
  evaluations: {
    ls: ['listEvaluations', 'id name agent model right scored errors cost_usd updated_at'],
    get: 'getEvaluation',
    delete: 'deleteEvaluation',
  },
  sandboxes: {
    ls: ['listSandboxes', 'id thread_id provider state used_at disk_bytes'],
    get: 'getSandbox',
    ensure: 'ensureSandbox',
    start: 'startSandbox',
    stop: 'stopSandbox',
    delete: 'deleteSandbox',
  },
  sites: {
    ls: ['listSites', 'thread_id name url files bytes published_at'],
    get: 'getSite',
    delete: 'deleteSite',
  },
  uploads: {
    ls: ['listUploadedFiles', 'id name media_type size created_at'],
    get: 'getUploadedFile',
    delete: 'deleteUploadedFile',
  },
  models: { ls: ['listModels', 'id context_window'] },
  tools: { ls: ['listTools', 'name description'] },
  usage: { entries: ['listUsageEntries', 'created_at run_id model input_tokens output_tokens cost_usd'] },
  balance: { '': 'getBalance' },
  accounts: {
    ls: ['listAccounts', 'id name tier created_at'],
    create: 'createAccount',
    delete: 'removeAccount',
    balance: 'getAccountBalance',
    tier: 'setAccountTier',
    credit: 'giveCredit',
  },
  audit: { ls: ['listAudit', 'at action target outcome caller_id address'] },
  sessions: {
    ls: ['listSessions', 'id caller_id scopes created_at expires_at'],
    end: 'endSession',
  },
  settings: { get: 'getSettings', set: 'setSettings' },
  health: { '': 'getDeploymentHealth' },
};

/** The schemas of the API are read when a command is loaded, since most commands do without them. */
interface ResourceCommand extends RouteCommand {
  readonly load: () => Promise<Command>;
}

export const resourceCommands: readonly ResourceCommand[] = Object.entries(table).flatMap(([resource, verbs]) =>
  Object.entries(verbs).map(([verb, entry]) => {
    const [route, columns = ''] = typeof entry === 'string' ? [entry] : entry;
    const described = { name: `${resource} ${verb}`.trim(), route, columns: columns.split(' ').filter(Boolean) };
    return {
      ...described,
      load: async () => (await import('./route-command.ts')).createRouteCommand(described),
    };
  }),
);
