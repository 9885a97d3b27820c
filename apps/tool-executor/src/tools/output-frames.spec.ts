import { OutputFrames } from './output-frames';

describe('OutputFrames', () => {
  let sent: string[];
  let frames: OutputFrames;

  beforeEach(() => {
    jest.useFakeTimers();
    sent = [];
    frames = new OutputFrames((text) => sent.push(text));
  });
  afterEach(() => jest.useRealTimers());

  it('sends the first chunk at once and buffers the following ones for 25 ms', () => {
    for (const piece of ['a', 'b', 'c']) frames.push(piece);
    expect(sent).toEqual(['a']);

    jest.advanceTimersByTime(25);
    expect(sent).toEqual(['a', 'bc']);
  });

  it('sends at once again after a pause', () => {
    frames.push('a');
    jest.advanceTimersByTime(1_000);
    frames.push('b');

    expect(sent).toEqual(['a', 'b']);
  });

  it('does not wait when a frame is full', () => {
    frames.push('a');
    frames.push('b'.repeat(5_000));

    expect(sent).toEqual(['a', 'b'.repeat(5_000)]);
  });

  it('sends the rest when it is closed, and nothing afterwards', () => {
    frames.push('a');
    frames.push('b');
    frames.close();
    frames.push('c');
    jest.runAllTimers();

    expect(sent).toEqual(['a', 'b']);
  });

  it('stops at a total per call and says so', () => {
    for (let piece = 0; piece < 100; piece += 1) frames.push('x'.repeat(10_000));
    frames.close();

    const text = sent.join('');
    expect(text).toHaveLength(256 * 1024 + '\n[… no more live output; the result shows the end …]\n'.length);
    expect(text.endsWith('the result shows the end …]\n')).toBe(true);
  });
});
