import type { BudgetRaised, McpConnected, NoteRow, RunForked } from '@rondo/client';
import { count, duration } from '../ui/amounts.ts';
import { RunLink } from './run-origin.tsx';

export function NoteItem({ row }: { readonly row: NoteRow }) {
  const { fact } = row;
  return (
    <p className={`note ${fact.type.replace('.', '-')}`}>
      {toSentence(fact)}
      {fact.type === 'run.forked' && (
        <>
          {' '}
          <RunLink id={fact.data.run_id} seq={fact.data.seq} />
        </>
      )}
    </p>
  );
}

const replacedSentence = (unknown: readonly string[]): string =>
  'The database was replaced by another that may lack the last facts before this one. ' +
  (unknown.length === 0 ? 'No call was lost.' : `It is not known what these calls did: ${unknown.join(', ')}.`);

/** What the fact says, in one sentence. */
export function toSentence(fact: NoteRow['fact']): string {
  switch (fact.type) {
    case 'iteration.restarted':
      return 'Another worker took over. What the first one had not finished was withdrawn; nothing is lost.';
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
      return `The budget was raised to ${wholeBudget(fact.data)} with the key ${fact.data.raised_by}.`;
    case 'mcp.connected':
      return connectedSentence(fact.data);
    case 'mcp.skipped':
      return `The MCP server ${fact.data.server} was left out, and the run has no tools of it: ${fact.data.reason}`;
    case 'tool.input_requested':
      return fact.data.elicitations.map(({ server, message }) => `The MCP server ${server} asks: ${message}`).join(' ');
    case 'tool.input_given':
      return `${fact.data.answered_by === null ? 'The time was over' : 'A person answered'}, and ${fact.data.name} is told: ${fact.data.action}.`;
    case 'database.replaced':
      return replacedSentence(fact.data.unknown_calls.map(({ name }) => name));
    case 'tool.resolved':
      return `A person ruled on ${fact.data.name}: ${rulings[fact.data.outcome]}.`;
  }
}

function wholeBudget({ usd, tokens }: BudgetRaised['data']): string {
  const limits = [
    ...(usd === undefined ? [] : [`$${usd}`]),
    ...(tokens === undefined ? [] : [`${count(tokens)} tokens`]),
  ];
  return limits.join(' and ');
}

function connectedSentence({ server, tools, refused }: McpConnected['data']): string {
  const offered = `The MCP server ${server} is connected: ${tools.length === 1 ? '1 tool' : `${tools.length} tools`}`;
  const names = refused.map(({ tool, reason }) => `${tool} (${reason})`).join(', ');
  return refused.length === 0 ? `${offered}.` : `${offered}; not offered: ${names}.`;
}

function forkSentence({ data: { seq, cut_back: cutBack, model } }: RunForked): string {
  const shared = `The fork begins here: facts 1…${seq} are those of its origin`;
  const why = cutBack === null ? '' : `, because ${cutBack}`;
  return `${shared}${why}.${model === undefined ? '' : ` ${model} goes on.`}`;
}

const rulings = { completed: 'it took effect', not_applied: 'it did not take effect', retry: 'it is sent again' };
