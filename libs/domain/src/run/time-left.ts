import { TerminalError } from '../errors';
import type { AgentRun } from '../loop/loop-context';
import type { RunSettings } from '@rondo/contract';

/**
 * The time that a run has left, in ms. The time that it waited for a person does not count. `beganAt` is the start of a
 * run whose log has none yet. Both times are ISO 8601.
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
