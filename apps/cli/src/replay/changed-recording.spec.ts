import { agentDefinition } from '@rondo/contract';
import { ScriptedModel, calls, says } from '@rondo/domain/testing';
import { changeRecording } from './changed-recording';
import { replayRun } from './replay-run';
import { recordedRun } from './testing/recorded-run';

const read = { name: 'read_file', arguments: { file_path: 'a.txt' } };
const task = { task_id: 'a', question: 'What is it?', input: 'Answer: What is it?' };
const recorded = (settings = {}) =>
  recordedRun({ model: new ScriptedModel([calls(read), says('It.')]), input: task.input, settings }, task);

describe('a recording with a change', () => {
  it('without any is replayed the same', async () => {
    const recording = await recorded();

    expect(await replayRun(changeRecording(recording, {}))).toMatchObject({ difference: null });
  });

  it('has the settings of another profile, but for those that the run had itself', async () => {
    const recording = await recorded({ limits: { max_iterations: 7 } });

    const { settings } = changeRecording(recording, { profile: 'ii' }).run;

    expect(settings).toMatchObject({
      profile: 'ii',
      limits: { max_iterations: 7 },
      processor: { tool_execution_strategy: 'sequential', execute_on_stream: false },
      context: { strategy: 'head_tail' },
    });
    expect(settings.tools).toContain('str_replace_editor');
  });

  it('has what an agent says, and parts at the system prompt', async () => {
    const recording = await recorded();
    const agent = agentDefinition.parse({
      name: 'Brief',
      directives: ['Be brief.'],
      llm: { temperature: 1 },
    });

    const changed = changeRecording(recording, { agent });

    expect(changed.run.settings).toMatchObject({
      agent: { name: 'Brief' },
      llm: { temperature: 1 },
    });
    expect((await replayRun(changed)).difference).toMatchObject({
      iteration: 1,
      where: 'system prompt',
      diff: expect.arrayContaining(['+ Your name is Brief.']),
    });
  });

  it('has another text around its question, and parts at the first message', async () => {
    const changed = changeRecording(await recorded(), { prompt: 'Think. Then answer: {question}' });

    expect((await replayRun(changed)).difference).toEqual({
      iteration: 1,
      where: 'message 1 (user)',
      problem: 'the prompt differs',
      diff: ['- Answer: What is it?', '+ Think. Then answer: What is it?'],
    });
  });

  it('has another model', async () => {
    const changed = changeRecording(await recorded(), { model: 'demo/plain' });

    expect((await replayRun(changed)).difference).toMatchObject({
      where: 'model',
      diff: ['- demo/coder', '+ demo/plain'],
    });
  });
});
