import { callId, epochsPerIncarnation } from '@rondo/contract';
import type { ClaimedRun, LostCall } from '@rondo/domain';
import { CountingIds, InMemoryRunStore, ScriptedModel, RunHarness, says } from '@rondo/domain/testing';
import { type ReplacedDatabaseParts, recordReplacement } from './replaced-database';

const never = new AbortController().signal;
const call: LostCall = { id: callId.parse('call_lost'), name: 'execute_command', calledWith: '{}' };

async function claimIn(incarnation: number): Promise<{ store: InMemoryRunStore; claim: ClaimedRun }> {
  const { store, id } = new RunHarness({ model: new ScriptedModel([says('Done.')]) });
  const claim = await store.claim(id, 'worker');
  if (!claim) throw new Error('it is not claimed');
  return { store, claim: { ...claim, epoch: incarnation * epochsPerIncarnation + 1 } };
}

const parts = (more: Partial<ReplacedDatabaseParts> = {}): ReplacedDatabaseParts => ({
  knownCalls: () => Promise.resolve(['call_known']),
  findUnknownCalls: () => Promise.resolve([call]),
  ids: new CountingIds(),
  failed: () => undefined,
  ...more,
});

describe('the first claim after a database was replaced', () => {
  it('records the calls that the ledger lacks', async () => {
    const { claim } = await claimIn(1);
    const asked = jest.fn(() => Promise.resolve([call]));

    const facts = await recordReplacement(parts({ findUnknownCalls: asked }), claim, never);

    expect(asked).toHaveBeenCalledWith(claim.runId, new Set(['call_known']));
    expect(facts[0]).toMatchObject({ type: 'database.replaced', data: { unknown_calls: [{ tool_call_id: call.id }] } });
  });

  it('waits for NATS, and leaves it to another claim where the run is let go of', async () => {
    const { claim } = await claimIn(1);
    const leave = new AbortController();
    const failures: unknown[] = [];
    const away = parts({
      findUnknownCalls: () => Promise.reject(new Error('NATS is away')),
      failed: (error) => {
        failures.push(error);
        leave.abort();
      },
    });

    expect(await recordReplacement(away, claim, leave.signal)).toEqual([]);
    expect(failures).toHaveLength(1);
  });

  it('records nothing where the database was not replaced, or another claim has recorded it', async () => {
    const { claim } = await claimIn(0);
    expect(await recordReplacement(parts(), claim, never)).toEqual([]);

    const again = await claimIn(2);
    const [replaced] = await recordReplacement(parts(), again.claim, never);
    const recorded = { ...again.claim.log[0], ...replaced, epoch: again.claim.epoch } as ClaimedRun['log'][number];
    expect(await recordReplacement(parts(), { ...again.claim, log: [...again.claim.log, recorded] }, never)).toEqual(
      [],
    );
  });
});
