import type { RunSettings } from '@rondo/contract';
import { effectiveSettings } from '../profiles/effective-settings';
import { unknownParts } from './unknown-parts';

const settings = ((): RunSettings => {
  const effective = effectiveSettings(
    {
      tools: { execute_command: { enabled: true, require_approval: true, timeout_s: 5 } },
      fallbacks: ['demo/other'],
      mcp_servers: [{ name: 'docs', transport: 'streamable_http', url: 'https://example.com/mcp' }],
    },
    { model: 'demo/coder' },
  );
  if ('problems' in effective) throw new Error(JSON.stringify(effective.problems));
  return effective.settings;
})();

const log = [{ type: 'run.created' }, { type: 'message.created' }, { type: 'approval.requested' }];
/** As a later version may have written them. */
const later = (changes: Record<string, unknown>) => ({ settings: { ...settings, ...changes } });

describe('unknownParts', () => {
  it('is empty for a run of this version', () => {
    expect(unknownParts({ settings }, log)).toEqual([]);
  });

  it('names each type of fact once that this version does not know', () => {
    const facts = [...log, { type: 'plan.changed' }, { type: 'tool.planned' }, { type: 'plan.changed' }];

    expect(unknownParts({ settings }, facts)).toEqual(['fact plan.changed']);
  });

  it.each<[string, Record<string, unknown>]>([
    ['setting second_opinion', { second_opinion: true }],
    ['setting limits.max_regrets', { limits: { ...settings.limits, max_regrets: 3 } }],
    ['setting processor.unknown_outcome', { processor: { ...settings.processor, unknown_outcome: 'vote' } }],
    ['setting profile', { profile: 'later' }],
    ['setting tool_policies.execute_command.quorum', { tool_policies: { execute_command: { quorum: 2 } } }],
    ['setting approvals.quorum', { approvals: { ...settings.approvals, quorum: 2 } }],
    ['setting mcp_servers.0.transport', { mcp_servers: [{ name: 'docs', transport: 'websocket' }] }],
  ])('names the %s', (name, changes) => {
    expect(unknownParts(later(changes), log)).toEqual([name]);
  });

  it.each<[string, Record<string, unknown>]>([
    ['without one that was added later', { termination: undefined }],
    ['with a value that is refused today', { limits: { ...settings.limits, max_iterations: 5_000 } }],
  ])('is empty for settings of an older version, %s', (_, changes) => {
    expect(unknownParts(later(changes), log)).toEqual([]);
  });
});
