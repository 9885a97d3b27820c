import { call, command, smallContext } from '@rondo/test-deployment';
import type { CountingEffectServer } from '../effects/counting-effect-server';
import { type RunRequest, keyCall, scriptRun, unsafeCommand } from '../test-bed/run-requests';

/** A long run whose context the summarizer replaces by a summary. */
export const toSummarizedRun = (tag: string): RunRequest => ({
  tag,
  body: {
    model: 'demo/loop:turns=16,output_bytes=2000',
    input: 'Go on until you are done.',
    tools: ['execute_command', 'expand_message'],
    context: { ...smallContext, summary_model: 'demo/summary' },
  },
});

/** It has an effect, asks, and has another effect after the answer. */
export const asking = (effects: CountingEffectServer, tag: string): RunRequest =>
  scriptRun(
    tag,
    [
      { calls: [unsafeCommand(effects, { tag: `${tag}/before/unsafe` })] },
      { calls: [call('ask', { text: 'Shall it go on?' })] },
      { calls: [keyCall(effects, { tag: `${tag}/after/keyed` })] },
      { text: 'All done.' },
    ],
    { tools: ['execute_command', 'http_request', 'ask'] },
  );

/** It leaves a file in the workspace of its thread. */
export const writing = (tag: string): RunRequest =>
  scriptRun(tag, [{ calls: [command(`echo ${tag} > note.txt`)] }, { text: 'Written.' }]);

/** It has an effect only if the file of the run before it on the thread is there. */
export function reading(
  effects: CountingEffectServer,
  tag: string,
  before: { tag: string; threadId: string },
): RunRequest {
  const found = unsafeCommand(
    effects,
    { tag: `${tag}/found/unsafe` },
    { first: `grep -qx ${before.tag} note.txt && ` },
  );
  return scriptRun(tag, [{ calls: [found] }, { text: 'Read.' }], {
    thread_id: before.threadId,
    on_active_run: 'queue',
  });
}

/** Its second command ends only when it is killed. The first one boots the sandbox. */
export const endless = (tag: string): RunRequest =>
  scriptRun(tag, [
    { calls: [command('true')] },
    { calls: [command('sleep 300', 400)] },
    { text: 'Nothing stopped it.' },
  ]);

/** With the tools and settings of its profile. */
export const usual = (tag: string): RunRequest => ({
  tag,
  body: { model: 'demo/coder', input: 'Write a small program and run it.' },
});
