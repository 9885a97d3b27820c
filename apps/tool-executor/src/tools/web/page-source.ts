import type { EgressGate } from '../../sandboxes';

export interface Page {
  readonly url: string;
  readonly title: string;
  readonly markdown: string;
  /** What the reader should know about it. */
  readonly note?: string | undefined;
}

/** Why a page cannot be read, as the end of a sentence about it. The message is for the model. */
export class PageProblem extends Error {
  override readonly name = 'PageProblem';

  constructor(
    message: string,
    /** With which its server answered. */
    readonly status?: number,
  ) {
    super(message);
  }
}

/** Reads a page as Markdown: the built-in reader, or a service. */
export interface PageSource {
  /** Rejects with PageProblem, or with the reason of the signal when that ended it. */
  read(url: URL, egress: EgressGate, signal: AbortSignal): Promise<Page>;
}

/** A URL that a model wrote, perhaps without its protocol. Rejects with PageProblem. */
export function pageUrl(given: string): URL {
  const text = /^[a-z][a-z\d+.-]*:/i.test(given) && !/^[\w.-]+:\d+/.test(given) ? given : `https://${given}`;
  if (!URL.canParse(text)) throw new PageProblem('that is not a URL');
  return new URL(text);
}
