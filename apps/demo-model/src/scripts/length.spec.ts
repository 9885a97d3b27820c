import type { ConversationTurn } from '../script/script-conversation';
import { length } from './text-scripts';

const user = (text: string): ConversationTurn => ({ role: 'user', text });
const said = (text = ''): ConversationTurn => ({ role: 'assistant', text, calls: [] });
const reply = (...turns: ConversationTurn[]) => length.reply({ offeredTools: [], turns }, { times: '2' });

it('continues where it was cut off, in whatever words it is asked to, and ends', () => {
  const first = reply(user('Tell me.'));
  const second = reply(user('Tell me.'), said(first.text), user('Continue.'));
  const joined = reply(user('Tell me.'), said(`${first.text}${second.text}`), user('Continue.'));

  expect([first, second].map(({ finish_reason }) => finish_reason)).toEqual(['length', 'length']);
  expect(joined).toEqual({ text: 'Part 3. And that is the end.' });
});

it('starts from the beginning once it has ended', () => {
  expect(reply(user('Tell me.'), said('Part 3. And that is the end.'), user('Again.')).text).toContain('Part 1.');
});
