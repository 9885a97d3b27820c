import {
  type EnvironmentOffers,
  type NatsLink,
  ToolCallConsumer,
  ToolStreams,
  connectNats,
  requestHosting,
  requestMcpToken,
  requestSecret,
  requestSkill,
} from '@rondo/messaging';
import { type Logger, OutboundProxy, SecretBox, newUlid, openTracing, KeyedMutex } from '@rondo/platform';
import { type Config, toSandboxSettings, toSlots } from './config';
import { ExecutorIdentity } from './executor-identity';
import { ExecutorGauges, ToolCallMetrics } from './executor-metrics';
import { McpTools } from './mcp/mcp-tools';
import { type DirectoryAge, requireOwnDirectory, sharedDirectory } from './hosting/own-directory';
import { McpResponder } from './mcp/mcp.responder';
import {
  SandboxHealth,
  type SandboxProvider,
  SandboxSlots,
  TermsInUse,
  createSandboxProvider,
  deletionNotice,
} from './sandboxes';
import { SkillFolders } from './skills/skill-folders';
import { AskedSecrets, type SecretSource } from './secrets/secret-source';
import { SiteStore } from './sites/site-store';
import { SandboxAccess } from './hosting/sandbox-access';
import { SandboxReconciler } from './hosting/sandbox-reconciler';
import { SandboxRetention } from './hosting/sandbox-retention';
import { readCopySettings } from './sandboxes/snapshots/snapshot-variables';
import { SandboxStates } from './hosting/sandbox-states';
import { SandboxResponder } from './hosting/sandbox.responder';
import { ToolCallProcessor } from './tools/tool-call.processor';
import { BrowserOperator } from './tools/browser/browser-operator';
import { PreviewUrls } from './sites/preview-urls';
import { listLackedNeeds, listLackedParts, listOfferedParts } from './tools/lacked-needs';
import { createToolServices } from './tools/tool-services';
import { ToolRunner, type ToolSandboxes } from './tools/tool-runner';
import { WorkspaceAdoptions } from './hosting/workspace-adoptions';
import { WorkspaceHosting } from './hosting/workspace-ownership';
import { traceCall } from './tools/traced-call';

/** Every part of one executor. */
export interface ExecutorParts {
  readonly config: Config;
  readonly identity: ExecutorIdentity;
  readonly nats: NatsLink;
  readonly sandboxes: SandboxProvider;
  readonly sandboxSlots: SandboxSlots;
  readonly sandboxHealth: SandboxHealth;
  readonly sandboxResponder: SandboxResponder;
  readonly sandboxReconciler: SandboxReconciler;
  readonly sandboxRetention: SandboxRetention;
  readonly sandboxAccess: SandboxAccess;
  readonly hosting: WorkspaceHosting;
  readonly workspaceAdoptions: WorkspaceAdoptions;
  readonly mcpResponder: McpResponder;
  readonly consumer: ToolCallConsumer;
  readonly toolCallProcessor: ToolCallProcessor;
  readonly toolCallMetrics: ToolCallMetrics;
  readonly gauges: ExecutorGauges;
  /** What it lacks for tools, with the reason. */
  readonly lacks: Readonly<Record<string, string>>;
  /** What environments may ask for. */
  readonly offers: () => EnvironmentOffers | undefined;
  /** To be called when no tool call runs any more. Releases the executor's id last, so that no second process has it early. */
  close(): Promise<void>;
}

/** Builds an executor from plain classes. Nest then starts and stops the parts that have lifecycle hooks. */
export async function compose(config: Config, log: Logger): Promise<ExecutorParts> {
  const identity = await ExecutorIdentity.assume(config.EXECUTOR_ID_FILE, {
    requested: config.EXECUTOR_ID,
    generate: () => `exe_${newUlid()}`,
  });
  const { id: executorId } = identity;
  const directory =
    config.SANDBOX_SNAPSHOTS === undefined
      ? sharedDirectory
      : await requireOwnDirectory(config.SANDBOX_ROOT, executorId);
  const nats = await connectNats({ url: config.NATS_URL, name: `tool-executor ${executorId}`, log });

  const box = config.SECRETS_KEY === undefined ? undefined : new SecretBox(config.SECRETS_KEY, 'mcp');
  const secretSource = box && createSecretSource(box, nats, executorId);
  const turns = new KeyedMutex();
  const { previews, sites, ...sandboxParts } = await composeSandboxes({
    ...{ config, executorId, directory, nats, log, turns, secretSource },
  });
  const { sandboxes, sandboxSlots, hosting, terms } = sandboxParts;
  const services = createToolServices(config, { proxy: OutboundProxy.from(config), box });
  const mcp = new McpTools(box, secretSource);
  const toolRunner = new ToolRunner({
    sandboxes: {
      ...toToolSandboxes(sandboxes, previews),
      requireHere: hosting.require.bind(hosting),
      holdTerms: terms.hold.bind(terms),
    },
    slots: sandboxSlots,
    ...{ services, mcp, sites, log, turns },
    skills: new SkillFolders({ ask: (question) => requestSkill(nats, executorId, question) }),
  });
  const tracing = await openTracing(config, { service: 'tool-executor', log });
  const toolCallMetrics = new ToolCallMetrics();
  const slots = toSlots(config);
  const consumer = new ToolCallConsumer({
    ...{ nats, executorId, slots },
    streams: new ToolStreams(nats, { createsStreams: false }), // NATS lets only workers create them
    handle: (call, { signal, output }) =>
      toolCallMetrics.measure(call.name, () =>
        traceCall(tracing, call, () => toolRunner.run(call, { signal, output: (text) => output(text, 'stdout') })),
      ),
  });
  return {
    lacks: { ...listLackedNeeds(config, services), ...listLackedParts(config) },
    offers: () => listOfferedParts(toSandboxSettings(config), sandboxParts.sandboxHealth.capabilities),
    ...{ config, identity, nats, consumer, toolCallMetrics, ...sandboxParts },
    toolCallProcessor: new ToolCallProcessor(consumer, config.TOOL_DRAIN_S * 1_000),
    mcpResponder: new McpResponder({ nats, executorId, mcp, sandboxes, slots: sandboxSlots, hosting, terms, log }),
    gauges: new ExecutorGauges({ ...sandboxParts, slots, load: () => consumer.load }),
    close: async () => {
      await mcp.close();
      await sandboxes.close();
      await nats.close();
      await tracing.close();
      await identity.release();
    },
  };
}

