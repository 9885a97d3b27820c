import type { Usage } from '@rondo/contract';
import type { LoopContext } from '../loop-context';
import { countRequestTokens } from '../prompt/prompt';
import { waitsLong } from '../run/run-state';

/**
 * Reserves the next model call in the balance of the account. False: the balance does not cover it. `unrecorded` is the call
 * that it continues: its output is a part of the request, and its cost is not settled yet.
 */
export async function reserveCall(loop: LoopContext, unrecorded?: Usage): Promise<boolean> {
  const { run, state, ports, meter, signals, model } = loop;
  if (!ports.reserve || signals.stop.aborted) return true;
  const readSize = async () => ({
    model,
    inputTokens: (await countRequestTokens({ run, state }, meter)) + (unrecorded?.output_tokens ?? 0),
    maxOutputTokens: run.settings.llm.max_tokens,
    ...(waitsLong(state) && { waitsLong: true }),
    unsettledUsd: unrecorded?.cost_usd ?? 0,
  });
  return ports.reserve(model, readSize, signals.stop);
}
