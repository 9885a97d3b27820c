import type { Contender } from '../contender';
import type { Child } from '../machine/child';
import type { ModelOrder, ModelReport } from '../model/exchange';
import type { RondoContender, RondoRequest } from '../rondo-contender';
import type { Scale } from '../scale';

export type ModelProcess = Child<ModelOrder, ModelReport>;

/** A bound of a figure: on the ratio to the bare loop, or on Rondo's own value where nothing can be compared. */
export interface Figure {
  readonly key: string;
  readonly title: string;
  readonly unit: string;
  readonly bounds: 'ratio' | 'value';
  readonly better: 'less' | 'more';
  readonly must?: number;
  readonly goal?: number;
}

/** What one round of a measure found: a number for each figure, and by other names what explains them. */
export type Findings = Readonly<Record<string, number>>;

export interface Surroundings {
  readonly model: ModelProcess;
  readonly scale: Scale;
}

/** Measured for both contenders in turn, in the same rounds. */
export interface Comparison {
  readonly name: string;
  readonly figures: readonly Figure[];
  readonly slice: (contender: Contender, surroundings: Surroundings) => Promise<Findings>;
}

/** Measured for Rondo alone, on a deployment of its own that may be filled or broken. */
export interface Trial {
  readonly name: string;
  readonly figures: readonly Figure[];
  /** What the deployment needs to be. */
  readonly needs: Pick<RondoRequest, 'everywhere' | 'worker'>;
  readonly run: (rondo: RondoContender, surroundings: TrialSurroundings) => Promise<Findings>;
}

export interface TrialSurroundings extends Surroundings {
  /** Whatever starts again while this runs does so on the system's core. */
  readonly onSystemCore: <T>(work: () => Promise<T>) => Promise<T>;
}
