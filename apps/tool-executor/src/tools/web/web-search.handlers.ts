import { toFailedResult } from '@rondo/contract';
import { clipMiddle } from '../clip-text';
import { ServiceProblem } from '../../services/service-client';
import { type ToolInput, type ToolHandler, toSuccess } from '../tool-handler';
import { withinTime } from '../within-time';
import type { SearchAnswer } from './search-engines';

const mostResults = 50;
const mostImages = 20;

export const webSearch: ToolHandler<ToolInput<'web_search'>> = {
  handle: ({ query, num_results }, context) =>
    withinTime(context, async (signal) => {
      const { search } = context.services;
      if (!search) return toFailedResult('No search engine is configured here.');
      const wanted = Math.min(Math.max(Math.round(num_results), 1), mostResults);
      try {
        const answer = await search.find(query, wanted, signal);
        if (answer.pages.length === 0 && answer.answer === undefined) return toFailedResult('Nothing was found.');
        const { text, truncated } = clipMiddle(describe(answer));
        return toSuccess(text, truncated);
      } catch (error) {
        if (error instanceof ServiceProblem) return toFailedResult(error.message);
        throw error;
      }
    }),
};

function describe({ answer, pages, images }: SearchAnswer): string {
  const found = pages.map(({ title, url, text }, index) => `${index + 1}. ${title}\n${url}\n${text}`.trim());
  const shown = images.slice(0, mostImages).map((url) => `- ${url}`);
  return [
    ...(answer === undefined ? [] : [`Answer: ${answer}`]),
    ...found,
    ...(shown.length === 0 ? [] : [`Images:\n${shown.join('\n')}`]),
  ].join('\n\n');
}
