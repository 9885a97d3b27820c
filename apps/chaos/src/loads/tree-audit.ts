import type { Run } from '@rondo/client';
import { isTerminal } from '@rondo/contract';
import type { Fact } from '@rondo/test-deployment';
import { receiptIn } from '../test-bed/stopped-run';
import { repeats } from './load';
import { type TreeKind, toAnswer, mostTokens } from './trees';

/** The runs of a tree, as the API lists them. */
export interface Tree {
  readonly kind: TreeKind;
  readonly tag: string;
  readonly rootId: string;
  readonly runs: readonly Run[];
}

export interface TreeFindings {
  /** How many calls of `run_agent` were sent. */
  readonly calls: number;
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  readonly overspent: readonly string[];
  readonly unreached: readonly string[];
}

export function judgeTree(tree: Tree, facts: ReadonlyMap<string, readonly Fact[]>): TreeFindings {
  const parents = tree.runs.map((run) => judgeCalls(tree, run, facts.get(run.id) ?? []));
  const spent = tree.runs.reduce((total, { usage }) => total + usage.input_tokens + usage.output_tokens, 0);
  const isLimited = tree.kind === 'budget ends';
  return {
    calls: parents.reduce((total, { calls }) => total + calls, 0),
    lost: parents.flatMap(({ lost }) => lost),
    doubled: parents.flatMap(({ doubled }) => doubled),
    overspent: isLimited && spent > mostTokens ? [`${tree.rootId} (${tree.tag}) spent ${spent} tokens`] : [],
    unreached: tree.kind === 'stopped' ? findUnreached(tree, facts) : [],
  };
}

function judgeCalls({ runs, kind }: Tree, parent: Run, facts: readonly Fact[]) {
  const asked = facts
    .filter(({ type }) => type === 'tool.planned')
    .map(({ data }) => data.tool_call as { id: string; name: string; arguments: { input: string } })
    .filter(({ name }) => name === 'run_agent');
  const children = runs.filter(({ parent_run_id: id }) => id === parent.id);
  const of = (callId: string) => children.filter(({ parent_call_id: id }) => id === callId);
  const answers = facts.filter(({ type }) => ['tool.completed', 'tool.failed', 'tool.unknown'].includes(type));
  const answersTo = (callId: string) => answers.filter(({ data }) => data.tool_call_id === callId);
  return {
    calls: asked.length,
    lost: asked
      .filter(({ id, arguments: { input } }) => {
        const child = of(id)[0];
        const answer = answersTo(id)[0];
        if (!child) return answer?.type !== 'tool.failed' && answer?.type !== 'tool.unknown'; // stopped before it was sent
        return !isAnswer(child, answer, { kind, words: toAnswer(input.split('\n', 1)[0] ?? '') });
      })
      .map(({ id }) => `${id} of ${parent.id}: ${toShort(of(id)[0])} was answered with ${answerIn(answersTo(id)[0])}`),
    doubled: [
      ...asked.filter(({ id }) => of(id).length > 1).map(({ id }) => `${id} of ${parent.id} has several children`),
      ...asked.filter(({ id }) => answersTo(id).length > 1).map(({ id }) => `${id} of ${parent.id} was answered twice`),
      ...(repeats(children.map(({ parent_call_id: id }) => id)) > 0
        ? [`${parent.id} has two children for a call`]
        : []),
    ],
  };
}

/**
 * What a child says reaches its parent if the child completed, and a failure if it did not. A stop may come before what a
 * child has just said; then its parent is told of the stop.
 */
function isAnswer(child: Run, answer: Fact | undefined, { kind, words }: { kind: TreeKind; words: string }): boolean {
  if (!isTerminal(child.status) || !answer) return false;
  if (kind === 'stopped' && answer.type === 'tool.failed') return true;
  const isDone = child.status === 'completed' && child.finish_reason === 'stop';
  return isDone ? JSON.stringify(answer.data).includes(words) : answer.type !== 'tool.completed';
}

/** Runs that were still active when the first run had ended, unless its receipt says so. */
function findUnreached({ runs, rootId, tag }: Tree, facts: ReadonlyMap<string, readonly Fact[]>): string[] {
  const root = runs.find(({ id }) => id === rootId);
  const receipt = receiptIn(facts.get(rootId) ?? []);
  const admitted = (receipt?.child_runs_stopped ?? []).filter(({ ended_at: at }) => at === null);
  const endedAt = Date.parse(root?.finished_at ?? '');
  const late = runs.filter(
    ({ finished_at: at, id, parent_run_id: parent }) =>
      Date.parse(at ?? '9999-01-01') > endedAt && !admitted.some(({ run_id: run }) => run === id || run === parent),
  );
  const active = runs.filter((run) => !isTerminal(run.status));
  return [...new Set([...late, ...active])].map(
    ({ id, status }) => `${id} (${tag}) was ${status} after the stop of ${rootId}`,
  );
}

const toShort = (child: Run | undefined): string =>
  child ? `${child.id} (${child.status}, ${child.finish_reason})` : 'no child';
const answerIn = (answer: Fact | undefined): string =>
  answer ? `${answer.type} ${JSON.stringify(answer.data.result).slice(0, 200)}` : 'nothing';
