import { characterStart, toFailedResult } from '@rondo/contract';
import { pageCharacters } from '@rondo/domain';
import { type ToolInput, type ToolHandler, toSuccess } from '../tool-handler';
import { withinTime } from '../within-time';
import { type Page, PageProblem, pageUrl } from './page-source';

/** The page with the whole text of an article on arXiv, where `url` is the page with its abstract. Not every article has one. */
export function arxivHtml(url: URL): URL | undefined {
  const isAbstract = /^(www\.)?arxiv\.org$/.test(url.hostname) && url.pathname.startsWith('/abs/');
  return isAbstract ? new URL(url.pathname.replace('/abs/', '/html/'), 'https://arxiv.org') : undefined;
}

export const visitWebpage: ToolHandler<ToolInput<'visit_webpage'>> = {
  handle: ({ url }, context) =>
    withinTime(context, async (signal) => {
      try {
        return toResult(
          await readPage(pageUrl(url), (address) => context.services.pages.read(address, context.egress, signal)),
        );
      } catch (error) {
        if (error instanceof PageProblem) return toFailedResult(`${url} cannot be read: ${error.message}.`);
        throw error;
      }
    }),
};

async function readPage(url: URL, read: (url: URL) => Promise<Page>): Promise<Page> {
  const better = arxivHtml(url);
  if (!better) return read(url);
  return read(better).catch((error: unknown) => {
    if (error instanceof PageProblem) return read(url);
    throw error;
  });
}

function toResult({ url, title, markdown, note }: Page) {
  const head = [...(title === '' ? [] : [`# ${title}`]), url, ...(note === undefined ? [] : [`[${note}]`])].join('\n');
  const text = `${head}\n\n${markdown}`;
  if (text.length <= pageCharacters) return toSuccess(text);
  const shown = text.slice(0, characterStart(text, pageCharacters));
  const missing = text.length - shown.length;
  return toSuccess(
    `${shown}\n\n[… ${missing} characters left out; scrape_webpage, if you have it, saves the whole page as a file …]`,
    true,
  );
}
