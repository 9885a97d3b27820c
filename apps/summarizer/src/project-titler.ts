import { type Model, titleRequest, writeTitle } from '@rondo/domain';
import type { DueTitle, ProjectTitles } from '@rondo/persistence';
import { anySignal } from '@rondo/platform';

export interface ProjectTitlerParts {
  readonly titles: Pick<ProjectTitles, 'claim' | 'set'>;
  readonly model: Model;
  /** For every project; the model of the first run if undefined. */
  readonly modelName: string | undefined;
}

/** At a time: a title is worth less than a summary. */
const atOnce = 4;
/** Shorter than a claim of a title. */
const longestMs = 30_000;

/** The one of the demo models that writes titles; the others play their own scripts. */
const demoTitles = 'demo/title';

/** Writes the titles of projects. Runs do not wait for one, and one that fails leaves the placeholder. */
export class ProjectTitler {
  private readonly stopped = new AbortController();

  constructor(private readonly parts: ProjectTitlerParts) {}

  /** Resolves to the number of titles that were due. Rejects only when the database cannot be reached. */
  async writeDue(): Promise<number> {
    const due = await this.parts.titles.claim(atOnce);
    await Promise.all(due.map((title) => this.write(title)));
    return due.length;
  }

  /** Ends the requests in progress. Another process writes these titles later. */
  stop(): void {
    this.stopped.abort();
  }

  private async write({ projectId, input, model }: DueTitle): Promise<void> {
    const request = titleRequest(input, this.parts.modelName ?? toTitleModel(model));
    const ended = anySignal([this.stopped.signal, AbortSignal.timeout(longestMs)]);
    const title = await writeTitle(request, this.parts.model, ended.signal).finally(() => ended.release());
    if (title !== undefined) await this.parts.titles.set(projectId, title);
  }
}

const toTitleModel = (model: string): string => (model.startsWith('demo/') ? demoTitles : model);
