import type { AssistantTurn, ConversationTurn } from '../script/script-conversation';
import { scripted } from './scripted';

const call = (name: string) => ({ name, arguments: {} });
const turns = [{ text: 'Both.', calls: [call('a'), call('b')] }, { calls: [call('c')] }, { text: 'Done.' }];
const task: ConversationTurn = { role: 'user', text: `\`\`\`demo-script\n${JSON.stringify(turns)}\n\`\`\`` };

const step = (...names: string[]): AssistantTurn => ({
  role: 'assistant',
  text: '',
  calls: names.map((name) => ({ name, result: 'done' })),
});
const next = (...steps: AssistantTurn[]) => scripted.reply({ offeredTools: [], turns: [task, ...steps] }, {});

describe('scripted', () => {
  it('plays each turn once when the calls of a reply are one message', () => {
    expect(next(step('a', 'b'))).toEqual(turns[1]);
    expect(next(step('a', 'b'), step('c'))).toEqual(turns[2]);
  });

  it('plays each turn once when the calls of a reply are a message each, since they were sent while it streamed', () => {
    expect(next(step('a'), step('b'))).toEqual(turns[1]);
    expect(next(step('a'), step('b'), step('c'))).toEqual(turns[2]);
  });

  it('makes the calls of a turn that were lost in a crash, and not again those that were sent', () => {
    expect(next(step('a'))).toMatchObject({ calls: [call('b')] });
  });

  it('takes a message without calls for a turn', () => {
    expect(next(step())).toEqual(turns[1]);
  });
});
