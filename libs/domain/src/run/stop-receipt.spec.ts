import { callId } from '@rondo/contract';
import { StopReceipt } from './stop-receipt';

const at = (second: number): string => new Date(1_700_000_000_000 + second * 1_000).toISOString();
const requestedAt = at(10);

describe('the receipt of a stop (I7)', () => {
  it('counts output after the stop was requested, not after it reached the worker', () => {
    const receipt = new StopReceipt();
    receipt.recordShown('before the stop', at(9));
    receipt.recordShown('at that very moment', requestedAt);
    for (const letter of 'eight of') receipt.recordShown(letter, at(11));
    receipt.recordShown('x', at(12));

    expect(receipt.contents(requestedAt).tokens_after_stop).toBe(3);
  });

  it('bounds what it remembers', () => {
    const receipt = new StopReceipt();
    for (let second = 0; second < 20_000; second++) receipt.recordShown('four', at(second));

    expect(receipt.contents(at(-1)).tokens_after_stop).toBe(6_000);
    expect(receipt.contents(at(19_899)).tokens_after_stop).toBe(100);
  });

  it('contains when the last tool was seen dead', () => {
    const receipt = new StopReceipt();
    expect(receipt.contents(requestedAt).sandbox_verified_at).toBeNull();

    receipt.toolStopped({ tool_call_id: callId.parse('call_1'), verified_dead_at: at(12) });
    receipt.toolStopped({ tool_call_id: callId.parse('call_2'), verified_dead_at: at(11) });
    expect(receipt.contents(requestedAt).sandbox_verified_at).toBe(at(12));
  });

  it('contains no such time while one tool is not confirmed dead', () => {
    const receipt = new StopReceipt();
    receipt.toolStopped({ tool_call_id: callId.parse('call_1'), verified_dead_at: at(12) });
    receipt.toolStopped({ tool_call_id: callId.parse('call_2'), verified_dead_at: null });

    expect(receipt.contents(requestedAt).sandbox_verified_at).toBeNull();
  });

  it('lists a call once when it was stopped and also left something running', () => {
    const [first, second] = [callId.parse('call_1'), callId.parse('call_2')];
    const receipt = new StopReceipt();
    receipt.toolStopped({ tool_call_id: first, verified_dead_at: at(11) });
    receipt.toolStopped({ tool_call_id: second, verified_dead_at: null });
    receipt.recordLeft(
      [first, second].map((id) => ({ tool_call_id: id, verified_dead_at: at(12), processes: ['node'] })),
    );

    expect(receipt.contents(requestedAt)).toMatchObject({
      tools_stopped: [
        { tool_call_id: first, verified_dead_at: at(12), processes: ['node'] },
        { tool_call_id: second, verified_dead_at: null, processes: ['node'] },
      ],
      sandbox_verified_at: null,
    });
  });
});
