import type { MeasuredSystem } from '../measured-system';
import type { Child } from '../machine/child';
import type { ModelCommand, ModelReport } from '../model/exchange';
import type { RondoSystem, RondoRequest } from '../rondo-system';
import type { Scale } from '../scale';

export type ModelProcess = Child<ModelCommand, ModelReport>;

/** A figure of a measure. Its bounds apply to the ratio to the bare loop, or to Rondo's value where nothing is compared. */
export interface Figure {
  readonly key: string;
  readonly title: string;
  readonly unit: string;
  readonly bounds: 'ratio' | 'value';
  readonly better: 'less' | 'more';
  readonly must?: number;
  readonly goal?: number;
}

/** The result of one round of a measure: a number per figure, and further numbers that explain them. */
export type Findings = Readonly<Record<string, number>>;

export interface MeasureContext {
  readonly model: ModelProcess;
  readonly scale: Scale;
}

/** Measured for Rondo and the bare loop alternately, in the same rounds. */
export interface Comparison {
  readonly name: string;
  readonly figures: readonly Figure[];
  readonly measure: (system: MeasuredSystem, context: MeasureContext) => Promise<Findings>;
}

/** What a measure needs of the deployment. */
export type Needs = Pick<RondoRequest, 'everywhere' | 'preloaded' | 'worker'>;

/** Measured for Rondo alone, on a deployment that only this trial uses and may fill or break. */
export interface Trial {
  readonly name: string;
  readonly figures: readonly Figure[];
  readonly needs: Needs;
  readonly run: (rondo: RondoSystem, context: TrialContext) => Promise<Findings>;
}

/** Computed, without a deployment and without time: the same code gives the same figures. */
export interface Count {
  readonly name: string;
  readonly figures: readonly Figure[];
  readonly run: (scale: Scale) => Promise<Findings>;
}

export interface TrialContext extends MeasureContext {
  /** Processes that restart during `work` do so on the system's core. */
  readonly onSystemCore: <T>(work: () => Promise<T>) => Promise<T>;
}
