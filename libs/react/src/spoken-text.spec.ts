import { spokenText } from './spoken-text.ts';

it.each([
  ['complete', { text: 'Done.' }, { text: 'Done.', attachments: [] }],
  ['ask', { text: 'Which?', attachments: 'a.png' }, { text: 'Which?', attachments: ['a.png'] }],
  ['message_user', { text: 'Look.', attachments: ['a.png', 1] }, { text: 'Look.', attachments: ['a.png'] }],
  ['complete', {}, undefined],
  ['complete', { text: { of: 'a model that errs' } }, undefined],
  ['complete', null, undefined],
  ['execute_command', { text: 'x' }, undefined],
])('of %s with %j', (name, known, expected) => {
  expect(spokenText({ name, arguments: known })).toEqual(expected);
});
