import type { BrowserAction, BrowserScreen } from '@rondo/client';
import { ActionQueue } from './action-queue.ts';

const screen = { title: 'A page' } as BrowserScreen; // the queue only passes it on

/** A queue whose first action is answered when the test says so. */
function heldQueue(outcome: () => BrowserScreen = () => screen) {
  const sent: BrowserAction[] = [];
  const failures: unknown[] = [];
  let answer = (): void => undefined;
  const held = new Promise<void>((resolve) => (answer = resolve));
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const queue = new ActionQueue({
    send: async (action) => {
      sent.push(action);
      await held;
      return outcome();
    },
    shown: () => sent.at(-1)?.type === 'back' && end(),
    failed: (error) => {
      failures.push(error);
      end();
    },
  });
  return { queue, sent, failures, answer, ended };
}

it('puts together what is typed, pressed and scrolled while an action is under way, in its order', async () => {
  const { queue, sent, answer, ended } = heldQueue();
  for (const action of [
    { type: 'click', x: 1, y: 2 },
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
    { type: 'keys', keys: 'Tab' },
    { type: 'keys', keys: 'Enter' },
    { type: 'scroll', x: 1, y: 1, dy: 10 },
    { type: 'scroll', x: 2, y: 2, dy: 30 },
    { type: 'back' },
  ] as const)
    queue.add(action);

  answer();
  await ended;

  expect(sent).toEqual([
    { type: 'click', x: 1, y: 2 },
    { type: 'text', text: 'ab' },
    { type: 'keys', keys: 'Tab Enter' },
    { type: 'scroll', x: 2, y: 2, dx: 0, dy: 40 },
    { type: 'back' },
  ]);
});

it('sends nothing more after a failure, until something new is done', async () => {
  const refusal = new Error('busy');
  const { queue, sent, failures, answer, ended } = heldQueue(() => {
    throw refusal;
  });
  queue.add({ type: 'click', x: 1, y: 2 });
  queue.add({ type: 'text', text: 'never sent' });

  answer();
  await ended;

  expect([sent.length, failures]).toEqual([1, [refusal]]);
});