const createSecretSource = (box: SecretBox, nats: NatsLink, executorId: string): AskedSecrets =>
  new AskedSecrets({
    box,
    ask: (question) => requestSecret(nats, executorId, question),
    askToken: (question) => requestMcpToken(nats, executorId, question),
  });

interface SandboxContext {
  readonly config: Config;
  readonly executorId: string;
  readonly directory: DirectoryAge;
  readonly nats: NatsLink;
  readonly log: Logger;
  readonly turns: KeyedMutex;
  readonly secretSource: SecretSource | undefined;
}

/** The sandboxes, and who looks after them and answers questions about them. */
async function composeSandboxes({ config, executorId, directory, nats, log, turns, secretSource }: SandboxContext) {
  const sandboxes = createSandboxProvider(toSandboxSettings(config), log, {
    copies: readCopySettings(config, executorId),
    proxy: OutboundProxy.from(config),
    secretSource,
  });
  const sandboxSlots = new SandboxSlots(config.SANDBOX_MAX, sandboxes, log);
  const sandboxHealth = new SandboxHealth(sandboxes, log);
  await sandboxHealth.problem(); // Probed before the executor is ready, so that a problem is in its log by then.

  const previews = new PreviewUrls(config.PREVIEW_URL);
  const { freeDisk } = sandboxes;
  const sites = new SiteStore({
    ...{ root: config.SANDBOX_ROOT, previews, maxBytes: config.SITES_MB * mebibyte },
    ...(freeDisk && { requireSpace: () => freeDisk.require() }),
  });
  const hosting = new WorkspaceHosting({
    ...{ executorId, directory, sandboxes, sites, log, losses: () => nats.losses },
    ask: (asked, before) => requestHosting(nats, executorId, { asked, before }),
  });
  const reached = { nats, executorId, sandboxes, sites };
  const terms = new TermsInUse(sandboxes);
  return {
    ...{ sandboxes, sandboxSlots, sandboxHealth, previews, sites, hosting, terms },
    sandboxResponder: new SandboxResponder(reached),
    sandboxAccess: new SandboxAccess({
      ...{ ...reached, slots: sandboxSlots, previews, hosting, terms, operator: new BrowserOperator(turns) },
      states: new SandboxStates({ sandboxes, usdPerHour: config.SANDBOX_USD_PER_H }),
    }),
    sandboxReconciler: new SandboxReconciler({
      ...{ sandboxes, sites, hosting, log, everyMs: config.SANDBOX_RECONCILE_S * 1_000 },
    }),
    sandboxRetention: new SandboxRetention({ sandboxes, hosting, log, ...toRetention(config) }),
    workspaceAdoptions: new WorkspaceAdoptions({ nats, executorId, copies: sandboxes.copies, hosting, log }),
  };
}

const hourMs = 3_600_000;
const mebibyte = 1024 * 1024;

const toRetention = ({ SANDBOX_ARCHIVE_H, SANDBOX_DELETE_DAYS }: Config) => ({
  archiveAfterMs: SANDBOX_ARCHIVE_H * hourMs,
  deleteAfterMs: SANDBOX_DELETE_DAYS * 24 * hourMs,
});

const toToolSandboxes = (sandboxes: SandboxProvider, previews: PreviewUrls): ToolSandboxes => ({
  get: sandboxes.get.bind(sandboxes),
  ...(sandboxes.moments && { moments: sandboxes.moments }),
  ...(sandboxes.openSkills && { openSkills: sandboxes.openSkills.bind(sandboxes) }),
  toEgress: sandboxes.toEgress.bind(sandboxes),
  previewUrl: previews.findUrl.bind(previews),
  deletionNotice: (threadId, callId) => deletionNotice(sandboxes, threadId, callId),
});
