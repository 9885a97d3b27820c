import type { Run } from '@rondo/client';
import { call, command, scriptInput } from '@rondo/test-deployment';
import type { CountingEffectServer } from '../effects/counting-effect-server';
import { type RunRequest, keyCall, scriptRun, unsafeCommand } from '../test-bed/run-requests';
import type { TestBed } from '../test-bed/test-bed';

/** What happens to a tree of runs. */
export const treeKinds = ['plain', 'budget ends', 'budget raised', 'stopped'] as const;
export type TreeKind = (typeof treeKinds)[number];

/** Reported for each reply of a child that spends. */
const replyTokens = 12_000;
/** Two children pass it with their second replies. */
export const treeTokens = 40_000;
/** Both children can reply once more while it is passed. */
export const mostTokens = treeTokens + 2 * replyTokens + 10_000;
const sleepS = 300;

const helper = 'helper';

export async function createHelper({ client }: TestBed): Promise<void> {
  const tools = { execute_command: true, http_request: true, run_agent: true };
  const definition = { model: 'demo/scripted', system_prompt: 'You play a script.', tools };
  await client.agents.apply(helper, { definition });
}

/** The first run of a tree of this kind. Its children have effects under its tag. */
export function treeRequest(effects: CountingEffectServer, kind: TreeKind, tag: string): RunRequest {
  const calls = callsByKind[kind](effects, tag);
  const budget = { tokens: treeTokens, on_exceeded: kind === 'budget raised' ? 'wait' : 'end' };
  return scriptRun(tag, [{ calls }, { text: 'All have answered.' }], {
    tools: { run_agent: true },
    ...(kind.startsWith('budget') && { budget }),
  });
}

type Calls = (effects: CountingEffectServer, tag: string) => readonly ReturnType<typeof call>[];

const spending: Calls = (effects, tag) =>
  ['a', 'b'].map((child) =>
    task(`${tag}/${child}`, [
      ...[1, 2, 3].map((step) => ({
        calls: [keyCall(effects, { tag: `${tag}/${child}/${step}/keyed` })],
        usage: { input_tokens: replyTokens - 1_000, output_tokens: 1_000 },
      })),
    ]),
  );

const sleeping = [{ calls: [command(`sleep ${sleepS}`, sleepS + 60)] }];

const callsByKind: Record<TreeKind, Calls> = {
  plain: (effects, tag) =>
    ['a', 'b'].map((child) =>
      task(`${tag}/${child}`, [
        {
          calls: [
            unsafeCommand(effects, { tag: `${tag}/${child}/unsafe` }),
            keyCall(effects, { tag: `${tag}/${child}/keyed` }),
          ],
        },
      ]),
    ),
  'budget ends': spending,
  'budget raised': spending,
  stopped: (_effects, tag) => [
    task(`${tag}/a`, sleeping),
    task(`${tag}/b`, [{ calls: [task(`${tag}/b/a`, sleeping)] }]),
  ],
};

/** A child answers with the tag of its task. */
const task = (tag: string, turns: readonly Record<string, unknown>[]) =>
  call('run_agent', { agent: helper, input: scriptInput(tag, [...turns, { text: toAnswer(tag) }]).input });

export const toAnswer = (tag: string): string => `${tag} is done.`;

export const isOfTree = (root: string, { id, root_run_id: of }: Run): boolean => id === root || of === root;
