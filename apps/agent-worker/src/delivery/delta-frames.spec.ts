import type { Delta } from '@rondo/contract';
import fc from 'fast-check';
import { DeltaFrames } from './run-journal';

const createText = (text: string, streamId = 'msg_1'): Delta => ({ type: 'message.delta', streamId, text });

describe('DeltaFrames', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const recording = () => {
    const sent: Delta[] = [];
    return { sent, frames: new DeltaFrames((delta) => sent.push(delta), 15) };
  };

  it('sends the first piece at once and joins those that follow within a frame', () => {
    const { sent, frames } = recording();

    for (const piece of ['a', 'b', 'c']) frames.push(createText(piece));
    expect(sent.map(({ text }) => text)).toEqual(['a']);

    jest.advanceTimersByTime(15);
    expect(sent.map(({ text }) => text)).toEqual(['a', 'bc']);
  });

  it('sends at once again after a quiet frame', () => {
    const { sent, frames } = recording();

    frames.push(createText('a'));
    jest.advanceTimersByTime(15);
    frames.push(createText('b'));

    expect(sent.map(({ text }) => text)).toEqual(['a', 'b']);
  });

  it('loses, repeats and reorders nothing, however pieces, time and flushes mix (I13)', () => {
    const action = fc.oneof(
      fc.record({ push: fc.constantFrom('msg_1', 'msg_2', 'call_1') }),
      fc.record({ wait: fc.integer({ min: 0, max: 40 }) }),
      fc.constant({ flush: true } as const),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const { sent, frames } = recording();
        let pushed = '';
        let counter = 0;
        for (const step of actions) {
          if ('push' in step) {
            const piece = `${step.push}#${counter++};`;
            pushed += piece;
            frames.push(createText(piece, step.push));
          } else if ('wait' in step) jest.advanceTimersByTime(step.wait);
          else frames.flush();
        }
        frames.flush();

        expect(sent.map(({ text }) => text).join('')).toBe(pushed);
        for (const { text, streamId } of sent)
          expect(text.replaceAll(new RegExp(`${streamId}#\\d+;`, 'g'), '')).toBe('');
      }),
    );
  });
});
