import { anySignal } from '@rondo/platform';
import { type Parser, Unreadable } from '../../parsing/parser';
import type { EgressGate } from '../../sandboxes';
import { decodeText } from './decode-text';
import { type FetchedPage, fetchPage } from './fetch-page';
import { type Page, PageProblem, type PageSource } from './page-source';

const usualTimeoutMs = 30_000;
const documentLimits = { characters: 1_000_000, pages: 1_000 };

/** The built-in reader: fetches a page under the egress rules of the sandbox, and runs none of its scripts. */
export class PageReader implements PageSource {
  constructor(
    private readonly parser: Pick<Parser, 'parse'>,
    private readonly timeoutMs = usualTimeoutMs,
  ) {}

  async read(url: URL, egress: EgressGate, signal: AbortSignal): Promise<Page> {
    const enough = anySignal([signal, AbortSignal.timeout(this.timeoutMs)]);
    try {
      return await this.readPage(await fetchPage(url, egress, enough.signal), enough.signal);
    } catch (error) {
      signal.throwIfAborted();
      if (enough.signal.aborted) throw new PageProblem(`it did not arrive within ${this.timeoutMs / 1_000} s`);
      throw error instanceof Unreadable ? new PageProblem(error.message) : error;
    } finally {
      enough.release();
    }
  }

  private async readPage({ url, contentType, body }: FetchedPage, signal: AbortSignal): Promise<Page> {
    const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
    if (type === 'application/pdf' || body.subarray(0, 5).toString('latin1') === '%PDF-') {
      const { text } = await this.parser.parse({ kind: 'document', ...documentLimits }, body, signal);
      return { url: url.href, title: '', markdown: text };
    }
    const text = decodeText(body, contentType);
    if (text === undefined || !isText(type)) {
      throw new PageProblem(`it is not text but ${type || 'of an unknown type'} (${body.length} bytes)`);
    }
    if (!isHtml(type, text)) return { url: url.href, title: '', markdown: text };
    const { title, markdown, needsJavaScript } = await this.parser.parse(
      { kind: 'page', url: url.href },
      Buffer.from(text),
      signal,
    );
    const note = needsJavaScript
      ? 'This page builds its content with JavaScript, which is not run here: what follows may be incomplete.'
      : undefined;
    return { url: url.href, title, markdown, note };
  }
}

const isText = (type: string): boolean =>
  type === '' || /^text\/|[/+](json|xml|xhtml\+xml|javascript|yaml)$/.test(type);

const isHtml = (type: string, text: string): boolean =>
  /html/.test(type) || (type === '' && /^\s*<(!doctype html|html)/i.test(text));
