import { setTimeout as sleep } from 'node:timers/promises';
import type { MeasuredSystem } from './measured-system';
import { Clients } from './clients';
import type { Comparison, Findings, MeasureContext } from './measures/measure';
import { ordinary } from './model/plan';

/** The findings of one round. Without `bare` where Rondo is not compared. */
export interface Round {
  readonly rondo: Findings;
  readonly bare?: Findings;
}

export interface Sides {
  readonly rondo: MeasuredSystem;
  readonly bare: MeasuredSystem;
}

/** Measures both in each round, in alternating order, so that a disturbance of the machine affects both. */
export async function compare({ measure }: Comparison, { rondo, bare }: Sides, at: MeasureContext): Promise<Round[]> {
  const rounds: Round[] = [];
  for (let round = 0; round < at.scale.rounds; round++) {
    if (round % 2 === 0) {
      const first = await measure(bare, at);
      rounds.push({ bare: first, rondo: await measure(rondo, at) });
    } else {
      const first = await measure(rondo, at);
      rounds.push({ rondo: first, bare: await measure(bare, at) });
    }
  }
  return rounds;
}

/** Runs under load until V8 has compiled the hot paths, because the figures describe a service that has run for a while. */
export async function warmUp(system: MeasuredSystem, { scale }: MeasureContext): Promise<void> {
  const clients = new Clients(scale.clients, () => system.runTask({ plan: ordinary }));
  await sleep(scale.warmUpSeconds * 1_000);
  await clients.stop();
}
