import { type ToolResult, toFailedResult } from '@rondo/contract';
import { SandboxError, workspacePath } from '../../sandboxes';
import { type ToolInput, type ToolContext, type ToolHandler } from '../tool-handler';
import { withinTime } from '../within-time';
import { type Page, PageProblem, pageUrl } from './page-source';

const folder = 'scrape';
const mostUrls = 20;
const atOnce = 4;

interface Scraped {
  readonly line: string;
  readonly isSaved: boolean;
}

/** Saves each page as a JSON file. The names follow from the call, so a repetition overwrites its own files. */
export const scrapeWebpage: ToolHandler<ToolInput<'scrape_webpage'>> = {
  handle: async ({ urls }, context) => {
    const given = [...new Set(urls.split(',').map((url) => url.trim()))].filter((url) => url !== '');
    if (given.length === 0) return toFailedResult('There is no URL in urls.');
    if (given.length > mostUrls) return toFailedResult(`At most ${mostUrls} URLs at once; there are ${given.length}.`);

    const scraped: Scraped[] = [];
    const result = await withinTime(context, async (signal) => {
      const timed = { ...context, signal };
      for (let at = 0; at < given.length; at += atOnce) {
        const some = given.slice(at, at + atOnce).map((url, index) => scrape(url, at + index + 1, timed));
        scraped.push(...(await Promise.all(some)));
      }
      return toResult(scraped);
    });
    return scraped.length === 0 || scraped.length === given.length ? result : toResult(scraped, result.error);
  },
};

/** `unfinished` says why pages are missing in the list. */
function toResult(scraped: readonly Scraped[], unfinished?: string): ToolResult {
  const saved = scraped.filter(({ isSaved }) => isSaved).length;
  const lines = [...scraped.map(({ line }) => line), ...(unfinished === undefined ? [] : [unfinished])];
  const output = [`Saved ${saved} of ${scraped.length} pages.`, ...lines].join('\n');
  return saved > 0 ? { success: true, output } : toFailedResult(output);
}

async function scrape(url: string, number: number, context: ToolContext): Promise<Scraped> {
  try {
    const page = await context.services.pages.read(pageUrl(url), context.egress, context.signal);
    return { isSaved: true, line: await save(page, number, context) };
  } catch (error) {
    const isAboutPage = error instanceof PageProblem;
    const isAboutFile = error instanceof SandboxError && error.code !== 'lost' && error.code !== 'unavailable';
    if (!isAboutPage && !isAboutFile) throw error;
    return {
      isSaved: false,
      line: `- ${url}: ${isAboutPage ? error.message : `it could not be saved: ${error.message}`}`,
    };
  }
}

async function save(page: Page, number: number, { sandbox, idempotencyKey }: ToolContext): Promise<string> {
  const { url, title, markdown, note } = page;
  const host = new URL(url).hostname.replace(/[^a-z\d.-]/gi, '_').slice(0, 100);
  const path = `${folder}/${idempotencyKey.slice(-12)}_${number}_${host}.json`;
  const content = `${JSON.stringify({ url, title, text: markdown, ...(note !== undefined && { note }) }, undefined, 2)}\n`;
  await sandbox.files.write(path, content, { mode: 'put' });
  const about = note === undefined ? '' : ` [${note}]`;
  return `- ${workspacePath}/${path} (${Buffer.byteLength(content)} bytes): ${title || url}${about}`;
}
