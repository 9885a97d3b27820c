import type { SettingsRequest } from '@rondo/contract';
import { effectiveSettings } from './effective-settings';

const settle = (request: SettingsRequest) => {
  const outcome = effectiveSettings(request, { model: 'demo/plain' });
  return 'problems' in outcome ? outcome.problems : outcome.settings;
};
const listTools = (request: SettingsRequest) => {
  const settled = settle(request);
  return 'tools' in settled ? settled.tools.filter((name) => name.startsWith('memory_')) : settled;
};
const readRules = (request: SettingsRequest) => {
  const settled = settle(request);
  return 'tools' in settled ? settled.approvals?.rules : settled;
};

describe('the tools of memory stores', () => {
  const all = ['memory_read', 'memory_search', 'memory_write', 'memory_delete'];

  it('are offered to a run that names a store, beside those of any list', () => {
    expect(listTools({})).toEqual([]);
    expect(listTools({ memory: [{ store: 'notes' }] })).toEqual(all);
    expect(listTools({ agent: { memory: [{ store: 'notes' }] }, tools: ['read_file'] })).toEqual(all);
    expect(listTools({ agent: { memory: [{ store: 'notes' }] }, memory: [] })).toEqual([]);
    expect(listTools({ memory: [{ store: 'notes' }], tools: { memory_delete: false } })).toEqual(all.slice(0, 3));
    expect(listTools({ memory: [{ store: 'notes', policy: 'deny' }] })).toEqual(all.slice(0, 2));
    expect(listTools({ tools: ['memory_write'] })).toEqual([
      { field: 'tools', message: '"memory_write" needs a store, which `memory` names' },
    ]);
  });

  it('need the approval of a person for the stores whose policy asks, whatever a rule frees', () => {
    const [asks, allows] = [{ store: 'notes' }, { store: 'scratch', policy: 'allow' as const }];
    const asked = [{ store: 'notes' }];

    expect(readRules({ memory: [allows] })).toBeUndefined();
    expect(readRules({ memory: [asks, allows] })).toEqual({ memory_write: asked, memory_delete: asked });
    const freed = { memory_write: { require_approval: false }, memory: { require_approval: true } };
    expect(readRules({ memory: [asks], tools: freed })).toMatchObject({ memory_write: asked, memory_delete: true });
    const ruled = { memory_write: { require_approval: [{ path: 'secret*' }] } };
    expect(readRules({ memory: [asks], tools: ruled })).toMatchObject({
      memory_write: [{ path: 'secret*' }, ...asked],
    });
  });
});
