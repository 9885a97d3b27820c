import type { RunSettings } from '@rondo/contract';
import { expandMessage } from './memory.tools';

/**
 * What a run's model may call: what its settings allow, and with that the tool that shows a message which was shortened, for
 * any context may be, and says to call it (LP18). A run without tools has none (JM1).
 */
export const offeredTools = ({ tools }: Pick<RunSettings, 'tools'>): readonly string[] =>
  tools.length === 0 || tools.includes(expandMessage.name) ? tools : [...tools, expandMessage.name];
