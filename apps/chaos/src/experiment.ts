import { type Bar, type Findings, never } from './scorecard/findings';
import type { Examination } from './test-bed/examine';
import type { Scale, TestBed, TestBedRequest } from './test-bed/test-bed';

/** A kind of fault, and what must hold in spite of it. */
export interface Experiment {
  readonly name: string;
  /** Which faults are injected, and how the figures are measured. */
  readonly title: string;
  /** Differences from the default deployment. */
  readonly deployment?: (scale: Scale) => TestBedRequest | Promise<TestBedRequest>;
  /** Need not repair anything but the servers: what was killed or frozen runs again before another experiment uses the test bed. */
  run(testBed: TestBed, scale: Scale): Promise<Findings>;
}

/** What must be true of runs under every fault. */
export const truths = (examination: Examination): Bar[] => [
  never('runs lost', examination.lost),
  never('runs not terminal after the quiet', examination.nonTerminal),
  never('runs that did not complete', examination.notCompleted),
  never('gaps in seq', examination.gaps),
  never('seq given twice', examination.duplicateSeq),
  never('other flaws of logs (epochs, answers, ends)', examination.otherFlaws),
  never('unsafe effects duplicated', examination.duplicatedUnsafe),
  never('keyed effects duplicated', examination.duplicatedKeyed),
  never('effects that the model asked for again', examination.askedTwice),
  never('effects that the log has and the server has not', examination.missingEffects),
];

export function toFindings(
  testBed: TestBed,
  examination: Examination,
  more: Pick<Findings, 'size'> & Partial<Findings>,
): Findings {
  return {
    faults: testBed.faults.counts(),
    times: {},
    details: examination.details,
    ...more,
    counts: {
      runs: examination.runs.length,
      lost: examination.lost,
      'not terminal': examination.nonTerminal,
      'unsafe effects duplicated': examination.duplicatedUnsafe,
      'keyed effects duplicated': examination.duplicatedKeyed,
      gaps: examination.gaps,
      'duplicate seq': examination.duplicateSeq,
      'calls honestly unknown': examination.unknown,
      'effects applied': [...testBed.effects.ledger.countEffects().values()].reduce((total, count) => total + count, 0),
      ...more.counts,
    },
    bars: [...truths(examination), ...(more.bars ?? [])],
  };
}
