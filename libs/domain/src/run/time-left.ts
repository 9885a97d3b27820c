import { TerminalError } from '../errors';
import type { AgentRun } from '../loop/loop-context';
import type { RunSettings } from '@rondo/contract';

/**
 * How much longer a run may take, in ms. The time that it waited for a person does not count. `beganAt`: since when it runs
 * if its log does not say so yet. Both are ISO 8601.
 */
export function timeLeftMs(
  { settings, state }: Pick<AgentRun, 'settings' | 'state'>,
  { now, beganAt = now }: { now: string; beganAt?: string },
): number {
  const activeMs = Date.parse(now) - Date.parse(state.startedAt ?? beganAt) - state.waitedMs;
  return settings.limits.max_duration_s * 1000 - activeMs;
}

export const outOfTime = ({ limits }: RunSettings): TerminalError =>
  new TerminalError('max_duration_exceeded', `The run took longer than its limit of ${limits.max_duration_s} s.`);
