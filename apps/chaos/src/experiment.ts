import { type Bar, type Findings, never } from './scorecard/findings';
import type { Examination } from './stage/examine';
import type { Scale, Stage, StageRequest } from './stage/stage';

/** One thing that goes wrong, and what must hold all the same. */
export interface Experiment {
  readonly name: string;
  /** What is done, and how it is measured. */
  readonly title: string;
  /** Where it is not the ordinary deployment. */
  readonly deployment?: (scale: Scale) => StageRequest;
  /** The stage is this experiment's alone: whatever it breaks stays broken. */
  run(stage: Stage, scale: Scale): Promise<Findings>;
}

/** What must be true of runs whatever was done to them. */
export const truths = (examination: Examination): Bar[] => [
  never('runs lost', examination.lost),
  never('runs not terminal after the quiet', examination.nonTerminal),
  never('runs that did not complete', examination.notCompleted),
  never('gaps in seq', examination.gaps),
  never('seq given twice', examination.duplicateSeq),
  never('other flaws of logs (epochs, answers, ends)', examination.otherFlaws),
  never('unsafe effects duplicated', examination.duplicatedUnsafe),
  never('keyed effects duplicated', examination.duplicatedKeyed),
  never('effects that the log has and the server has not', examination.missingEffects),
];

export function findingsOf(
  stage: Stage,
  examination: Examination,
  more: Pick<Findings, 'size'> & Partial<Findings>,
): Findings {
  return {
    faults: stage.faults.counts(),
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
      'effects applied': [...stage.effects.ledger.applied().values()].reduce((total, count) => total + count, 0),
      ...more.counts,
    },
    bars: [...truths(examination), ...(more.bars ?? [])],
  };
}
