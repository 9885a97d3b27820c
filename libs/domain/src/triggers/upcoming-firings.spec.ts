import type { MissedPolicy } from '@rondo/contract';
import { type FiringSource, upcomingFirings } from './upcoming-firings';

const at = (second: number) => new Date(second * 1000);
interface Named extends FiringSource {
  readonly name: string;
}

function every(seconds: number, dueAt: number, { missed = 'once' }: { missed?: MissedPolicy } = {}): Named {
  const next = (after: Date) => at((Math.floor(after.getTime() / 1000 / seconds) + 1) * seconds);
  return { name: `${seconds}`, missed, dueAt: at(dueAt), times: { next } };
}

const nextTurn = () => Promise.resolve();

async function shown(sources: readonly Named[], now: number, count: number): Promise<string[]> {
  const found = await upcomingFirings(sources, at(now), { count, nextTurn });
  return found.map(({ source, at: time }) => `${source.name}@${time.getTime() / 1000}`);
}

describe('upcomingFirings', () => {
  it('merges the due times of all in order, the earlier source first where two are at once', async () => {
    const sources = [every(300, 300), every(100, 100), every(1_000, 1_000)];

    expect(await shown(sources, 50, 6)).toEqual(['100@100', '100@200', '300@300', '100@300', '100@400', '100@500']);
  });

  it('ends when no source has another time', async () => {
    const once: Named = { name: 'once', missed: 'once', dueAt: at(10), times: { next: () => undefined } };

    expect(await shown([once], 0, 5)).toEqual(['once@10']);
    expect(await shown([], 0, 5)).toEqual([]);
  });

  it('shows of missed due times those that are made up for', async () => {
    const hourly = (missed: MissedPolicy) => every(3_600, 3_600, { missed });

    expect(await shown([hourly('skip')], 15_000, 2)).toEqual(['3600@18000', '3600@21600']);
    expect(await shown([hourly('once')], 15_000, 2)).toEqual(['3600@14400', '3600@18000']);
    expect(await shown([hourly('all')], 15_000, 2)).toEqual(['3600@3600', '3600@7200']);
    expect(
      await shown([every(3_600, 3_600, { missed: 'skip' }), every(7_200, 7_200, { missed: 'skip' })], 7_261, 3),
    ).toEqual([...['3600@10800', '3600@14400', '7200@14400']]);
  });

  it('reads no times of a source whose first firing is beyond what is asked for', async () => {
    const far: Named = {
      ...every(1_000, 1_000),
      times: {
        next: () => {
          throw new Error('was read');
        },
      },
    };

    expect(await shown([far, every(100, 100)], 50, 2)).toEqual(['100@100', '100@200']);
  });
});
