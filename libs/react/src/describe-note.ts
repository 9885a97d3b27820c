import type {
  BudgetRaised,
  McpConnected,
  NoteRow,
  RunForked,
  WorkspacePrepared,
  WorkspaceRewound,
} from '@rondo/client';
import { listEnvironment } from './list-environment.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** `40 ms`, `1.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`. What took no whole millisecond took less than one. */
export function duration(ms: number): string {
  if (ms < 1) return '< 1 ms';
  if (Math.round(ms) < second) return `${Math.round(ms)} ms`;
  if (ms < 10 * second) return `${(ms / second).toFixed(1)} s`;
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < hour) return `${Math.floor(ms / minute)} min ${Math.floor((ms % minute) / second)} s`;
  if (ms < day) return `${Math.floor(ms / hour)} h ${Math.floor((ms % hour) / minute)} min`;
  return `${Math.floor(ms / day)} d ${Math.floor((ms % day) / hour)} h`;
}

export function bytes(size: number): string {
  if (size < 1024) return `${size} B`;
  const kibibytes = size / 1024;
  return kibibytes < 1024 ? `${kibibytes.toFixed(1)} KiB` : `${(kibibytes / 1024).toFixed(1)} MiB`;
}

/** Made once: to make one for each number took most of the time. */
const numbers = new Intl.NumberFormat('en-US');

export const count = (value: number): string => numbers.format(value);

type NoteData<Type> = Extract<NoteRow['fact'], { type: Type }>['data'];

const describeReplaced = (unknown: readonly string[]): string =>
  'The database was replaced by another that may lack the last facts before this one. ' +
  (unknown.length === 0 ? 'No call was lost.' : `It is not known what these calls did: ${unknown.join(', ')}.`);

/** What a fact beside messages and calls says, in one sentence. */
export function describeNote(fact: NoteRow['fact']): string {
  switch (fact.type) {
    case 'iteration.restarted':
      return restartSentence(fact.data);
    case 'model.retried':
      return `The model failed (${fact.data.error.code}). Attempt ${fact.data.attempt + 1} after ${duration(fact.data.delay_ms)}.`;
    case 'model.fell_back':
      return `${fact.data.from} failed (${fact.data.error.code}); ${fact.data.to} answers instead.`;
    case 'context.compaction_started':
      return `Summarizes older messages: ${count(fact.data.tokens_before)} tokens are too many.`;
    case 'context.compacted':
      return `Made the conversation shorter: ${count(fact.data.tokens_before)} → ${count(fact.data.tokens_after)} tokens.`;
    case 'context.compaction_failed':
      return `Could not summarize older messages (${fact.data.error.code}); goes on without.`;
    case 'run.forked':
      return forkSentence(fact);
    case 'budget.raised':
      return `The budget was raised to ${wholeBudget(fact.data)} ${nameCaller(fact.data.raised_by)}.`;
    case 'mcp.connected':
      return describeConnected(fact.data);
    case 'mcp.skipped':
      return `The MCP server ${fact.data.server} was left out, and the run has no tools of it: ${fact.data.reason}`;
    case 'workspace.preparing':
      return `Prepares the workspace: ${listEnvironment(fact.data).join(', ') || 'nothing is asked for'}.`;
    case 'workspace.prepared':
      return `The workspace is prepared${repositorySentence(fact.data.repository)}, after ${duration(fact.data.duration_ms)}.`;
    case 'workspace.rewinding':
      return 'Brings the files of the workspace back to an earlier state.';
    case 'workspace.rewound':
      return rewoundSentence(fact.data);
    case 'tool.input_requested':
      return fact.data.elicitations.map(({ server, message }) => `The MCP server ${server} asks: ${message}`).join(' ');
    case 'tool.input_given':
      return `${fact.data.answered_by === null ? 'The time was over' : 'A person answered'}, and ${fact.data.name} is told: ${fact.data.action}.`;
    case 'tool.task_created':
      return taskSentence(fact.data);
    case 'secret.requested':
      return `Waits for a person: may this run use the secret ${fact.data.name}? It would send it with ${fact.data.method} ${fact.data.path} to ${fact.data.host}.`;
    case 'secret.decided':
      return `${decisions[fact.data.outcome]} the secret ${fact.data.name}${fact.data.reason === null ? '' : `: ${fact.data.reason}`}.`;
    case 'database.replaced':
      return describeReplaced(fact.data.unknown_calls.map(({ name }) => name));
    case 'tool.resolved':
      return `A person ruled on ${fact.data.name}: ${rulings[fact.data.outcome]}.`;
  }
}

const restartSentence = ({ retry }: NoteData<'iteration.restarted'>): string =>
  retry
    ? `The reply broke off (${retry.error.code}) and was withdrawn. Attempt ${retry.attempt + 1} after ${duration(retry.delay_ms)}.`
    : 'What was not finished of the reply was withdrawn; nothing else is lost.';

const taskSentence = ({ name, reason }: { readonly name: string; readonly reason?: string }): string =>
  reason === undefined
    ? `The server of ${name} goes on with the call as a task.`
    : `The task of ${name} is asked for anew: ${reason}`;

function wholeBudget({ usd, tokens }: BudgetRaised['data']): string {
  const limits = [
    ...(usd === undefined ? [] : [`$${usd}`]),
    ...(tokens === undefined ? [] : [`${count(tokens)} tokens`]),
  ];
  return limits.join(' and ');
}

function describeConnected({ server, tools, refused }: McpConnected['data']): string {
  const offered = `The MCP server ${server} is connected: ${tools.length === 1 ? '1 tool' : `${tools.length} tools`}`;
  const names = refused.map(({ tool, reason }) => `${tool} (${reason})`).join(', ');
  return refused.length === 0 ? `${offered}.` : `${offered}; not offered: ${names}.`;
}

const repositorySentence = (repository: WorkspacePrepared['data']['repository']): string =>
  repository === null ? '' : `: ${repository.path} is at ${repository.commit.slice(0, 12)}`;

function forkSentence({ data: { seq, cut_back: cutBack, model } }: RunForked): string {
  const shared = `The fork begins here: facts 1…${seq} are those of its origin`;
  const why = cutBack === null ? '' : `, because ${cutBack}`;
  return `${shared}${why}.${model === undefined ? '' : ` ${model} goes on.`}`;
}

const rewoundSentence = ({ created, changed, removed, duration_ms: tookMs }: WorkspaceRewound['data']): string =>
  `The files are as they were then: ${created.count} came back, ${changed.count} changed, ${removed.count} removed, after ${duration(tookMs)}.`;

const rulings = { completed: 'it took effect', not_applied: 'it did not take effect', retry: 'it is sent again' };

const decisions = {
  approve: 'A person allowed this run to use',
  deny: 'A person denied this run',
  expire: 'No person allowed in time',
};

/** A decision of a person from an outside issuer has the id of that user in place of a key's. */
export const nameCaller = (id: string): string => (id.startsWith('key_') ? `with the key ${id}` : `by ${id}`);
