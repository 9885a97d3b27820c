import { type Delta, type Run, type ToolCall, callId } from '@rondo/contract';
import { callTimeoutMs, mostCallMs, tools } from '@rondo/domain';
import {
  type NatsLink,
  NatsTools,
  PendingCancellations,
  type QueueShares,
  type ToolStreams,
  requestMcpList,
} from '@rondo/messaging';
import { type Blobs, type Database, McpToolDefinitions, type SecretOpenings } from '@rondo/persistence';
import { newUlid, toTraceparent, toolName } from '@rondo/platform';
import { callSpanId } from '@rondo/run-holder';
import { ImagesToBlobs } from './images-to-blobs';
import type { AgentRunnerParts } from './agent-runner-parts';
import { McpCatalog } from './mcp-catalog';
import type { SandboxPlacement } from './sandbox-placement';

/** Before an executor that does not answer is asked again. */
const pauseMs = 1_000;

interface Adapters {
  readonly database: Database;
  readonly nats: NatsLink;
  readonly toolStreams: ToolStreams;
  readonly queueShares: QueueShares;
  readonly blobs: Blobs;
}

/** Which tools the MCP servers of runs have. `startMs`: how long a server may take that is a command. */
export function createMcpCatalog(
  { nats, database, secretOpenings }: Pick<Adapters, 'nats' | 'database'> & { readonly secretOpenings: SecretOpenings },
  { placement, startMs }: { readonly placement: SandboxPlacement; readonly startMs: number },
): McpCatalog {
  const definitions = new McpToolDefinitions(database, newUlid);
  return new McpCatalog({
    builtIn: tools,
    placement: placement.ofRun.bind(placement),
    untilConnected: nats.untilConnected.bind(nats),
    pauseMs,
    list: (executorId, request) => requestMcpList(nats, executorId, { ...request, start_ms: startMs }),
    newCallId: () => callId.parse(`call_${newUlid()}`),
    awaitsSecret: secretOpenings.isAwaited.bind(secretOpenings),
    note: definitions.note.bind(definitions),
    known: async (account, server) =>
      (await definitions.findAccepted(account, server)).map((tool) => ({
        ...tool,
        name: toolName(server.name, tool.tool),
      })),
  });
}

/** The tools of a run, called at the executor of its sandbox. */
export function toTools(
  { nats, toolStreams, queueShares, blobs }: Omit<Adapters, 'database'>,
  placement: SandboxPlacement,
): AgentRunnerParts['toolsFor'] {
  const pendingCancellations = new PendingCancellations(nats);
  return ({ runId, accountId, workspaceId, epoch, run, executorId }, journal, toolSet) =>
    new ImagesToBlobs(
      new NatsTools({
        nats,
        streams: toolStreams,
        pendingCancellations,
        shares: queueShares,
        runId,
        accountId,
        threadId: workspaceId,
        epoch,
        toolSet,
        mcpServers: run.settings.mcp_servers ?? [],
        secrets: run.settings.secrets ?? [],
        skills: run.settings.skills,
        environment: run.settings.environment,
        placement: async (thread) => executorId ?? placement.of(thread),
        moves: placement,
        onOutput: (delta: Delta) => journal.publishDelta(delta),
        toTimeoutMs: (tool) => callTimeoutMs(run.settings, tool),
        toMostMs: (tool) => mostCallMs(run.settings, tool),
        toTraceparent: listTraceparents(run),
      }),
      (image) => blobs.keep(runId, image),
    );
}

/** The spans of the run's calls follow from their ids, so they can be named before they are written. */
const listTraceparents = ({ trace_id: traceId }: Run) =>
  traceId === null
    ? undefined
    : ({ id, attempt }: ToolCall) => toTraceparent({ traceId, spanId: callSpanId(id, attempt) });
