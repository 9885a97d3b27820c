import { setTimeout as sleep } from 'node:timers/promises';
import type { Contender } from './contender';
import { Crowd } from './crowd';
import type { Comparison, Findings, Surroundings } from './measures/measure';
import { ordinary } from './model/plan';

/** What was found in one round; of Rondo alone where nothing is compared. */
export interface Round {
  readonly rondo: Findings;
  readonly bare?: Findings;
}

export interface Sides {
  readonly rondo: Contender;
  readonly bare: Contender;
}

/** One after the other in each round, the order reversed from round to round: what disturbs the machine meets both. */
export async function compare({ slice }: Comparison, { rondo, bare }: Sides, at: Surroundings): Promise<Round[]> {
  const rounds: Round[] = [];
  for (let round = 0; round < at.scale.rounds; round++) {
    if (round % 2 === 0) {
      const first = await slice(bare, at);
      rounds.push({ bare: first, rondo: await slice(rondo, at) });
    } else {
      const first = await slice(rondo, at);
      rounds.push({ rondo: first, bare: await slice(bare, at) });
    }
  }
  return rounds;
}

/** Until V8 has compiled the hot paths: the figures are for a service that has run for a while. */
export async function warmUp(contender: Contender, { scale }: Surroundings): Promise<void> {
  const crowd = new Crowd(scale.crowd, () => contender.perform({ plan: ordinary }));
  await sleep(scale.warmUpSeconds * 1_000);
  await crowd.leave();
}
