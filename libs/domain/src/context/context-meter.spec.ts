import fc from 'fast-check';
import { type Message, sha256 } from '@rondo/contract';
import type { TokenCounter } from '../ports';
import { EvenTokenCounter } from '../testing';
import { answered, said } from '../testing/conversation';
import { anyHistory, toHistory } from '../testing/histories';
import { ContextMeter } from './context-meter';

const reported = (input_tokens: number, estimated = false) => ({
  input_tokens,
  cached_tokens: 0,
  output_tokens: 0,
  cost_usd: 0,
  estimated,
});
const frame = 'system and tools '.repeat(50);
const messages = toHistory(Array.from({ length: 20 }, () => ({ kind: 'user', text: 'word '.repeat(40) })));

describe('ContextMeter', () => {
  it('counts each message once, however often it is sent', async () => {
    const tokens = new EvenTokenCounter();
    const meter = new ContextMeter(tokens, 'demo/coder');

    await meter.countTokens({ frame, messages: messages.slice(0, 19) });
    const before = tokens.characters;
    await meter.countTokens({ frame, messages });

    expect(tokens.characters - before).toBe('word '.length * 40);
  });

  it('counts an image by the size in its message, wherever its bytes are', async () => {
    const tokens: TokenCounter = {
      countTexts: (texts) => Promise.resolve(texts.map(() => 0)),
      imageTokens: (size) => (size ? size.width * size.height : 0),
    };
    const image = { sha256: sha256.parse('a'.repeat(64)), media_type: 'image/png' as const, width: 640, height: 480 };
    const shown: Message = { ...said('user', ''), content: [{ type: 'image', source: { type: 'blob', ...image } }] };
    const seen = answered(0, { success: true, output: '', image });

    const [ofShown = 0, ofSeen = 0] = await new ContextMeter(tokens, 'demo/coder').ofMessages([shown, seen]);

    for (const count of [ofShown, ofSeen]) expect(Math.floor(count / (640 * 480))).toBe(1);
  });

  it('bounds the tokens of a request without counting', async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory(20), async (history) => {
        const meter = new ContextMeter(new EvenTokenCounter(), 'demo/coder');
        const most = meter.upperBound({ frame, messages: history });

        expect(await meter.countTokens({ frame, messages: history })).toBeLessThanOrEqual(most);
      }),
    );
  });

  it('bounds a request that grew as closely as one that came whole', async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory(20), fc.array(fc.boolean()), async (history, counted) => {
        const meter = new ContextMeter(new EvenTokenCounter(), 'demo/coder');
        for (let length = 0; length <= history.length; length++) {
          const request = { frame, messages: history.slice(0, length) };
          if (counted[length]) await meter.countTokens(request);
          meter.upperBound(request);
        }
        const most = meter.upperBound({ frame, messages: history });
        const tokens = await meter.countTokens({ frame, messages: history });

        expect(tokens).toBeLessThanOrEqual(most);
        expect(meter.upperBound({ frame, messages: history })).toBe(tokens);
        expect(meter.upperBound({ frame, messages: history.slice(1) })).toBeLessThan(tokens);
      }),
    );
  });

  it.each([
    ['corrects itself by what the provider reports', 1.5, 1.5],
    ['not by more than the double', 3, 2],
    ['not to less than half', 0.3, 0.5],
    ['not by an implausible report', 0.01, 1],
  ])('%s', async (_, factor, expected) => {
    const meter = new ContextMeter(new EvenTokenCounter(), 'demo/coder');
    const first = await meter.countTokens({ frame, messages });

    meter.calibrate(reported(Math.round(first * factor)));

    expect((await meter.countTokens({ frame, messages })) / first).toBeCloseTo(expected, 1);
  });

  it('ignores an estimate, and a report about a request that it did not count', async () => {
    const meter = new ContextMeter(new EvenTokenCounter(), 'demo/coder');
    const first = await meter.countTokens({ frame, messages });

    meter.calibrate(reported(first * 2, true));
    meter.forgetLast();
    meter.calibrate(reported(first * 2));

    expect(await meter.countTokens({ frame, messages })).toBe(first);
  });
});
