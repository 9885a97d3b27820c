import { z } from 'zod';
import {
  type Message,
  type RunSettings,
  type ToolCall,
  type ToolResult,
  callId,
  toFailedResult,
  messageId,
  runId,
} from '@rondo/contract';
import { toHistory, historyRun } from '../testing/histories';
import { builtInTools } from '../tools/catalog';
import type { ToolDefinition } from '../tools/define-tool';
import { toolSet } from '../tools/tool-set';
import { answerInLoop } from './in-loop-tools';

/** A thread in which calls of loop tools are made and answered, one after the other. */
class Thread {
  readonly messages: Message[] = toHistory([{ kind: 'user', text: 'Go.' }]);
  private count = 0;

  constructor(private readonly profile: RunSettings['profile'] = 'suna') {}

  call(name: string, args: Record<string, unknown>, run: string = historyRun.id): ToolResult {
    const id = callId.parse(`call_${this.count++}`);
    const call = { id, name, arguments: args, run_id: runId.parse(run) } as ToolCall; // the handlers read no other fields
    const result = answerInLoop(call, this.messages, { settings: { profile: this.profile }, tools: builtInTools });
    this.add('assistant', [{ type: 'tool_call', tool_call_id: id, name, arguments: args }], run);
    this.add('tool', [{ type: 'tool_result', tool_call_id: id, name, result }], run);
    return result;
  }

  private add(type: Message['type'], content: Message['content'], run: string): void {
    const [first] = this.messages;
    if (!first) return;
    const id = messageId.parse(`msg_t${this.messages.length}`);
    this.messages.push({ ...first, id, type, content, run_id: runId.parse(run) });
  }
}

it('answers a call of a tool that a restored set still names and this version does not have', () => {
  const gone = { ...builtInTools.all[0], name: 'sing', input: z.looseObject({}) } as ToolDefinition;
  const call = { name: 'sing', arguments: {} } as ToolCall; // no more is read

  expect(answerInLoop(call, [], { settings: { profile: 'suna' }, tools: toolSet([gone], []) })).toEqual(
    toFailedResult('There is no tool named "sing".'),
  );
});

describe('complete', () => {
  it('requires an answer in the profile ii, and no argument in others', () => {
    for (const nothing of [{}, { answer: ' \n' }]) {
      expect(new Thread('ii').call('complete', nothing)).toMatchObject({
        success: false,
        error: 'complete needs `answer`: what the run found.',
      });
    }
    expect(new Thread('ii').call('complete', { answer: '42' }).success).toBe(true);
    expect(new Thread('ii').call('complete', { text: '42' }).success).toBe(true);
    expect(new Thread('suna').call('complete', {}).success).toBe(true);
  });

  it('accepts follow-up prompts', () => {
    expect(new Thread().call('complete', { text: 'Done.', follow_up_prompts: ['And now?'] }).success).toBe(true);
  });

  it('explains what is wrong with its arguments', () => {
    expect(new Thread().call('complete', { text: 4 }).error).toBe(
      'Invalid arguments for complete:\n- text: expected a string, received the number 4',
    );
  });
});

describe('simple_memory', () => {
  const memory = (thread: Thread, args: Record<string, unknown>, run?: string) =>
    thread.call('simple_memory', args, run);

  it('keeps the text for the thread, and shows what a new text replaced', () => {
    const thread = new Thread();

    expect(memory(thread, { action: 'read' }).output).toBe('(The notebook is empty.)');
    expect(memory(thread, { action: 'write', content: 'red' }).output).toBe('Written.');
    expect(memory(thread, { action: 'write', content: 'blue' }, 'run_2').output).toContain('red');
    expect(memory(thread, { action: 'read' }, 'run_3').output).toBe('blue');
  });

  it('edits only text that occurs exactly once', () => {
    const thread = new Thread();
    memory(thread, { action: 'write', content: 'one two two' });

    expect(memory(thread, { action: 'edit', old_string: 'two', new_string: '2' }).error).toContain('2 times');
    expect(memory(thread, { action: 'edit', old_string: 'three', new_string: '3' }).success).toBe(false);
    expect(memory(thread, { action: 'edit', old_string: 'one', new_string: '$&' }).success).toBe(true);
    expect(memory(thread, { action: 'read' }).output).toBe('$& two two');
  });

  it('refuses invalid arguments', () => {
    const thread = new Thread();

    expect(memory(thread, { action: 'burn' }).error).toContain('Invalid arguments');
    expect(memory(thread, { action: 'write' }).success).toBe(false);
    expect(memory(thread, { action: 'edit', old_string: 'x' }).success).toBe(false);
  });
});

describe('sequential_thinking', () => {
  const think = (thread: Thread, more: Record<string, unknown>, run?: string): unknown =>
    JSON.parse(
      thread.call(
        'sequential_thinking',
        { thought: 'Hm.', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 3, ...more },
        run,
      ).output,
    );

  it('counts the thoughts of a run, raises the total and lists the branches', () => {
    const thread = new Thread();

    think(thread, {});
    expect(think(thread, { thoughtNumber: 5, nextThoughtNeeded: false })).toEqual({
      thoughtNumber: 5,
      totalThoughts: 5,
      nextThoughtNeeded: false,
      branches: [],
      thoughtHistoryLength: 2,
    });
    expect(think(thread, { branchFromThought: 1, branchId: 'b' })).toMatchObject({
      branches: ['b'],
      thoughtHistoryLength: 3,
    });
    expect(think(thread, {}, 'run_2')).toMatchObject({ branches: [], thoughtHistoryLength: 1 });
  });
});

describe('expand_message', () => {
  it('shows the whole text, piece by piece', () => {
    const thread = new Thread();
    const text = Array.from({ length: 3_000 }, (_, at) => `line ${at}`).join('\n');
    thread.messages.push(
      ...toHistory([{ kind: 'user', text }]).map((message) => ({ ...message, id: messageId.parse('msg_long') })),
    );
    const pieces: string[] = [];
    for (let start = 0; start < text.length; start += 12_000) {
      const { output, truncated } = thread.call('expand_message', { message_id: 'msg_long', start });
      pieces.push(output.slice(0, 12_000).split('\n[Characters')[0] ?? '');
      expect(truncated ?? false).toBe(start + 12_000 < text.length);
    }

    expect(pieces.join('')).toBe(text);
  });

  it('splits no character between two pieces', () => {
    const thread = new Thread();
    const text = `${'x'.repeat(11_999)}😀${'y'.repeat(100)}`;
    thread.messages.push(
      ...toHistory([{ kind: 'user', text }]).map((message) => ({ ...message, id: messageId.parse('msg_long') })),
    );

    const { output } = thread.call('expand_message', { message_id: 'msg_long' });
    const next = Number(/start: (\d+)/.exec(output)?.[1]);

    expect(output.isWellFormed()).toBe(true);
    for (const start of [next, next + 1])
      expect(thread.call('expand_message', { message_id: 'msg_long', start }).output).toMatch(/^😀y/u);
  });

  it('reports that the message does not exist', () => {
    expect(new Thread().call('expand_message', { message_id: 'msg_nowhere' }).success).toBe(false);
  });
});
